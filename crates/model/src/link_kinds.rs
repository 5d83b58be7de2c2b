//! Kinds of links: parameters and transmission times that several links share.

use std::collections::BTreeMap;
use std::sync::Arc;
use units::{PREAMBLE_BYTES, Rate, Time, WIRE_OVERHEAD_BYTES};

/// Parameters of all links of one kind.
#[derive(Debug)]
pub(crate) struct LinkKind {
    pub rate: Rate,
    /// Picoseconds per byte, or 0 if the rate does not divide 8 Tbps.
    ps_per_byte: u64,
    /// Wire time of preamble and gap. Only valid if `ps_per_byte` is not 0.
    fixed_wire_time: Time,
    /// Propagation delay plus time of the preamble. Only valid if `ps_per_byte` is not 0.
    fixed_latency: Time,
    pub delay: Time,
    pub loss: f64,
    /// Probability that a MAC control frame is lost, in addition to `loss`.
    pub control_loss: f64,
    /// Natural logarithm of the probability that a byte has no bit error: 8 * ln(1 - bit error rate).
    pub log_byte_survival: f64,
}

/// Kinds of links of a fabric. They are shared, because hundreds of thousands of ports have few distinct kinds.
#[derive(Debug)]
pub(crate) struct LinkKinds(BTreeMap<[u64; 4], Arc<LinkKind>>);

/// Returns the parameters that define a kind.
fn key(link: &fabric::Link) -> [u64; 4] {
    [link.rate.as_bps(), link.delay.as_ps(), link.loss.to_bits(), link.bit_error_rate.to_bits()]
}

impl LinkKinds {
    /// Returns the kinds of `links`, which lose MAC control frames with the probability `control_loss`.
    pub fn new(links: &[fabric::Link], control_loss: f64) -> LinkKinds {
        let mut kinds = BTreeMap::new();
        for link in links {
            kinds.entry(key(link)).or_insert_with(|| Arc::new(LinkKind::new(link, control_loss)));
        }
        LinkKinds(kinds)
    }

    /// Returns the kind of `link`, which must belong to the fabric.
    pub fn of(&self, link: &fabric::Link) -> &Arc<LinkKind> {
        &self.0[&key(link)]
    }
}

impl LinkKind {
    fn new(link: &fabric::Link, control_loss: f64) -> LinkKind {
        let bps = link.rate.as_bps();
        // The serialisation delay of a byte is 8e12 / bps picoseconds.
        let per_byte = 8_000_000_000_000u64;
        let ps_per_byte = if per_byte.is_multiple_of(bps) { per_byte / bps } else { 0 };
        LinkKind {
            rate: link.rate,
            ps_per_byte,
            fixed_wire_time: Time::from_ps(WIRE_OVERHEAD_BYTES * ps_per_byte),
            fixed_latency: Time::from_ps(PREAMBLE_BYTES * ps_per_byte) + link.delay,
            delay: link.delay,
            loss: link.loss,
            control_loss,
            log_byte_survival: 8.0 * libm::log1p(-link.bit_error_rate),
        }
    }

    /// Returns the times from the start of a frame of `size_bytes` until the wire is free again (with preamble and
    /// gap), and until its last bit has arrived. The gap does not delay the arrival.
    #[inline]
    pub fn wire_time(&self, size_bytes: u16) -> (Time, Time) {
        let bytes = u64::from(size_bytes);
        if self.ps_per_byte != 0 {
            let frame = Time::from_ps(bytes * self.ps_per_byte);
            (frame + self.fixed_wire_time, frame + self.fixed_latency)
        } else {
            let arrives = self.rate.serialise(bytes + PREAMBLE_BYTES) + self.delay;
            (self.rate.serialise(bytes + WIRE_OVERHEAD_BYTES), arrives)
        }
    }

    /// Returns the time from the start of a frame of `size_bytes` until its last bit has arrived.
    pub fn latency(&self, size_bytes: u16) -> Time {
        self.wire_time(size_bytes).1
    }

    /// Returns picoseconds per byte, wire time of preamble and gap, and delay plus preamble time. The latter two are
    /// valid only if the first is not 0.
    pub fn per_byte_ps(&self) -> (u64, Time, Time) {
        (self.ps_per_byte, self.fixed_wire_time, self.fixed_latency)
    }

    /// Returns the minimum time between the start of any frame and its arrival.
    pub fn lookahead(&self) -> Time {
        self.latency(protocols::frame::MIN_FRAME_BYTES)
    }
}
