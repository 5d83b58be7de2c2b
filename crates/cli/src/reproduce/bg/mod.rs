//! Background mechanisms: chapter 1 of the ECCP thesis.

mod credits;
mod family;
mod goodput;
mod headroom;
mod spreading;

pub use credits::{CHOICES as CREDITS_CHOICES, credits};
pub use family::{CHOICES as FAMILY_CHOICES, family};
pub use goodput::{CHOICES as GOODPUT_CHOICES, goodput};
pub use headroom::{CHOICES as HEADROOM_CHOICES, headroom};
pub use spreading::{CHOICES as SPREADING_CHOICES, blocking, spreading};
