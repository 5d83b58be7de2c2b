//! The configuration of one switch.

use super::model::Config;
use fabric::sonic::DynamicHeadroom;
use serde_json::Value;
use units::{Rate, Time};

/// Output for one switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Tables to load over those of the platform.
    pub config: Value,
    /// JSON patch (RFC 6902) to apply first. It replaces overlapping ranges of the platform by one entry per port and
    /// number, with equal fields.
    pub patch: Option<Value>,
    /// All tables of the platform's file, if it is given, with the fragment.
    pub merged: Option<Config>,
    /// Notes about this switch.
    pub notes: Vec<String>,
    /// Computed and published headroom, by kind of port.
    pub published: Vec<Published>,
    /// DSCPs that are lossless at a port of the platform and lossy with the fragment, a bit each.
    pub lost_dscps: u64,
}

/// Computed and published headroom (`xoff`) of a kind of port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Published {
    /// Rate of the port.
    pub rate: Rate,
    /// One-way delay of its cable.
    pub delay: Time,
    /// Computed headroom in bytes.
    pub computed: u64,
    /// Published headroom in bytes.
    pub published: u64,
    /// Headroom of the fragment in bytes: the larger of both, or the computed one with
    /// [`PlatformBuffers::below`](super::PlatformBuffers::below).
    pub written: u64,
    /// Source of the published headroom: a line of the file, a profile, or the inputs of the dynamic buffer model.
    pub location: String,
    /// Profile of the dynamic buffer model with its terms, if it is the source.
    pub dynamic: Option<DynamicHeadroom>,
}
