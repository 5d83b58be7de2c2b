//! Two sources request equal slots; the shared switch moves the second one to the next free slot.
//!
//! ```text
//!  source 0 ---> switch 2 ---> receiver 3
//!  source 1 --->
//! ```
use schedule::protocol::network::{Clock, EventKind, Faults, Network, Wire};
use schedule::protocol::{Config, SlotRequest};
use units::{Rate, Time};

pub(crate) fn main() {
    let wire = |ends| Wire { ends, rate: Rate::from_gbps(100), delay: Time::from_ns(50) };
    let clocks = [7, 1, 4, 3].map(|us| Clock { offset: Time::from_us(us), drift_ppb: 0 });
    let wires = [wire([0, 2]), wire([1, 2]), wire([2, 3])];
    let mut network = Network::new(&clocks, &wires, Config::new(), Faults::default(), 1);
    for (source, stream) in [(0, 10), (1, 11)] {
        let start = clocks[source].shows(Time::ZERO);
        network.ask(source, SlotRequest { stream, destination: 3, frame_bytes: 600, window: Time::from_us(2), start });
    }
    network.run_until(Time::from_us(10));
    for event in &network.events {
        if let EventKind::Started(stream, _, shift) = event.what {
            println!("stream {stream} starts at {}, moved by {shift}", event.at);
        }
    }
    assert_eq!(network.collision(Time::from_us(20)), None);
}
