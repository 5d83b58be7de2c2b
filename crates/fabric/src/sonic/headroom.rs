//! Headroom by SONiC's dynamic buffer model for Mellanox ASICs.
//!
//! ```text
//!   before the neighbour stops = port MTU + cable, both ways + gearbox, both ways + MAC and PHY + response + tile
//!   xoff = lossless MTU + occupancy * (before the neighbour stops), rounded up to 1024 B, + compensation
//!   xon  = pipeline latency (doubled at a port with 8 lanes), rounded up to 1024 B
//!   size = xon if priority groups share their headroom, else xoff + xon (+ port MTU with 8 lanes), rounded up
//! ```
//!
//! Source: `buffer_headroom_mellanox.lua` of sonic-swss, branch master of August 2026. Earlier releases divide the
//! cable term by 1024 instead of 1000, and weight the cell occupancy by the number of frames instead of bytes.

use super::asic::AsicTables;
use super::model::BufferModel;
use serde::Serialize;

/// Granularity to which the model rounds, in bytes; also the unit of latencies in `ASIC_TABLE`.
const UNIT: u128 = 1024;
/// Size of the smallest frame in bytes.
const SMALLEST: u64 = 64;
/// Product of speed (Mbit/s) and length (m) per byte in flight on a cable, in both directions at 198,000,000 m/s: 198 *
/// 8 / 2.
const CABLE: u128 = 792;
/// Product of speed (Mbit/s) and delay (ns) per byte in flight in a gearbox, in both directions. It is 8 * 1024 / 2:
/// the model divides by 8 * 1024.
const GEARBOX: u128 = 4096;
const MILLION: u128 = 1_000_000;
/// Terms are computed in units of 1 / PARTS byte, in which they are integers.
const PARTS: u128 = CABLE * GEARBOX * MILLION;
/// Addition to the headroom if it is lower, by more than this value, than the headroom for smallest frames alone.
const COMPENSATION: u128 = 2 * UNIT;
/// Addition to the headroom of generation 6.
const GENERATION_6: u128 = 18 * UNIT;
/// Bytes of the buffer-tile term per 1000 Mbit/s, in generations 4 and 5.
const TILE: u128 = 15;
/// Number of lanes of ports with the double pipeline latency.
const MANY_LANES: u64 = 8;

/// Response time to PFC in quanta of 512 bits, by speed in Mbit/s (IEEE 802.3, 31B.3.7).
const RESPONSE_QUANTA: [(u64, u128); 10] = [
    (100, 1),
    (1_000, 2),
    (10_000, 67),
    (25_000, 80),
    (40_000, 118),
    (50_000, 147),
    (100_000, 394),
    (200_000, 453),
    (400_000, 905),
    (800_000, 905),
];
const QUANTUM_BYTES: u128 = 64;

/// Properties of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct PortInputs {
    /// Speed in Mbit/s.
    pub mbps: u64,
    /// Length of the cable in metres.
    pub metres: u64,
    /// MTU of the port, in bytes.
    pub mtu: u64,
    /// Number of lanes.
    pub lanes: u64,
}

/// A term of the headroom.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Term {
    /// Name of the term, as printed.
    pub name: &'static str,
    /// Bytes, rounded down.
    pub bytes: u64,
    /// Inputs from which the term is computed.
    pub source: String,
}

/// Buffer profile that the model computes for the lossless priority groups of a port. The terms add up to `xoff`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct DynamicHeadroom {
    /// Properties of the port.
    pub port: PortInputs,
    /// Key of the ASIC's row in `ASIC_TABLE`.
    pub asic: String,
    /// Terms of `xoff`.
    pub terms: Vec<Term>,
    /// Headroom in bytes.
    pub xoff: u64,
    /// XON threshold in bytes.
    pub xon: u64,
    /// Reserved size in bytes.
    pub size: u64,
}

fn round_up(bytes: u128) -> u128 {
    bytes.div_ceil(UNIT) * UNIT
}

fn narrow(bytes: u128) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

impl DynamicHeadroom {
    /// Computes the profile of a port in integer arithmetic. The results equal those of the model, which uses floats,
    /// except where a sum is close to a multiple of 1024 B.
    ///
    /// Speeds up to 10 Tbit/s, lengths up to 1000 km and MTUs up to 65535 bytes cause no overflow.
    pub fn of(asic: &AsicTables, model: &BufferModel, port: PortInputs) -> DynamicHeadroom {
        let (mbps, mtu) = (u128::from(port.mbps), u128::from(port.mtu));
        let lossless_mtu = u128::from(model.lossless_mtu);
        let units = |millionths: u64| u128::from(millionths) * UNIT * (PARTS / MILLION);
        let cable = mbps * u128::from(port.metres) * (PARTS / CABLE);
        let gearbox = mbps * u128::from(asic.gearbox_delay) * (PARTS / GEARBOX / MILLION);
        let quanta = RESPONSE_QUANTA.iter().find(|(speed, _)| *speed == port.mbps).map(|(_, quanta)| *quanta);
        let response = quanta.map_or_else(|| units(asic.peer_response_time), |quanta| quanta * QUANTUM_BYTES * PARTS);
        let tile = if matches!(asic.generation(), 4 | 5) { mbps * TILE * (PARTS / 1_000) } else { 0 };
        let mac_phy = units(asic.mac_phy_delay);
        let travelling = mtu * PARTS + cable + gearbox + mac_phy + response + tile;
        // Occupancy = 1 + small * (worst - 1), where small = 6400 / `frames` is the share of bytes in 64 B frames.
        let (worst, frames) = (worst_cells(asic.cell_bytes), frame_bytes(model));
        let waste = |small: u128, of: u128| travelling * small * (worst - 1) / of;
        let rounded = |waste: u128| round_up((lossless_mtu * PARTS + travelling + waste).div_ceil(PARTS));
        let waste_parts = waste(u128::from(100 * SMALLEST), frames);
        let mut xoff = rounded(waste_parts);
        let mut compensation = if asic.generation() == 6 { GENERATION_6 } else { 0 };
        xoff += compensation;
        let smallest_only = rounded(waste(1, 1));
        if !model.shared_headroom && model.small_packet_percent != 100 && xoff + COMPENSATION < smallest_only {
            xoff += COMPENSATION;
            compensation += COMPENSATION;
        }
        let lanes = port.lanes == MANY_LANES;
        let xon = round_up((units(asic.pipeline_latency) * if lanes { 2 } else { 1 }).div_ceil(PARTS));
        let size = match model.shared_headroom {
            true => xon,
            false => round_up(xoff + xon + if lanes { mtu } else { 0 }),
        };
        let term =
            |name: &'static str, parts: u128, source: String| Term { name, bytes: narrow(parts / PARTS), source };
        let percent = model.small_packet_percent;
        let response_source = match quanta {
            Some(quanta) => format!("{quanta} quanta of 512 bits: IEEE 802.3, 31B.3.7"),
            None => "peer_response_time: IEEE 802.3 has no limit for this speed".to_owned(),
        };
        let mut terms = vec![
            term("largest lossless frame", lossless_mtu * PARTS, format!("{}.mtu", model.key)),
            term("frame that delays the PAUSE", mtu * PARTS, "PORT.mtu".to_owned()),
            term("cable, both ways", cable, format!("{} m at {} Mbit/s, 198,000,000 m/s", port.metres, port.mbps)),
            term("gearbox, both ways", gearbox, "gearbox_delay".to_owned()),
            term("MAC and PHY", mac_phy, "mac_phy_delay".to_owned()),
            term("response of the neighbour", response, response_source),
            term("buffer tile", tile, "Spectrum-4 and Spectrum-5".to_owned()),
            term(
                "unused bytes of cells",
                waste_parts,
                format!("cells of {} B, {percent} % of the frames have {SMALLEST} B", asic.cell_bytes),
            ),
            term("compensation", compensation * PARTS, "addition of SONiC's script".to_owned()),
        ];
        let sum: u64 = terms.iter().map(|term| term.bytes).sum();
        let rounding = narrow(xoff).saturating_sub(sum);
        terms.push(Term { name: "rounding", bytes: rounding, source: format!("up to a multiple of {UNIT} B") });
        let (xoff, xon, size) = (narrow(xoff), narrow(xon), narrow(size));
        DynamicHeadroom { port, asic: asic.name.clone(), terms, xoff, xon, size }
    }

    /// Returns the non-zero terms as lines with bytes and inputs, and the sum as the last line.
    pub fn lines(&self) -> Vec<String> {
        let line =
            |name: &str, bytes: u64, source: &str| format!("{name:<27} {bytes:>9}  {source}").trim_end().to_owned();
        let terms = self.terms.iter().filter(|term| term.bytes > 0);
        let lines = terms.map(|term| line(term.name, term.bytes, &term.source));
        let rest = format!("xon {}, size {}", self.xon, self.size);
        lines.chain([line("xoff", self.xoff, &rest)]).collect()
    }
}

/// Returns the bytes of buffer cells per byte of the frames that use cells least efficiently, rounded up as in the
/// model.
fn worst_cells(cell: u64) -> u128 {
    let (bytes, of) = if cell > 2 * SMALLEST { (cell, SMALLEST) } else { (2 * cell, 1 + cell) };
    u128::from(bytes.div_ceil(of))
}

/// Returns the total bytes of 100 frames of the lossless traffic.
fn frame_bytes(model: &BufferModel) -> u128 {
    let small = model.small_packet_percent.min(100);
    u128::from(small * SMALLEST + (100 - small) * model.lossless_mtu)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the profile for `port` (Mbit/s, metres, MTU, lanes), `asic` (generation, cell size, pipeline latency,
    /// gearbox delay in fs) and `model` (lossless MTU, percentage of small packets, shared headroom).
    fn profile(port: [u64; 4], asic: [u64; 4], model: (u64, u64, bool)) -> DynamicHeadroom {
        let name = if asic[0] == 1 { "MELLANOX-SPECTRUM".to_owned() } else { format!("MELLANOX-SPECTRUM-{}", asic[0]) };
        let tables = AsicTables {
            name,
            cell_bytes: asic[1],
            pipeline_latency: asic[2] * 1_000_000,
            mac_phy_delay: 800_000,
            peer_response_time: 3_800_000,
            gearbox_delay: asic[3],
        };
        let (lossless_mtu, small_packet_percent, shared_headroom) = model;
        let key = "LOSSLESS_TRAFFIC_PATTERN|AZURE".to_owned();
        let model = BufferModel { lossless_mtu, small_packet_percent, default_threshold: 0, shared_headroom, key };
        let [mbps, metres, mtu, lanes] = port;
        DynamicHeadroom::of(&tables, &model, PortInputs { mbps, metres, mtu, lanes })
    }

    /// Expected values are from an independent computation with floats.
    #[test]
    fn profiles_equal_those_of_the_formula_in_floats() {
        for (port, asic, model, expected) in CASES {
            let found = profile(port, asic, model);
            assert_eq!([found.xoff, found.xon, found.size], expected, "{port:?} {asic:?} {model:?}");
            assert_eq!(found.terms.iter().map(|term| term.bytes).sum::<u64>(), found.xoff, "{:?}", found.terms);
        }
    }

    /// Computed by hand for cells of 144 B and smallest frames only: three times the sum of 9100 (MTU), 5050.5 (cable),
    /// 819.2 (MAC and PHY) and 394 * 64 (response), plus 1024.
    #[test]
    fn the_terms_of_a_cable_are_those_of_a_computation_by_hand() {
        let found = profile([100_000, 40, 9_100, 4], [2, 144, 19, 0], (1_024, 100, false));
        let bytes: Vec<u64> = found.terms.iter().map(|term| term.bytes).collect();
        assert_eq!(bytes, [1_024, 9_100, 5_050, 0, 819, 25_216, 0, 80_371, 0, 276]);
        assert_eq!(found.lines().len(), 8);
    }

    /// An increase of any input never decreases the headroom.
    #[test]
    fn the_headroom_is_monotonic() {
        let base = [100_000, 40, 1_500, 4];
        for (at, more) in [(1, 41), (1, 10_000), (2, 9_100)] {
            let mut port = base;
            port[at] = more;
            let of = |port| profile(port, [3, 144, 19, 0], (1_500, 100, false)).xoff;
            assert!(of(port) >= of(base), "{port:?}");
        }
        let largest = profile([10_000_000, 1_000_000, 65_535, 8], [6, 65_535, 1_000_000, 1 << 40], (9_216, 100, false));
        assert!(largest.size > largest.xoff);
    }

    type Case = ([u64; 4], [u64; 4], (u64, u64, bool), [u64; 3]);
    #[rustfmt::skip]
    const CASES: [Case; 11] = [
        ([100_000, 40, 9_100, 4], [2, 144, 19, 0], (1_024, 100, false), [121_856, 19_456, 141_312]),
        ([100_000, 300, 9_100, 4], [2, 144, 19, 9_765_000], (1_024, 100, true), [221_184, 19_456, 19_456]),
        ([400_000, 40, 9_100, 8], [3, 144, 19, 0], (1_024, 100, false), [265_216, 38_912, 313_344]),
        ([25_000, 5, 9_100, 1], [1, 96, 19, 0], (1_024, 100, false), [31_744, 19_456, 51_200]),
        ([800_000, 300, 9_100, 8], [5, 192, 19, 0], (1_024, 100, false), [1_149_952, 38_912, 1_198_080]),
        ([800_000, 30, 9_100, 4], [6, 256, 42, 0], (1_024, 100, true), [412_672, 43_008, 43_008]),
        ([50_000, 15, 1_500, 1], [2, 144, 18, 0], (1_500, 50, false), [18_432, 18_432, 36_864]),
        ([100_000, 40, 9_100, 4], [3, 144, 19, 0], (9_100, 10, false), [52_224, 19_456, 71_680]),
        ([1_600_000, 50, 9_100, 8], [6, 256, 42, 0], (1_024, 100, false), [479_232, 86_016, 574_464]),
        ([200_000, 2_000, 9_100, 2], [4, 192, 19, 0], (4_096, 0, false), [570_368, 19_456, 589_824]),
        ([10_000, 300, 1_500, 1], [1, 1, 19, 0], (1_500, 0, true), [12_288, 19_456, 19_456]),
    ];
}
