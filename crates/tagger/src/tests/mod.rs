//! Integration tests: the paper's figures, and random fabrics verified by an independent checker.

mod checker;
pub(crate) mod golden;
mod literal;
mod minimum_tags;
mod random;
