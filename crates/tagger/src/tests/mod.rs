//! Everything together: the paper's figures, and random fabrics under a small checker.

mod checker;
mod fewest;
mod golden;
mod random;
