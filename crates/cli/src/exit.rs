//! How the command ends.

use std::process::ExitCode;

/// Exit codes, the same for every command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Done, and every check holds.
    Done,
    /// A check failed: a lossless class lost a frame, a deadlock that was not expected, a reproduced
    /// number out of tolerance.
    CheckFailed,
    /// The input is wrong.
    BadInput,
    /// The machine failed: disk, memory.
    Machine,
    /// Interrupted, with a valid partial result.
    Interrupted,
}

impl Exit {
    /// What the shell sees.
    pub const fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::CheckFailed => 1,
            Exit::BadInput => 2,
            Exit::Machine => 3,
            Exit::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}
