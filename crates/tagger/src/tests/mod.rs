//! Integration: the paper's figures, and random fabrics under a small checker.

mod checker;
pub(crate) mod golden;
mod literal;
mod minimum_tags;
mod random;
