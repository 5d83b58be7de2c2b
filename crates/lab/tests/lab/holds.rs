//! Set-and-hold gates with frame preemption, from the text of a scenario to the delays of frames.

use crate::common::{alone, over_ranks};
use model::Watcher;
use record::summary::Summary;

#[derive(Default)]
struct NullWatcher;

impl Watcher for NullWatcher {}

/// A preemptable frame arrives 59 us before its gate closes; an express frame waits until its gate opens.
const BEFORE_A_WINDOW: &str = r#"
duration = "900us"

[fabric]
kind = "single-switch"
hosts = 3
link = { rate = "100Mbps", delay = "50ns" }

[switch]
preemption = { express = [7] }

[[gates]]
node = "S1"
to = ["H3"]
states = [{ open = [0], time = "200us" }, { open = [7], time = "100us" }]

[[traffic]]
kind = "pairs"
pairs = [["H1", "H3"]]
process = "periodic"
period = "10ms"
phase = "20us"
frame = "1500B"
class = 0

[[traffic]]
kind = "pairs"
pairs = [["H2", "H3"]]
process = "periodic"
period = "10ms"
phase = "150us"
frame = "500B"
class = 7
"#;

/// Returns the delays of both frames in nanoseconds, which must be equal on threads and over ranks.
fn delays(text: &str) -> [u64; 2] {
    let of = |summary: &Summary| [0, 1].map(|entry| summary.jitter[entry].max_delay_ps / 1000);
    let (one, _) = alone::<NullWatcher>(text, &[], 1);
    assert!(one.summary.passes(), "{:?}", one.summary.checks);
    for (other, _) in [alone::<NullWatcher>(text, &[], 2), over_ranks::<NullWatcher>(text, &[])] {
        assert_eq!(other.summary, one.summary);
    }
    of(&one.summary)
}

#[test]
fn a_preemptable_frame_is_cut_ahead_of_the_express_window() {
    // The preemptable frame starts at 140.69 us. It is preempted 143 bytes before 200 us, while byte 599 after the
    // start (8 bytes of preamble included) is sent, so that 591 bytes of the frame are sent. The remaining bytes are
    // sent after the release at 300 us.
    let rest = 300_000 + (8 + 1500 - 591) * 80 + 50;
    let express = 200_000 + 508 * 80 + 50;
    assert_eq!(delays(BEFORE_A_WINDOW), [rest - 20_000, express - 150_000]);
    // Writing the default operations by name gives equal delays.
    let named = BEFORE_A_WINDOW
        .replace("\"200us\" }", "\"200us\", operation = \"set-and-release-mac\" }")
        .replace("\"100us\" }", "\"100us\", operation = \"set-and-hold-mac\" }");
    assert_eq!(delays(&named), [rest - 20_000, express - 150_000]);
    // Without set-and-hold, the preemptable frame waits until its gate is open long enough for the whole frame.
    let set = named.replace("set-and-release-mac", "set-gate-states").replace("set-and-hold-mac", "set-gate-states");
    assert_eq!(delays(&set), [300_000 + 1508 * 80 + 50 - 20_000, express - 150_000]);
}
