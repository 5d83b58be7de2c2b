//! Background mechanisms: chapter 1 of the ECCP thesis.

mod goodput;
mod headroom;
mod spreading;

pub use goodput::{CHOICES as GOODPUT_CHOICES, goodput};
pub use headroom::{CHOICES as HEADROOM_CHOICES, headroom};
pub use spreading::{CHOICES as SPREADING_CHOICES, blocking, spreading};
