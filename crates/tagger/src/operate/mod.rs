//! The operator's day with a rule table: follow one path, go from deployed rules to new ones without a moment that
//! could deadlock, know what a failed link costs, and whether the switches can carry it.

pub mod budget;
pub mod diff;
pub mod profile;
pub mod trace;
pub mod what_if;

mod cycles;
