//! Experiments on background mechanisms: chapter 1 of the ECCP thesis.

mod controls;
mod credits;
mod experiments;
mod family;
mod goodput;
mod headroom;
mod spreading;
mod vegas;

use controls::{RTT_CHOICES, SAMPLES_CHOICES, round_trip, samples};
use credits::{CHOICES as CREDITS_CHOICES, credits};
pub use experiments::EXPERIMENTS;
use family::{CHOICES as FAMILY_CHOICES, family};
use goodput::{CHOICES as GOODPUT_CHOICES, goodput};
use headroom::{CHOICES as HEADROOM_CHOICES, headroom};
use spreading::{CHOICES as SPREADING_CHOICES, blocking, spreading};
use vegas::{CHOICES as VEGAS_CHOICES, vegas};
