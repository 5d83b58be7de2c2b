//! Everything together: the paper's figures, and random fabrics under a small checker.

mod checker;
mod golden;
mod random;
