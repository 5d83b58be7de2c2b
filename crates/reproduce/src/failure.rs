//! Errors of experiments.

use lab::LabError;

/// Error that ends an experiment before its checks.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A scenario is invalid or does not describe a valid network.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// No experiment or paper has the requested name.
    #[error("there is no experiment `{name}`")]
    Unknown {
        /// Requested name.
        name: String,
        /// Available names, as a sentence.
        known: String,
    },
    /// An input value that the experiment computes violates an assumption, which is an error in this crate.
    #[error("{message}")]
    Bench {
        /// Error message.
        message: String,
        /// Assumption that the value violates.
        granted: String,
    },
}

impl Failure {
    /// Creates the error for an inconsistent computed value; `granted` is the violated assumption.
    pub fn input(message: impl Into<String>, granted: impl Into<String>) -> Failure {
        Failure::Bench { message: message.into(), granted: granted.into() }
    }
}
