//! Errors of experiments.

use lab::LabError;

/// Error that prevents an experiment from reaching its checks.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A scenario is invalid or describes no valid network.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// No experiment or paper has this name.
    #[error("there is no experiment `{name}`")]
    Unknown {
        /// Name in the request.
        name: String,
        /// Available names, as a sentence.
        known: String,
    },
    /// Input that the experiment computes is inconsistent: an error in this crate.
    #[error("{message}")]
    Bench {
        /// Error message.
        message: String,
        /// Assumption that is violated.
        granted: String,
    },
}

impl Failure {
    /// Creates the error for inconsistent computed input; `granted` is the violated assumption.
    pub fn input(message: impl Into<String>, granted: impl Into<String>) -> Failure {
        Failure::Bench { message: message.into(), granted: granted.into() }
    }
}
