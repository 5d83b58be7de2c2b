//! `timing.json`: what depends on the machine, apart from the reproducible files.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::summary::pretty;

/// All of `timing.json`. What the operating system does not tell is null.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Seconds on the clock on the wall.
    pub wall_s: f64,
    /// Seconds of all threads on their cores since the process started.
    pub cpu_s: Option<f64>,
    /// Greatest resident memory of the process, in bytes.
    pub max_rss_bytes: Option<u64>,
    /// Threads that were asked for.
    pub threads: u32,
    /// Most threads that ran the network at the same time: fewer than were asked for where there are fewer cores, or
    /// where they would have been in each other's way.
    #[serde(default)]
    pub most_threads: u32,
    /// Share of the work that several threads had in common, 0 to 1.
    #[serde(default)]
    pub shared_work: f64,
    /// The machine's name.
    pub host: Option<String>,
    /// Packets forwarded over a link per CPU second.
    pub packet_hops_per_cpu_s: Option<f64>,
    /// Events executed per CPU second.
    pub events_per_cpu_s: Option<f64>,
    /// What each of several ranks cost; empty for a run in one process.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<RankTiming>,
}

/// One of the ranks that made a run together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RankTiming {
    /// Greatest resident memory of its process before it summed up, in bytes; 0 if unknown.
    pub max_rss_bytes: u64,
    /// Seconds of all its threads on their cores, waiting for others included.
    pub cpu_s: f64,
    /// How often the ranks met.
    pub meetings: u64,
    /// Letters that it sent where they met.
    pub letters: u64,
    /// Their bytes.
    pub letter_bytes: u64,
    /// Frames in them.
    pub messages: u64,
}

impl Timing {
    /// Asks the operating system (Linux: `/proc`) about this process after a run that took `wall`.
    pub fn measure(wall: Duration, threads: u32) -> Self {
        let read = |path: &str| std::fs::read_to_string(path).ok();
        Timing {
            wall_s: wall.as_secs_f64(),
            cpu_s: read("/proc/self/stat").as_deref().and_then(cpu_seconds),
            max_rss_bytes: read("/proc/self/status").as_deref().and_then(max_rss_bytes),
            threads,
            most_threads: 1,
            host: read("/proc/sys/kernel/hostname").map(|name| name.trim().to_owned()),
            ..Timing::default()
        }
    }

    /// Sets the rates per CPU second from the counts of a run; null for a run too short to tell.
    pub fn with_rates(mut self, packet_hops: u64, events: u64) -> Self {
        let cpu_s = self.cpu_s.filter(|&cpu_s| cpu_s > 0.0);
        let rate = |count: u64| cpu_s.map(|cpu_s| count as f64 / cpu_s);
        (self.packet_hops_per_cpu_s, self.events_per_cpu_s) = (rate(packet_hops), rate(events));
        self
    }

    /// The text of `timing.json`.
    pub fn to_json(&self) -> String {
        pretty(self)
    }
}

/// User and system time of a `/proc/<pid>/stat`, fields 14 and 15 (proc_pid_stat(5)), in ticks of 10 ms:
/// Linux pins USER_HZ to 100 for programs. The name, field 2, may hold spaces, so fields count from its
/// closing parenthesis.
fn cpu_seconds(stat: &str) -> Option<f64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    Some((ticks()? + ticks()?) as f64 / 100.0)
}

/// `VmHWM` of a `/proc/<pid>/status`, which is in KiB.
fn max_rss_bytes(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_linux_tells() {
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
