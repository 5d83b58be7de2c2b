//! Emits and parses a PFC frame that pauses class 3 for 65535 quanta.
//!
//! ```text
//!  01:80:c2:00:00:01 | source | 88 08 | 01 01 | class enables | quanta of class 0 ... 7 | padding | FCS
//! ```
use wire::vlan::Pcp;
use wire::{Content, MacAddress, MacControl, Packet, Pfc};

pub(crate) fn main() -> Result<(), wire::Error> {
    let class = Pcp::new(3).expect("classes are 0 to 7");
    let packet = Packet {
        destination: MacAddress::MAC_CONTROL,
        source: MacAddress::new([2, 0, 0, 0, 0, 1]),
        vlan: None,
        content: Content::MacControl(MacControl::Pfc(Pfc::single(class, 0xFFFF))),
    };
    let mut frame = Vec::new();
    packet.emit(&mut frame)?;
    println!("{} bytes: {:02x?} ...", frame.len(), &frame[..20]);
    assert_eq!(Packet::parse(&frame)?, packet);
    Ok(())
}
