//! A port that receives a PFC frame for class 3 with a duration of 512 ns, from its arrival; the pause takes effect
//! after 100 ns.
//!
//! ```text
//!  PFC received   pause takes effect                the pause expires
//!  --|----------------|===== class 3 paused       =====|--------> time
//!    0              100 ns                           512 ns
//! ```
use protocols::pause::{PauseState, quanta_time};
use units::{Rate, Time};

pub(crate) fn main() {
    let span = quanta_time(100, Rate::from_gbps(100)); // 100 times 512 bit times
    assert_eq!(span, Time::from_ns(512));
    let mut port = PauseState::default();
    port.on_pause(Time::ZERO, 1 << 3, span, Time::from_ns(100));
    for (at, blocked) in [(50, 0), (100, 1 << 3), (511, 1 << 3), (512, 0)] {
        let stopped = port.blocked(Time::from_ns(at));
        println!("at {at} ns class 3 {}", if stopped == 0 { "may send" } else { "stands still" });
        assert_eq!(stopped, blocked);
    }
    assert_eq!(port.total_stopped(Time::from_us(1)), Time::from_ns(412));
}
