//! Operation of a rule table: trace a path, migrate from deployed rules to new rules without an intermediate state that
//! could deadlock, assess link failures, and check switch resources.

pub mod budget;
pub mod diff;
pub mod profile;
pub mod trace;
pub mod what_if;

mod cycles;
