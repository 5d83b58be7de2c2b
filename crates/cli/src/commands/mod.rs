//! One file a command: from arguments to an exit.

pub mod run;
