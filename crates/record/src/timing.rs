//! `timing.json`: measurements that depend on the machine, separate from the reproducible files.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::summary::pretty;

/// Content of `timing.json`. Values that the operating system does not provide are null.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Wall-clock time, in seconds.
    pub wall_s: f64,
    /// CPU time of all threads since the process started, in seconds.
    pub cpu_s: Option<f64>,
    /// Peak resident set size of the process, in bytes.
    pub max_rss_bytes: Option<u64>,
    /// Number of requested threads.
    pub threads: u32,
    /// Maximum number of threads that simulated the network simultaneously. It is smaller than the requested number if
    /// there are fewer cores, or if more threads would have been slower.
    #[serde(default)]
    #[serde(alias = "most_threads")]
    pub max_threads: u32,
    /// Share of the work that was done while several threads were active, 0 to 1.
    #[serde(default)]
    pub shared_work: f64,
    /// Host name of the machine.
    pub host: Option<String>,
    /// Packets forwarded over a link per CPU second.
    pub packet_hops_per_cpu_s: Option<f64>,
    /// Events executed per CPU second.
    pub events_per_cpu_s: Option<f64>,
    /// Cost of each rank of a distributed run; empty for a run in one process.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<RankTiming>,
}

/// Cost of one rank of a distributed run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RankTiming {
    /// Peak resident set size of the rank's process before the results were merged, in bytes; 0 if unknown.
    pub max_rss_bytes: u64,
    /// CPU time of all threads of the rank, including busy waiting, in seconds.
    pub cpu_s: f64,
    /// Number of barriers between the ranks.
    #[serde(alias = "meetings")]
    pub barriers: u64,
    /// Number of batches that the rank sent at barriers.
    #[serde(alias = "letters")]
    pub batches: u64,
    /// Total size of these batches in bytes.
    #[serde(alias = "letter_bytes")]
    pub batch_bytes: u64,
    /// Number of frames in these batches.
    pub messages: u64,
}

impl Timing {
    /// Reads statistics of this process from the operating system (Linux: `/proc`) after a run that took `wall`.
    pub fn measure(wall: Duration, threads: u32) -> Self {
        let read = |path: &str| std::fs::read_to_string(path).ok();
        Timing {
            wall_s: wall.as_secs_f64(),
            cpu_s: read("/proc/self/stat").as_deref().and_then(cpu_seconds),
            max_rss_bytes: read("/proc/self/status").as_deref().and_then(max_rss_bytes),
            threads,
            max_threads: 1,
            host: read("/proc/sys/kernel/hostname").map(|name| name.trim().to_owned()),
            ..Timing::default()
        }
    }

    /// Sets the packet hops and events per CPU second; null if the CPU time is 0 or unavailable.
    pub fn with_rates(mut self, packet_hops: u64, events: u64) -> Self {
        let cpu_s = self.cpu_s.filter(|&cpu_s| cpu_s > 0.0);
        let rate = |count: u64| cpu_s.map(|cpu_s| count as f64 / cpu_s);
        (self.packet_hops_per_cpu_s, self.events_per_cpu_s) = (rate(packet_hops), rate(events));
        self
    }

    /// Returns the text of `timing.json`.
    pub fn to_json(&self) -> String {
        pretty(self)
    }
}

/// Returns the sum of user and system time in a `/proc/<pid>/stat`: fields 14 and 15 (proc_pid_stat(5)), in ticks of 10
/// ms, because Linux fixes USER_HZ to 100 for user space. Field 2, the name, may contain spaces, so that fields are
/// counted from its closing parenthesis.
fn cpu_seconds(stat: &str) -> Option<f64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    Some((ticks()? + ticks()?) as f64 / 100.0)
}

/// Returns `VmHWM` (peak resident set size) of a `/proc/<pid>/status`, which is in KiB.
fn max_rss_bytes(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_values_of_linux() {
        let stat = "42 (a ) name) R 1 1 1 0 -1 4194304 100 0 0 0 250 50 0 0 20 0 1 0 100 1 1";
        assert_eq!(cpu_seconds(stat), Some(3.0));
        assert_eq!(cpu_seconds("42 (name) R 1"), None);
        assert_eq!(max_rss_bytes("Name:\tx\nVmHWM:\t    2048 kB\n"), Some(2 << 20));
        assert_eq!(max_rss_bytes("VmHWM:\t many kB\n"), None);
    }

    #[test]
    fn rates_need_time() {
        let timing = Timing { cpu_s: Some(2.0), ..Timing::default() }.with_rates(8, 6);
        assert_eq!((timing.packet_hops_per_cpu_s, timing.events_per_cpu_s), (Some(4.0), Some(3.0)));
        assert_eq!(Timing { cpu_s: Some(0.0), ..Timing::default() }.with_rates(8, 6).packet_hops_per_cpu_s, None);
        assert_eq!(Timing::default().with_rates(8, 6).packet_hops_per_cpu_s, None);
    }

    #[test]
    fn a_measurement_of_this_process_is_plausible() {
        let timing = Timing::measure(Duration::from_millis(1500), 2);
        assert_eq!((timing.wall_s, timing.threads), (1.5, 2));
        if cfg!(target_os = "linux") {
            assert!(timing.max_rss_bytes.is_some_and(|bytes| bytes > 1 << 19));
            assert!(timing.cpu_s.is_some());
        }
        let value: serde_json::Value = serde_json::from_str(&timing.to_json()).unwrap();
        assert!(value.get("packet_hops_per_cpu_s").is_some_and(serde_json::Value::is_null));
    }
}
