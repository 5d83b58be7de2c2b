//! Coverage of a statistic.

use std::fmt;
use std::iter::Sum;

/// Number of completed flows that a statistic covers, out of the started flows. The unfinished flows are mostly slow
/// ones, so every front end prints the coverage beside the statistic. Also used for requests, and for iterations of
/// collectives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Completed flows, requests or iterations, which the statistic covers.
    pub completed: u64,
    /// Started flows, requests or iterations. Flows of unlimited size do not count, because they cannot complete.
    pub started: u64,
}

impl Coverage {
    /// Returns whether all started flows, requests or iterations completed.
    pub fn is_whole(self) -> bool {
        self.completed >= self.started
    }

    /// Returns the number of started flows, requests or iterations that did not complete.
    pub fn unfinished(self) -> u64 {
        self.started.saturating_sub(self.completed)
    }

    /// Returns the completed share, 0..=1; 1 if no flow, request or iteration started.
    pub fn share(self) -> f64 {
        if self.started == 0 { 1.0 } else { self.completed as f64 / self.started as f64 }
    }
}

impl Sum for Coverage {
    fn sum<I: Iterator<Item = Coverage>>(all: I) -> Coverage {
        all.fold(Coverage::default(), |sum, one| Coverage {
            completed: sum.completed.saturating_add(one.completed),
            started: sum.started.saturating_add(one.started),
        })
    }
}

/// Writes, for example, `227 of 247`.
impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.completed, self.started)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_up_and_detects_incomplete_counts() {
        let one = Coverage { completed: 227, started: 247 };
        let both: Coverage = [one, Coverage { completed: 3, started: 3 }].into_iter().sum();
        assert_eq!((both.to_string(), both.unfinished(), both.is_whole()), ("230 of 250".to_owned(), 20, false));
        assert!(Coverage::default().is_whole() && Coverage::default().share() == 1.0);
    }
}
