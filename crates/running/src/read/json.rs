//! JSON parser that refuses duplicate keys.

pub(super) use fabric::files::parse_json as parse;
