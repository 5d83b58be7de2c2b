//! Invariants, watched from outside the model
