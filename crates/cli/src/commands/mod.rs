//! One module per command; each takes the command's arguments and returns the exit code.

pub mod compare;
pub mod fabric;
pub mod fluid;
pub mod import;
mod manual;
pub mod mechanisms;
pub mod new;
pub mod report;
pub mod reproduce;
mod reproduce_mutate;
mod reproduce_search;
pub mod run;
pub mod schedule;
pub mod shell;
pub mod sweep;
pub mod table;
pub mod tagger;
pub mod trim;
pub mod why;
