//! Compares congestion controls with the simulator of HPCC's authors on the same input files. The topology is a star,
//! in which no ECMP hash selects a path. The flow completion times of that simulator were measured once;
//! experiments/peers/README.md describes the setup and the causes of the remaining differences.

use crate::common::{Scratch, run};
use std::fmt::Write as _;
use units::random::Stream;

/// A congestion control of the HPCC simulator, with the parameters that its `run.py` sets at 100 Gbps.
struct Control {
    name: &'static str,
    keys: &'static str,
    /// Header bytes of a frame in the HPCC simulator, minus 20 bytes, because its frames have no preamble and
    /// interpacket gap.
    header: &'static str,
}

const HPCC: Control = Control {
    name: "hpcc",
    keys: "CC_MODE 3\nRATE_AI 40Mb/s\nHAS_WIN 1\nVAR_WIN 1\nU_TARGET 0.95\nMI_THRESH 0\nMULTI_RATE 0\nENABLE_QCN 0\n",
    header: "28B",
};
const TIMELY: Control = Control {
    name: "timely",
    keys: "CC_MODE 7\nRATE_AI 100Mb/s\nRATE_HAI 500Mb/s\nHAS_WIN 0\nACK_HIGH_PRIO 1\nENABLE_QCN 0\n",
    header: "36B",
};
const DCTCP: Control = Control {
    name: "dctcp",
    keys: "CC_MODE 8\nEWMA_GAIN 0.0625\nDCTCP_RATE_AI 615Mb/s\nHAS_WIN 1\nVAR_WIN 1\nENABLE_QCN 1\n\
        KMAX_MAP 1 100000000000 300\nKMIN_MAP 1 100000000000 300\nPMAX_MAP 1 100000000000 1.0\n",
    header: "28B",
};

/// Simulates `flows` (source, bytes, start in ns) to host 0 of 32 hosts. Returns the flow completion times in us,
/// ordered by source host, and the number of lines in `pfc.txt`.
fn completions(control: &Control, flows: &[(u32, u64, u64)]) -> (Vec<f64>, usize) {
    let scratch = Scratch::new(&format!("anchor-{}-{}", control.name, flows.len()));
    let mut topology = "33 1 32\n32\n".to_owned();
    (0..32).for_each(|host| writeln!(topology, "{host} 32 100Gbps 1000ns 0").unwrap());
    let mut file = format!("{}\n", flows.len());
    flows.iter().for_each(|(src, bytes, ns)| writeln!(file, "{src} 0 3 100 {bytes} 2.{ns:09}").unwrap());
    scratch.file("topology.txt", &topology);
    scratch.file("flow.txt", &file);
    let config = format!(
        "TOPOLOGY_FILE topology.txt\nFLOW_FILE flow.txt\nSIMULATOR_STOP_TIME 2.02\nMIN_RATE 1000Mb/s\nGLOBAL_T 1\n\
         BUFFER_SIZE 4\n{}",
        control.keys
    );
    let config = scratch.file("config.txt", &config);
    let made = run(&["import", "hpcc", &config, "--out", &scratch.path("made.toml")]);
    assert_eq!(made.code, Some(0), "{}", made.err);
    let (scenario, out) = (scratch.path("made.toml"), scratch.path("out"));
    let header = format!("host.transport.header={}", control.header);
    let ran = run(&["run", &scenario, "--out", &out, "--quiet", "--set", &header]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let fct = std::fs::read_to_string(format!("{out}/fct.txt")).unwrap();
    let mut times: Vec<(u64, f64)> = fct
        .lines()
        .map(|line| {
            let columns: Vec<&str> = line.split(' ').collect();
            (u64::from_str_radix(columns[0], 16).unwrap(), columns[6].parse::<f64>().unwrap() / 1000.0)
        })
        .collect();
    times.sort_by_key(|row| row.0);
    let pauses = std::fs::read_to_string(format!("{out}/pfc.txt")).unwrap().lines().count();
    (times.into_iter().map(|row| row.1).collect(), pauses)
}

fn last(times: &[f64]) -> f64 {
    times.iter().copied().fold(0.0, f64::max)
}

fn near(ours: f64, theirs: f64, share: f64, what: &str) {
    assert!((ours / theirs - 1.0).abs() < share, "{what}: {ours} here, {theirs} there");
}

/// Hosts 1 to 16 start at the same time to send 5 MB each to host 0. The last completion time measures link utilisation
/// (tolerance 5 %), the median measures fairness (tolerance 8 %).
#[test]
fn an_incast_completes_when_it_does_in_hpccs_simulator() {
    let flows: Vec<(u32, u64, u64)> = (1..=16).map(|src| (src, 5_000_000, 0)).collect();
    for (control, median, last, pauses) in
        [(HPCC, 7043.1, 7389.5, 0), (TIMELY, 7526.0, 7572.0, 74), (DCTCP, 6128.0, 6646.0, 0)]
    {
        let (mut times, output) = completions(&control, &flows);
        times.sort_by(f64::total_cmp);
        near(times[15], last, 0.05, control.name);
        near(times[7], median, 0.08, control.name);
        // The numbers of pause and resume events must both be zero, or differ by at most a factor of two.
        assert!(output <= 2 * pauses && 2 * output >= pauses, "{}: {output} lines of pauses", control.name);
    }
}

/// Hosts 1 to 4 send 20, 15, 10 and 5 MB to host 0; each starts a millisecond after the previous one. With HPCC,
/// shifting the starts by up to 1 us changes individual completion times by up to 15 %. With TIMELY, such shifts
/// determine which flow gets the highest rate, and the last completion times of single runs differ by up to 24 %.
/// Therefore the median over 25 runs with random shifts is compared (experiments/peers/README.md).
#[test]
fn flows_that_join_complete_when_they_do_in_hpccs_simulator() {
    let flows = [(1, 20_000_000, 0), (2, 15_000_000, 1_000_000), (3, 10_000_000, 2_000_000), (4, 5_000_000, 3_000_000)];
    for (control, theirs, each) in
        [(HPCC, [3877.2, 3602.5, 2362.9, 985.7], 0.15), (DCTCP, [2483.7, 2975.9, 2149.1, 1154.1], 0.05)]
    {
        let (times, _) = completions(&control, &flows);
        near(last(&times), last(&theirs), 0.05, control.name);
        times.iter().zip(theirs).for_each(|(&ours, theirs)| near(ours, theirs, each, control.name));
    }
    let mut random = Stream::new(1, 0, 0);
    let draws = (0..25).map(|_| {
        let moved = flows.map(|(src, bytes, start_ns)| (src, bytes, start_ns + random.below(1000)));
        last(&completions(&TIMELY, &moved).0)
    });
    let mut draws: Vec<f64> = draws.collect();
    draws.sort_by(f64::total_cmp);
    near(draws[12], last(&[2519.5, 3385.1, 2380.1, 1236.8]), 0.05, "timely, median of 25 draws");
}
