//! JSON in which no object has a key twice.

pub(super) use fabric::files::parse_json as parse;
