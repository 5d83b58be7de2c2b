use super::*;

fn standard(gbps: u64, metres: u64, mtu_bytes: u64) -> Headroom {
    let conditions = Conditions::new(mtu_bytes, Reaction::Standard, 1);
    Headroom::of(Rate::from_gbps(gbps), Time::from_ns(5 * metres), &conditions)
}

/// Values computed by hand. The cable delay is 5 ns/m, so that both directions hold (metres * Gbps * 1.25) bytes; the
/// reaction is the number of quanta in the standard, times 64 bytes. For 10 Gbps, 5 m and an MTU of 1500 bytes, with
/// the port's own frame that delays the pause:
///
/// ```text
///   wire = 62.5 -> 63 + 84 + 4288 + 1520 = 5955
///   stored = 5955 x 1500 / 1520 = 5876.6 -> 5877, and two whole frames: 8877
/// ```
// [PFC10]
#[test]
fn headroom_is_what_a_hand_computes() {
    // Columns: Gbps, metres, MTU, bytes on the cable, bytes of the reaction time, headroom in bytes.
    let cases = [
        (10, 5, 1500, 63, 4288, 8877),
        (10, 5, 9100, 63, 4288, 31726),
        (10, 300, 1500, 3750, 4288, 12516),
        (10, 300, 9100, 3750, 4288, 35405),
        (10, 10000, 1500, 125000, 4288, 132170),
        (10, 10000, 9100, 125000, 4288, 156389),
        (25, 5, 1500, 157, 5120, 9791),
        (25, 5, 9100, 157, 5120, 32650),
        (25, 300, 1500, 9375, 5120, 18888),
        (25, 300, 9100, 9375, 5120, 41848),
        (25, 10000, 1500, 312500, 5120, 318024),
        (25, 10000, 9100, 312500, 5120, 344308),
        (40, 5, 1500, 250, 7552, 12283),
        (40, 5, 9100, 250, 7552, 35169),
        (40, 300, 1500, 15000, 7552, 26839),
        (40, 300, 9100, 15000, 7552, 49887),
        (40, 10000, 1500, 500000, 7552, 505457),
        (40, 10000, 9100, 500000, 7552, 533823),
        (50, 5, 1500, 313, 9408, 14176),
        (50, 5, 9100, 313, 9408, 37084),
        (50, 300, 1500, 18750, 9408, 32371),
        (50, 300, 9100, 18750, 9408, 55481),
        (50, 10000, 1500, 625000, 9408, 630644),
        (50, 10000, 9100, 625000, 9408, 660401),
        (100, 5, 1500, 625, 25216, 30084),
        (100, 5, 9100, 625, 25216, 53169),
        (100, 300, 1500, 37500, 25216, 66474),
        (100, 300, 9100, 37500, 25216, 89963),
        (100, 10000, 1500, 1250000, 25216, 1263020),
        (100, 10000, 9100, 1250000, 25216, 1299804),
        (200, 5, 1500, 1250, 28992, 34427),
        (200, 5, 9100, 1250, 28992, 57560),
        (200, 300, 1500, 75000, 28992, 107207),
        (200, 300, 9100, 75000, 28992, 131148),
        (200, 10000, 1500, 2500000, 28992, 2500299),
        (200, 10000, 9100, 2500000, 28992, 2550830),
        (400, 5, 1500, 2500, 57920, 64208),
        (400, 5, 9100, 2500, 57920, 87672),
        (400, 300, 1500, 150000, 57920, 209768),
        (400, 300, 9100, 150000, 57920, 234848),
        (400, 10000, 1500, 5000000, 57920, 4995952),
        (400, 10000, 9100, 5000000, 57920, 5074212),
        (800, 5, 1500, 5000, 57920, 66675),
        (800, 5, 9100, 5000, 57920, 90166),
        (800, 300, 1500, 300000, 57920, 357794),
        (800, 300, 9100, 300000, 57920, 384519),
        (800, 10000, 1500, 10000000, 57920, 9930162),
        (800, 10000, 9100, 10000000, 57920, 10063247),
    ];
    for (gbps, metres, mtu, cable, reaction, bytes) in cases {
        let headroom = standard(gbps, metres, mtu);
        assert_eq!((headroom.cable, headroom.reaction), (cable, reaction), "{gbps} Gbps, {metres} m, {mtu} B");
        assert_eq!(headroom.bytes, bytes, "{gbps} Gbps, {metres} m, {mtu} B");
    }
}

/// The standard allows 905 quanta at 400 Gbps: over 300 m and with jumbo frames, less than 235 KB of headroom loses
/// frames, even without PHY delay.
#[test]
fn four_hundred_gigabits_over_300_m_take_what_905_quanta_demand() {
    let headroom = standard(400, 300, 9216);
    assert_eq!((headroom.cable, headroom.reaction), (150_000, 905 * 64));
    // Wire time: 150000 + 84 + 57920 + 9236 = 217240 bytes. Of each 9236 bytes, 9216 occupy the buffer: 216769.6
    // bytes; plus two maximum frames.
    assert_eq!(headroom.bytes, 216_770 + 18_432);
    let in_wire_bytes = 150_000 + 84 + 57_920 + 3 * 9_236;
    assert_eq!(in_wire_bytes, 235_712, "as bytes of the wire");
    assert!(in_wire_bytes - headroom.bytes < 9_216);
}

#[test]
fn the_terms_make_up_the_sum() {
    for (gbps, metres, mtu, cell, small) in
        [(10, 5, 1500, 1, 0), (100, 300, 9100, 144, 100), (400, 10_000, 4200, 208, 30), (800, 1, 64, 80, 100)]
    {
        let mut conditions = Conditions::new(mtu, Reaction::Standard, 2);
        conditions.mac_phy = LinkTime::BitTimes(8_192);
        conditions.gearbox = LinkTime::Time(Time::from_ns(100));
        conditions.cells = Cells { bytes: cell, small_percent: small };
        let of = Headroom::of(Rate::from_gbps(gbps), Time::from_ns(5 * metres), &conditions);
        let wire = of.cable + of.pause_frames + of.reaction + of.mac_phy + of.gearbox + of.blocking_frame;
        assert_eq!(of.bytes, wire - of.overhead + of.mtu_frames + of.cell_waste);
        assert_eq!((of.mac_phy, of.pause_frames), (1_024, 168));
        assert_eq!(of.gearbox, 200 * gbps / 8);
    }
}

/// Compares headroom in cells with a search over all frame lengths. For 100 Gbps, 300 m, an MTU of 9100 bytes and
/// cells of 144 bytes, the wire time is 37500 + 84 + 25216 + 9120 = 71920 bytes. A maximum frame occupies 64 cells
/// (9216 bytes) and 9120 bytes of wire time: 72677.05 bytes of buffer; plus two such frames.
#[test]
fn whole_cells_cost_what_the_worst_frames_waste() {
    // Columns: Gbps, metres, MTU, bytes per cell, percentage of the most wasteful frames, headroom in bytes.
    let cases = [
        (100, 300, 9100, 144, 0, 91110),
        (100, 300, 9100, 144, 100, 143966),
        (400, 40, 1500, 208, 50, 145316),
        (400, 300, 9216, 192, 100, 514981),
        (10, 5, 1500, 80, 100, 12474),
        (25, 100, 1518, 16, 100, 12875),
        (800, 1000, 9100, 256, 20, 1531555),
    ];
    for (gbps, metres, mtu, bytes, small_percent, expected) in cases {
        let conditions =
            Conditions { cells: Cells { bytes, small_percent }, ..Conditions::new(mtu, Reaction::Standard, 1) };
        let headroom = Headroom::of(Rate::from_gbps(gbps), Time::from_ns(5 * metres), &conditions);
        assert_eq!(headroom.bytes, expected, "{gbps} Gbps, {metres} m, {mtu} B, cells of {bytes}, {small_percent} %");
    }
}

#[test]
fn the_worst_frame_is_the_worst_of_all_sizes() {
    for cell in [1, 2, 16, 20, 21, 22, 63, 64, 65, 80, 128, 144, 208, 256, 300, 9_000] {
        for mtu in [64, 65, 200, 1_500, 9_100] {
            let cells = Cells { bytes: cell, small_percent: 100 };
            let found = cells.worst_frame(mtu);
            let worst = (64..=mtu).all(|size| {
                cells.taken(size) * (found + WIRE_OVERHEAD_BYTES) <= cells.taken(found) * (size + WIRE_OVERHEAD_BYTES)
            });
            assert!(worst, "cells of {cell}, frames of up to {mtu}: {found}");
        }
    }
}

/// With extreme rates and delays the headroom saturates instead of overflowing.
#[test]
fn nothing_overflows() {
    let conditions = Conditions::new(65_535, Reaction::Standard, 8);
    let headroom = Headroom::of(Rate::from_gbps(1_000_000), Time::from_s(1_000_000), &conditions);
    assert!(headroom.bytes > 1 << 60);
}
