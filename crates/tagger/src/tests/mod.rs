//! Integration: the paper's figures, and random fabrics under a small checker.

mod checker;
mod fewest;
pub(crate) mod golden;
mod literal;
mod random;
