//! Tests of runs, comparisons and sweeps, in one binary, because each test binary is linked separately.

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
