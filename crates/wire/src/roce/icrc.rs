//! Invariant CRC, ICRC (InfiniBand volume 1, clause 7.8.1; annex A17 for IPv4): a CRC-32 from the IPv4 header to the
//! end of the padding. Fields that may change on the path count as all ones, so that routers need not recompute it.

use crate::crc::Crc32;

/// Returns the ICRC of an IPv4 header (20 bytes plus options), a UDP header, and `transport`: base transport header,
/// payload and padding. On the wire, its least significant byte is first.
///
/// The fields that count as ones: type of service, time to live, both checksums, and the congestion byte of the base
/// transport header. Eight bytes of ones replace the local route header, which RoCEv2 does not have.
pub fn icrc(ipv4_header: &[u8], udp_header: [u8; 8], transport: &[u8]) -> u32 {
    let mut header = ipv4_header.to_vec();
    set_ones(&mut header, [1, 8, 10, 11]);
    let mut udp_header = udp_header;
    set_ones(&mut udp_header, [6, 7]);
    // The congestion byte contains FECN, BECN and six reserved bits.
    let (before, rest) = transport.split_at(transport.len().min(4));
    let after = rest.get(1..).unwrap_or_default();
    Crc32::new()
        .update(&[0xFF; 8])
        .update(&header)
        .update(&udp_header)
        .update(before)
        .update(&[0xFF])
        .update(after)
        .finish()
}

fn set_ones<const N: usize>(bytes: &mut [u8], at: [usize; N]) {
    for index in at {
        if let Some(byte) = bytes.get_mut(index) {
            *byte = 0xFF;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::hex;

    fn of_packet(packet: &[u8]) -> [u8; 4] {
        icrc(&packet[..20], packet[20..28].try_into().unwrap(), &packet[28..]).to_le_bytes()
    }

    /// Two packets with known ICRC, from scapy's tests of RoCE: a CNP captured from a ConnectX-4 Lx adapter, and an
    /// unreliable SEND with two bytes of padding and a UDP checksum.
    #[test]
    fn known_packets() {
        let cnp = hex("45c2 003c 718c 4000 4011 9161 0a001101 0a001201 0000 12b7 0028 0000
             81 00 ffff 40 000118 00 000000 00000000000000000000000000000000");
        assert_eq!(of_packet(&cnp), [0x82, 0xFD, 0x00, 0x2A]);
        let send = hex("4501 0040 0478 4000 4011 b4d5 c0a80007 c0a80007 c000 12b7 002c aca2
             24 60 ffff 00 0000d3 00 cf1710 4630818be28935d90e9a95505401be885e500000");
        assert_eq!(of_packet(&send), [0x78, 0xF3, 0x53, 0xF3]);
    }

    /// Changes of the fields that routers and switches may rewrite leave the ICRC unchanged; a change of any other
    /// byte changes it.
    #[test]
    fn exactly_the_variant_fields_are_masked() {
        let packet = hex("4502 0030 0000 4000 4011 0000 0a000001 0a000002 c000 12b7 001c 0000
             11 00 ffff 00 0000d2 00 000007 1f000001");
        let reference = of_packet(&packet);
        let unchanged: Vec<usize> = (0..packet.len())
            .filter(|&byte| {
                let mut rewritten = packet.clone();
                rewritten[byte] ^= 0x5A;
                of_packet(&rewritten) == reference
            })
            .collect();
        let (ipv4, udp, bth) = (0, 20, 28);
        assert_eq!(unchanged, [ipv4 + 1, ipv4 + 8, ipv4 + 10, ipv4 + 11, udp + 6, udp + 7, bth + 4]);
    }

    #[test]
    fn short_input_is_no_panic() {
        let _ = icrc(&[], [0; 8], &[]);
        let _ = icrc(&[1, 2], [0; 8], &[1, 2, 3, 4]);
    }
}
