//! Headroom of SONiC's buffer manager, for comparison: `xoff` of a lossless profile, as computed by its scripts
//! `buffer_headroom_mellanox.lua` of releases 202012 to 202311 and `buffer_headroom_barefoot.lua` (since 202211).
//!
//! These scripts divide the cable term by 8 * 1024. Since 202405 (sonic-swss pull request 3235) the script for Mellanox
//! divides it by 8 * 1000, and weighs cells by bytes; `fabric::sonic` has that formula. All scripts divide the gearbox
//! term by 8 * 1024.

use protocols::headroom::{Cells, Headroom};
use units::{Rate, Time};

/// Fixed-point scale: units per byte. Like the script, we compute with fractions and round only the sum.
const PARTS: u128 = 1_000_000;
/// Propagation speed in a cable, as assumed by the script.
const METRES_PER_SECOND: u128 = 198_000_000;
/// Cable delay assumed by this project: 5 ns per metre.
const PS_PER_METRE: u128 = 5_000;

/// Terms in bytes, each rounded up. `xoff` is the exact sum, rounded up to a multiple of 1024.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sonic {
    pub cable: u64,
    /// The cable term of the script for Mellanox since 202405.
    pub cable_since_202405: u64,
    pub reaction: u64,
    pub mac_phy: u64,
    pub gearbox: u64,
    /// The frame in transmission that delays the PAUSE: `port_mtu`.
    pub blocking_frame: u64,
    /// The frames of the lossless class: `lossless_mtu`.
    pub mtu_frames: u64,
    pub cell_waste: u64,
    pub rounding: u64,
    pub xoff: u64,
}

impl Sonic {
    /// Computes the terms; reaction time and MAC/PHY latency are those of `ours`.
    pub fn of(rate: Rate, delay: Time, mtu: u64, cells: &Cells, gearbox: Time, ours: &Headroom) -> Sonic {
        let (bps, ps) = (u128::from(rate.as_bps()), u128::from(delay.as_ps()));
        // Cable term of the script: 2 x metres x Mbps x 10^9 / 198,000,000 / (8 x 1024). The last factor should be
        // 1000, because a megabit is 10^6 bits; with `unit` = 1000 this is the corrected formula.
        let travel =
            |unit: u128| (2 * PARTS).saturating_mul(ps * bps) / (PS_PER_METRE * METRES_PER_SECOND * 8 * unit / 1_000);
        let cable = travel(1_024);
        let gearbox = (2 * PARTS).saturating_mul(u128::from(gearbox.as_ps()) * bps) / (1_000_000_000 * 8 * 1024);
        let whole = |bytes: u64| u128::from(bytes) * PARTS;
        let travels = whole(mtu)
            .saturating_add(cable)
            .saturating_add(gearbox)
            .saturating_add(whole(ours.mac_phy) + whole(ours.reaction));
        // Worst case of cell usage: two cells for a frame of one byte more than a cell, or one cell for a 64-byte
        // frame.
        let (cell, small) = (u128::from(cells.bytes), u128::from(cells.small_percent));
        let (worst, of) = if cell > 128 { (cell, 64) } else { (2 * cell, 1 + cell) };
        let occupied = travels.saturating_mul((100 - small) * of + small * worst) / (100 * of);
        let bytes = |parts: u128| u64::try_from(parts.div_ceil(PARTS)).unwrap_or(u64::MAX);
        let sum = bytes(whole(mtu).saturating_add(occupied));
        let xoff = sum.div_ceil(1024).saturating_mul(1024);
        Sonic {
            cable: bytes(cable),
            cable_since_202405: bytes(travel(1_000)),
            reaction: ours.reaction,
            mac_phy: ours.mac_phy,
            gearbox: bytes(gearbox),
            blocking_frame: mtu,
            mtu_frames: mtu,
            cell_waste: bytes(occupied - travels.min(occupied)),
            rounding: xoff.saturating_sub(sum),
            xoff,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocols::headroom::Conditions;
    use protocols::reaction::Reaction;

    fn sonic(gbps: u64, metres: u64, mtu: u64, cell: u64, small: u64) -> Sonic {
        let (rate, delay) = (Rate::from_gbps(gbps), Time::from_ns(5 * metres));
        let cells = Cells { bytes: cell, small_percent: small };
        let ours = Headroom::of(rate, delay, &Conditions { cells, ..Conditions::new(mtu, Reaction::Standard, 1) });
        Sonic::of(rate, delay, mtu, &cells, Time::ZERO, &ours)
    }

    /// Expected values computed by hand with the script's formula. 100 Gbps, 300 m, 9100 bytes, cells of 1 byte: cable
    /// 2 x 300 x 100,000 x 10^9 / 198,000,000 / 8192 = 36991.0; sum 9100 + (9100 + 36991.0 + 394 x 64) = 80407.0, which
    /// is rounded up to 79 KiB.
    #[test]
    fn xoff_is_what_the_script_gives() {
        for (gbps, metres, mtu, cell, small, xoff) in XOFF {
            let computed = sonic(gbps, metres, mtu, cell, small);
            assert_eq!(computed.xoff, xoff, "{gbps} Gbps, {metres} m, {mtu} B, cells of {cell}: {computed:?}");
        }
        let computed = sonic(100, 300, 9_100, 1, 0);
        assert_eq!((computed.cable, computed.cable_since_202405), (36_992, 37_879));
    }

    #[test]
    fn its_terms_make_up_the_sum_but_for_fractions_of_a_byte() {
        let it = sonic(400, 40, 9_100, 192, 100);
        let terms =
            it.cable + it.reaction + it.mac_phy + it.gearbox + it.blocking_frame + it.mtu_frames + it.cell_waste;
        assert!((it.xoff..=it.xoff + 2).contains(&(terms + it.rounding)), "{it:?}");
    }

    // Rate in Gbps, cable length in metres, MTU, cell size, percentage of small packets, and the expected `xoff`.
    const XOFF: [(u64, u64, u64, u64, u64, u64); 8] = [
        (10, 5, 1500, 1, 0, 8192),
        (10, 300, 9100, 144, 100, 48128),
        (25, 40, 9100, 144, 100, 44032),
        (50, 5, 9100, 96, 100, 47104),
        (100, 300, 9100, 1, 0, 80896),
        (100, 2000, 1500, 144, 50, 446464),
        (400, 40, 9100, 192, 100, 270336),
        (800, 300, 9100, 192, 20, 518144),
    ];
}
