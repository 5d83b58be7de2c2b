//! Rules as TCAM entries: patterns and masks over bitmaps of ports (Tagger, Fig. 9).

use crate::rules::{LOSSY_TAG, Rule, Tag};
use fabric::tags::PortSet;

/// Ternary field: a bit pattern and a mask, most significant bit first. Bits with mask 0 are ignored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    /// Values of the bits to compare.
    pub pattern: String,
    /// Mask of the bits to compare.
    pub mask: String,
}

/// One TCAM entry. The first matching entry of a list applies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TcamEntry {
    /// Tag of the arriving packet, in binary.
    pub tag: Field,
    /// Ingress port, as a bitmap with one bit set.
    pub in_port: Field,
    /// Egress port, as a bitmap with one bit set.
    pub out_port: Field,
    /// New tag, in binary.
    pub new_tag: String,
}

/// Error: a switch has more ports than the port bitmap of its TCAM.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("port {port} does not fit the TCAM's bitmap of {bitmap_ports} ports")]
pub struct BitmapTooSmall {
    /// Port number that does not fit into the bitmap.
    pub port: u16,
    /// Width of the bitmap.
    pub bitmap_ports: u16,
}

fn binary(value: Tag, bits: usize) -> String {
    format!("{value:0bits$b}")
}

/// A single port is matched by its own bit. A set of ports is matched by zeros: all bits outside the set must be 0.
fn field(set: &PortSet, bitmap_ports: u16) -> Result<Field, BitmapTooSmall> {
    if let Some(port) = set.last().filter(|&port| port >= bitmap_ports) {
        return Err(BitmapTooSmall { port, bitmap_ports });
    }
    let bits =
        |bit: &dyn Fn(u16) -> bool| (0..bitmap_ports).rev().map(|port| if bit(port) { '1' } else { '0' }).collect();
    Ok(if set.len() == 1 {
        Field { pattern: bits(&|port| set.contains(port)), mask: bits(&|_| true) }
    } else {
        Field { pattern: bits(&|_| false), mask: bits(&|port| !set.contains(port)) }
    })
}

/// Returns the entries of a switch: its rules, and a last entry that makes all other packets lossy.
///
/// # Errors
/// [`BitmapTooSmall`] if a rule names a port beyond `bitmap_ports`.
pub fn entries(rules: &[Rule], bitmap_ports: u16, tag_bits: usize) -> Result<Vec<TcamEntry>, BitmapTooSmall> {
    let mut entries = Vec::with_capacity(rules.len() + 1);
    for rule in rules {
        entries.push(TcamEntry {
            tag: Field { pattern: binary(rule.tag, tag_bits), mask: "1".repeat(tag_bits) },
            in_port: field(&rule.in_ports, bitmap_ports)?,
            out_port: field(&rule.out_ports, bitmap_ports)?,
            new_tag: binary(rule.new_tag, tag_bits),
        });
    }
    let any = |bits: usize| Field { pattern: "0".repeat(bits), mask: "0".repeat(bits) };
    let ports = usize::from(bitmap_ports);
    let (in_port, out_port) = (any(ports), any(ports));
    entries.push(TcamEntry { tag: any(tag_bits), in_port, out_port, new_tag: binary(LOSSY_TAG, tag_bits) });
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compress::{Compression, Matrix};

    #[test]
    fn fig9_three_rules_become_one_entry() {
        let rule = |in_port: u16| Rule {
            tag: 1,
            in_ports: [in_port].into_iter().collect(),
            out_ports: [2].into_iter().collect(),
            new_tag: 2,
        };
        let rules = Matrix::from_rules(4, &[rule(0), rule(1), rule(3)]).rules(Compression::InPorts);
        let entries = entries(&rules, 4, 4).unwrap();
        let field = |pattern: &str, mask: &str| Field { pattern: pattern.into(), mask: mask.into() };
        assert_eq!(entries.len(), 2);
        assert_eq!(entries[0].tag, field("0001", "1111"));
        assert_eq!(entries[0].in_port, field("0000", "0100"));
        assert_eq!(entries[0].out_port, field("0100", "1111"));
        assert_eq!(entries[0].new_tag, "0010");
        // The last entry makes all other packets lossy.
        assert_eq!(entries[1].in_port, field("0000", "0000"));
        assert_eq!((entries[1].tag.clone(), entries[1].new_tag.as_str()), (field("0000", "0000"), "0000"));
    }

    #[test]
    fn a_port_beyond_the_bitmap_is_refused() {
        let rule =
            Rule { tag: 1, in_ports: [0].into_iter().collect(), out_ports: [4].into_iter().collect(), new_tag: 1 };
        assert_eq!(entries(&[rule], 4, 4), Err(BitmapTooSmall { port: 4, bitmap_ports: 4 }));
    }
}
