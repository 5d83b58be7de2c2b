//! Tests of runs, comparisons and sweeps. One binary: each further one is linked anew.

mod common;
mod conclusions;
mod connections;
mod derived;
mod flow_ends;
mod holds;
mod incomplete;
mod keys;
mod library;
mod measurement;
mod ranks;
