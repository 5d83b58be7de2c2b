//! Exit codes of the command.

use std::process::ExitCode;

/// Exit codes of all commands, ordered by severity: a command with several runs returns the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Done, and every check holds.
    Done,
    /// A check failed: a lossless class lost a frame, a deadlock was not expected, or a reproduced number is out of
    /// tolerance.
    CheckFailed,
    /// Invalid input.
    BadInput,
    /// The machine failed: disk, memory.
    Machine,
    /// Interrupted, with a valid partial result.
    Interrupted,
}

impl Exit {
    /// Returns the numeric code.
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
