//! Exit codes of the program.

use std::process::ExitCode;

/// Exit codes of all commands, ordered by severity: a command with several runs returns the most severe code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// The command completed, and every check holds.
    Done,
    /// A check failed: a frame of a lossless class was lost, an unexpected deadlock occurred, or a reproduced number is
    /// out of tolerance.
    CheckFailed,
    /// Invalid input.
    BadInput,
    /// Failed system resource: disk or memory.
    Machine,
    /// Interrupted; a valid partial result exists.
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
