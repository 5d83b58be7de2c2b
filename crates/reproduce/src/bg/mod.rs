//! Background mechanisms: chapter 1 of the ECCP thesis.

mod credits;
mod experiments;
mod family;
mod goodput;
mod headroom;
mod spreading;

use credits::{CHOICES as CREDITS_CHOICES, credits};
pub use experiments::EXPERIMENTS;
use family::{CHOICES as FAMILY_CHOICES, family};
use goodput::{CHOICES as GOODPUT_CHOICES, goodput};
use headroom::{CHOICES as HEADROOM_CHOICES, headroom};
use spreading::{CHOICES as SPREADING_CHOICES, blocking, spreading};
