//! Why an experiment could not be made.

use lab::LabError;

/// Everything that keeps an experiment from its checks.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A scenario of it is wrong, or makes no network.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// No experiment or paper has the name.
    #[error("there is no experiment `{name}`")]
    Unknown {
        /// As asked for.
        name: String,
        /// What there is, as a sentence.
        known: String,
    },
    /// What it makes beside its scenarios does not fit together: a mistake of ours.
    #[error("{message}")]
    Bench {
        /// What.
        message: String,
        /// What was taken for granted.
        granted: String,
    },
}

impl Failure {
    /// What an experiment makes beside its scenarios does not fit, although `granted`.
    pub fn input(message: impl Into<String>, granted: impl Into<String>) -> Failure {
        Failure::Bench { message: message.into(), granted: granted.into() }
    }
}
