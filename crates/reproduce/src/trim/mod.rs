//! Experiments on packet trimming in switches (Popa et al.).

mod bench;
mod closed;
mod ends;
mod experiments;
mod fabric;
mod filling;
mod hardware;
mod memcached;
mod overload;
mod pictures;
mod queue;
mod response;
mod second;
mod sensitivity;
mod start;
mod tofino2;
mod unfairness;

use closed::{eighteen, goodput, sixty_four, thirty_two, trims};
use ends::{ping, spreading};
pub use experiments::EXPERIMENTS;
use fabric::fabric;
use hardware::{sharing, who_trims};
use memcached::closed_loop;
use queue::{longest_queue, speeds};
use response::{one_pipeline, queue_by_response, response_of_32, response_of_64, trim_all, without_half};
use second::second_flow;
use sensitivity::sensitivity;
use start::{to_few, to_many, to_one, worst_case};
use tofino2::tofino2;
use unfairness::unfairness;

use super::registry::{
    Choice, TRIM_ECMP, TRIM_FABRIC, TRIM_HARDWARE, TRIM_MEMCACHED, TRIM_NDP, TRIM_PING, TRIM_START, TRIM_TABLE,
};

/// Weighted round robin with ten headers per data frame, instead of strict priority for headers.
const TEN_HEADERS_A_FRAME: &[&str] = &["{ kind = \"wrr\", weights = { 6 = 10 } }"];

/// Bursts of meters; 15200 B is the data queue of a port on the wire.
const START_BURSTS: &[&str] = &["1520B", "15200B", "24320B", "97280B"];

/// Parameters of the experiments on the start of an incast that the publication does not specify, with alternative
/// values.
pub const START_CHOICES: &[Choice] = &[
    Choice { source: &TRIM_START, key: "switch.queue", alternatives: &["8 packets", "12 packets", "20 packets"] },
    Choice { source: &TRIM_START, key: "switch.overload.meter_burst", alternatives: START_BURSTS },
    Choice { source: &TRIM_START, key: "switch.overload.header_queue", alternatives: &["1MB"] },
    Choice { source: &TRIM_START, key: "switch.overload.signal_delay", alternatives: &["0s", "2us"] },
    Choice { source: &TRIM_START, key: "switch.overload.half", alternatives: &["6us"] },
    Choice { source: &TRIM_START, key: "traffic.0.jitter", alternatives: &["121ns", "1us"] },
    // Ten headers per data frame, as in the simulator of NDP's authors. Section 2 of the paper recommends weights for
    // headers with NDP.
    Choice { source: &TRIM_START, key: "switch.scheduler", alternatives: TEN_HEADERS_A_FRAME },
];

/// Parameters of figure 5a that the publication does not specify, with alternative values. The experiment itself shows
/// two header queues.
pub const TO_ONE_CHOICES: &[Choice] = &[
    Choice { source: &TRIM_START, key: "switch.queue", alternatives: &["8 packets", "12 packets", "20 packets"] },
    Choice { source: &TRIM_START, key: "switch.overload.meter_burst", alternatives: START_BURSTS },
    Choice { source: &TRIM_START, key: "switch.overload.signal_delay", alternatives: &["0s", "2us"] },
    Choice { source: &TRIM_START, key: "switch.overload.half", alternatives: &["6us"] },
    Choice { source: &TRIM_START, key: "traffic.0.jitter", alternatives: &["121ns", "1us"] },
    Choice { source: &TRIM_START, key: "switch.scheduler", alternatives: TEN_HEADERS_A_FRAME },
];

/// Parameters of the table of trims (`trim/table-trims`) that the publication does not specify, with alternative
/// values.
pub const TABLE_CHOICES: &[Choice] = &[
    Choice { source: &TRIM_TABLE, key: "switch.queue", alternatives: &["20 packets", "39 packets"] },
    Choice { source: &TRIM_TABLE, key: "switch.overload.meter_burst", alternatives: &["1520B", "24320B"] },
    Choice { source: &TRIM_TABLE, key: "switch.overload.half", alternatives: &["6us"] },
    Choice { source: &TRIM_TABLE, key: "switch.overload.signal_delay", alternatives: &["0s", "2us"] },
    // The second flow starts earlier or later; the start of the last flow is unchanged.
    Choice { source: &TRIM_TABLE, key: "traffic.1.start", alternatives: &["20us", "110us"] },
];

/// Parameters of the hardware measurements that the publication does not specify, with alternative values.
pub const HARDWARE_CHOICES: &[Choice] = &[
    Choice { source: &TRIM_HARDWARE, key: "switch.queue", alternatives: &["20 packets", "80 packets"] },
    // 59280 B: the data queue of a port, 39 packets on the wire.
    Choice { source: &TRIM_HARDWARE, key: "switch.overload.meter_burst", alternatives: &["1520B", "24320B", "59280B"] },
    Choice { source: &TRIM_HARDWARE, key: "switch.overload.half", alternatives: &["6us"] },
    Choice { source: &TRIM_HARDWARE, key: "switch.overload.ports_per_pipeline", alternatives: &["8"] },
];

/// Parameters of the NDP experiments that the publication does not specify, with alternative values.
pub const NDP_CHOICES: &[Choice] = &[
    Choice { source: &TRIM_NDP, key: "switch.queue", alternatives: &["8 packets", "12 packets", "20 packets"] },
    // 15200 B: the data queue of a port on the wire; 45600 B: with a header queue of twice its size.
    Choice {
        source: &TRIM_NDP,
        key: "switch.overload.meter_burst",
        alternatives: &["1520B", "15200B", "24320B", "45600B"],
    },
    // UPDATE and NOTIFY take bandwidth of the recirculation ports.
    Choice { source: &TRIM_NDP, key: "switch.overload.signal_load", alternatives: &["recirculation"] },
    // Value that section 4 of the paper states.
    Choice { source: &TRIM_NDP, key: "switch.overload.half", alternatives: &["6us"] },
    // Alternative signal delays: zero; until the departure of the packet (121.6 ns); a value in between; twice the
    // recirculation delay, as in `ndp.p4`.
    Choice {
        source: &TRIM_NDP,
        key: "switch.overload.signal_delay",
        alternatives: &["0s", "122ns", "500ns", "750ns", "2us"],
    },
    Choice { source: &TRIM_NDP, key: "traffic.0.jitter", alternatives: &["121ns"] },
    Choice { source: &TRIM_NDP, key: "host.transport.early_pulls", alternatives: &["count"] },
    Choice { source: &TRIM_NDP, key: "switch.scheduler", alternatives: TEN_HEADERS_A_FRAME },
];

/// Parameters of the ping experiment that the publication does not specify, with alternative values.
pub const PING_CHOICES: &[Choice] = &[
    Choice { source: &TRIM_PING, key: "fabric.link.delay", alternatives: &["50ns", "2us"] },
    Choice { source: &TRIM_PING, key: "host.transport", alternatives: &["{ kind = \"ndp\", payload = \"8936B\" }"] },
    Choice { source: &TRIM_PING, key: "switch.overload.meter_burst", alternatives: &["12160B", "36080B", "144320B"] },
];

/// Parameters of the closed-loop experiment that the publication does not specify, with alternative values.
pub const MEMCACHED_CHOICES: &[Choice] = &[
    Choice {
        source: &TRIM_MEMCACHED,
        key: "traffic.0.service_time",
        alternatives: &["10us", "100us", "{ exponential = \"1ms\" }"],
    },
    // Size of a `get`, and of a `set` with the 100 B keys and 400 B values of older versions.
    Choice { source: &TRIM_MEMCACHED, key: "traffic.0.request_size", alternatives: &["26B", "516B"] },
    Choice { source: &TRIM_MEMCACHED, key: "fabric.link.delay", alternatives: &["50ns", "2us"] },
    Choice {
        source: &TRIM_MEMCACHED,
        key: "host.transport",
        alternatives: &["{ kind = \"ndp\", payload = \"8936B\" }"],
    },
];

/// Parameters of the experiment with flows between racks that the publication does not specify, with alternative
/// values.
pub const ECMP_CHOICES: &[Choice] = &[
    Choice { source: &TRIM_ECMP, key: "fabric.link.delay", alternatives: &["50ns", "2us"] },
    Choice {
        source: &TRIM_ECMP,
        key: "host.transport",
        alternatives: &["{ kind = \"ndp\", payload = \"8936B\" }", "{ kind = \"eqds\" }", "{ kind = \"ndp\" }"],
    },
    Choice { source: &TRIM_ECMP, key: "switch.overload.meter_burst", alternatives: &["12160B", "36080B", "144320B"] },
];

/// Parameters of NDP that the authors' comparison in a fabric does not specify.
pub const FABRIC_CHOICES: &[Choice] = &[
    Choice { source: &TRIM_FABRIC, key: "switch.queue", alternatives: &["8 packets", "12 packets"] },
    Choice { source: &TRIM_FABRIC, key: "switch.overload.victim", alternatives: &["arriving"] },
    Choice { source: &TRIM_FABRIC, key: "host.transport.initial_window", alternatives: &["56", "90"] },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Check;
    use crate::trial::Trial;

    /// Returns the checks of a quick run of the experiment `id`.
    fn checks(id: &str) -> Vec<Check> {
        let experiment = EXPERIMENTS.iter().find(|experiment| experiment.id == id).unwrap();
        let mut trial = Trial::new(true, None);
        (experiment.run)(&mut trial).unwrap();
        trial.checks
    }

    #[test]
    fn every_tolerance_has_its_reason() {
        for id in
            ["trim/overload", "trim/fig2", "trim/fig7a", "trim/fig7b", "trim/table-trims", "trim/fig12", "trim/ecmp"]
        {
            for check in checks(id) {
                assert!(check.tolerance == 0.0 || check.note.is_some(), "{id}: {}", check.name);
            }
        }
    }

    /// With 64 senders and trimming of all packets, no tested response duration is stable. The goodput is nevertheless
    /// compared with the paper's 19 Gbps.
    #[test]
    fn goodput_is_reported_if_no_response_is_stable() {
        let checks = checks("trim/fig9c");
        let of = |name: &str| checks.iter().find(|check| check.name == name).unwrap();
        assert!(of("64 senders, all trimmed: response from which on the queue stays within 250").ours.is_infinite());
        let goodput = of("64 senders, all trimmed: goodput there");
        assert!(goodput.ours > 0.0 && goodput.paper == 19.0);
        assert!(goodput.note.as_ref().unwrap().starts_with("at 12 us, no response is stable"), "{goodput:?}");
    }

    /// Packets of 9000 B require meters with a burst size of several packets; the default burst size is one and a third
    /// packets.
    #[test]
    fn flows_over_spines_fill_them_with_meters_that_hold_their_packets() {
        assert!(checks("trim/ecmp")[0].pass);
        let choice = ECMP_CHOICES.iter().find(|choice| choice.key == "switch.overload.meter_burst").unwrap();
        let mut trial = Trial::new(true, Some((choice, "12160B")));
        spreading(&mut trial).unwrap();
        assert!(!trial.checks[0].pass, "{:?}", trial.checks[0]);
    }
}
