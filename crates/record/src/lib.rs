//! Time series, flows and summaries on disk
