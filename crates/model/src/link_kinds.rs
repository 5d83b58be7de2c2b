//! What links of a kind have in common: how long frames take.

use std::collections::BTreeMap;
use std::sync::Arc;
use units::{PREAMBLE_BYTES, Rate, Time, WIRE_OVERHEAD_BYTES};

/// What the ends of all links of one kind have in common.
#[derive(Debug)]
pub(crate) struct LinkKind {
    pub rate: Rate,
    /// Picoseconds a byte, or 0 where the rate does not divide 8 Tbps.
    ps_per_byte: u64,
    /// Where it does, what each frame's wire is busy with besides the frame: preamble and gap.
    overhead: Time,
    /// Where it does, what each frame takes to arrive besides its own bytes: preamble and propagation.
    lead: Time,
    pub delay: Time,
    pub loss: f64,
    /// ln(1 - bit error rate) * 8, at most 0.
    pub log_byte_survival: f64,
}

/// The kinds of links of a fabric: a handful, for hundreds of thousands of ports.
#[derive(Debug)]
pub(crate) struct LinkKinds(BTreeMap<[u64; 4], Arc<LinkKind>>);

/// What makes a kind of link.
fn key(link: &fabric::Link) -> [u64; 4] {
    [link.rate.as_bps(), link.delay.as_ps(), link.loss.to_bits(), link.bit_error_rate.to_bits()]
}

impl LinkKinds {
    pub fn new(links: &[fabric::Link]) -> LinkKinds {
        let mut kinds = BTreeMap::new();
        for link in links {
            kinds.entry(key(link)).or_insert_with(|| Arc::new(LinkKind::new(link)));
        }
        LinkKinds(kinds)
    }

    /// The kind of `link`, which is one of the fabric.
    pub fn of(&self, link: &fabric::Link) -> &Arc<LinkKind> {
        &self.0[&key(link)]
    }
}

impl LinkKind {
    fn new(link: &fabric::Link) -> LinkKind {
        let bps = link.rate.as_bps();
        let per_byte = 8_000_000_000_000u64;
        let ps_per_byte = if per_byte.is_multiple_of(bps) { per_byte / bps } else { 0 };
        LinkKind {
            rate: link.rate,
            ps_per_byte,
            overhead: Time::from_ps(WIRE_OVERHEAD_BYTES * ps_per_byte),
            lead: Time::from_ps(PREAMBLE_BYTES * ps_per_byte) + link.delay,
            delay: link.delay,
            loss: link.loss,
            log_byte_survival: 8.0 * libm::log1p(-link.bit_error_rate),
        }
    }

    /// From the start of a frame of `size_bytes` until the wire is free again, preamble and gap included, and until
    /// its last bit has come to the other end. The gap is nothing to wait for there.
    #[inline]
    pub fn occupy(&self, size_bytes: u16) -> (Time, Time) {
        let bytes = u64::from(size_bytes);
        if self.ps_per_byte != 0 {
            let frame = Time::from_ps(bytes * self.ps_per_byte);
            (frame + self.overhead, frame + self.lead)
        } else {
            let arrives = self.rate.serialise(bytes + PREAMBLE_BYTES) + self.delay;
            (self.rate.serialise(bytes + WIRE_OVERHEAD_BYTES), arrives)
        }
    }

    /// From the start of a frame of `size_bytes` until its last bit has come to the other end.
    pub fn flight(&self, size_bytes: u16) -> Time {
        self.occupy(size_bytes).1
    }

    /// Picoseconds a byte, those of preamble and gap, and from a frame's own time to its arrival; all 0 where the
    /// first is no whole number.
    pub fn per_byte_ps(&self) -> (u64, Time, Time) {
        (self.ps_per_byte, self.overhead, self.lead)
    }

    /// No frame sent at `t` arrives before `t` plus this.
    pub fn lookahead(&self) -> Time {
        self.flight(protocols::frame::MIN_FRAME_BYTES)
    }
}
