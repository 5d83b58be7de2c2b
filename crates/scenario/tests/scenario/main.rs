//! Tests of scenarios, in one binary, because each test binary is linked separately.

mod bounce;
mod bounds;
mod defaults;
mod ends;
mod errors;
mod examples;
mod former_names;
mod keys;
mod pipelines;
mod reference;
mod timing;
mod trim;
mod validity_warnings;
