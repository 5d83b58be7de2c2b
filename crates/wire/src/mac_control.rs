//! MAC control frames (IEEE 802.3 clause 31), whose type is given by an opcode.

use crate::credit::Credit;
use crate::error::Error;
use crate::flow_control::FlowControl;
use crate::pause::Pause;
use crate::pfc::Pfc;
use crate::reader::Reader;
use std::fmt;
use units::{Rate, Time};

/// Bit times of one pause quantum (802.3 annex 31B.2).
pub const QUANTUM_BITS: u64 = 512;

/// Returns the duration of `quanta` units of 512 bit times on a link of `rate`.
pub fn pause_duration(quanta: u16, rate: Rate) -> Time {
    rate.serialise(u64::from(quanta) * (QUANTUM_BITS / 8))
}

/// Contents of a MAC control frame, after the EtherType 0x8808.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MacControl {
    /// PAUSE: pause a whole link (annex 31B).
    Pause(Pause),
    /// PFC: pause single priorities (annex 31D, 802.1Q clause 36).
    Pfc(Pfc),
    /// XOFF or XON: limit or resume one flow (annex 31C, see [`crate::flow_control`]).
    Flow(FlowControl),
    /// Credit: total bytes sent and permitted in a class, in a format of this project.
    Credit(Credit),
}

impl MacControl {
    /// Parses opcode and parameters. Returns the contents, and the padding after them.
    ///
    /// # Errors
    /// If the bytes end early or the opcode is unsupported.
    pub fn parse(bytes: &[u8]) -> Result<(MacControl, &[u8]), Error> {
        let opcode = Reader::new(bytes).u16("MAC control opcode")?;
        match opcode {
            Pause::OPCODE => Pause::parse(bytes).map(|(pause, rest)| (MacControl::Pause(pause), rest)),
            Pfc::OPCODE => Pfc::parse(bytes).map(|(pfc, rest)| (MacControl::Pfc(pfc), rest)),
            FlowControl::OPCODE => FlowControl::parse(bytes).map(|(flow, rest)| (MacControl::Flow(flow), rest)),
            Credit::OPCODE => Credit::parse(bytes).map(|(credit, rest)| (MacControl::Credit(credit), rest)),
            _ => Err(Error::Value {
                field: "MAC control opcode",
                offset_bytes: 0,
                found: opcode.into(),
                expected: "0x0001 (PAUSE), 0x0101 (PFC), 0xcbfc (credit) or 0xfffe (EXTENSION)",
            }),
        }
    }

    /// Appends opcode and parameters, without padding, which [`crate::ethernet::finish_frame`] adds.
    pub fn emit(&self, out: &mut Vec<u8>) {
        match self {
            MacControl::Pause(pause) => pause.emit(out),
            MacControl::Pfc(pfc) => pfc.emit(out),
            MacControl::Flow(flow) => flow.emit(out),
            MacControl::Credit(credit) => credit.emit(out),
        }
    }
}

impl fmt::Display for MacControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MacControl::Pause(pause) => pause.fmt(f),
            MacControl::Pfc(pfc) => pfc.fmt(f),
            MacControl::Flow(flow) => flow.fmt(f),
            MacControl::Credit(credit) => credit.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::hex;

    #[test]
    fn the_opcode_decides() {
        let (pause, _) = MacControl::parse(&hex("0001 0064")).unwrap();
        assert_eq!(pause, MacControl::Pause(Pause { quanta: 100 }));
        let (pfc, _) = MacControl::parse(&hex("0101 0000 0000000000000000 0000000000000000")).unwrap();
        assert_eq!(pfc, MacControl::Pfc(Pfc::default()));
        let error = MacControl::parse(&hex("0002 0064")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "byte 0: MAC control opcode is 0x2, expected 0x0001 (PAUSE), 0x0101 (PFC), 0xcbfc (credit) or \
             0xfffe (EXTENSION)"
        );
    }

    /// Longest pause: 65535 quanta of 512 bit times at 100 Gbps are 33,553,920 bits, 335.5392 us.
    #[test]
    fn the_longest_pause() {
        assert_eq!(pause_duration(0xFFFF, Rate::from_gbps(100)), Time::from_ps(335_539_200));
        assert_eq!(pause_duration(1, Rate::from_gbps(1)), Time::from_ns(512));
        assert_eq!(pause_duration(0, Rate::from_gbps(1)), Time::ZERO);
    }
}
