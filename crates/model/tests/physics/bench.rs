//! Test bench: a setup with plain defaults, and a watcher that records all results of a run.

use fabric::routing::{Forwarding, Mode};
use fabric::{Fabric, LinkSpec};
use model::parameters::*;
use model::{Simulation, Watcher};
use protocols::florax::{BackpressureParameters, StopTarget};
use protocols::qcn::PointParameters;
use protocols::reaction::Reaction;
use protocols::transport::TransportParameters;
use stats::Outcome;
use stats::flows::FlowRecord;
use stats::trace::TraceRow;
use traffic::{DatagramSource, Flow, Load, PlanBuilder, Process, Start};
use units::{LinkTime, Rate, Time};

/// A link of this rate and one-way delay.
pub fn link(gbps: u64, delay_ns: u64) -> LinkSpec {
    LinkSpec::new(Rate::from_gbps(gbps), Time::from_ns(delay_ns))
}

/// A flow that uses the transport of its host.
pub fn flow(src: u32, dst: u32, size_bytes: u64) -> Flow {
    Flow {
        src,
        dst,
        size_bytes,
        start: Start::At(Time::ZERO),
        class: 3,
        traffic: 0,
        dst_port: 100,
        path: None,
        load: Load::Transport,
    }
}

/// A datagram source with this arrival process. Its traffic entry is the index of the source host.
pub fn datagrams(src: u32, dst: u32, process: Process, frame_bytes: u16, size_bytes: u64) -> Flow {
    let source = DatagramSource { process, frame_bytes, lengths: Default::default(), stop: None };
    Flow { traffic: src as u8, load: Load::Datagrams(Box::new(source)), ..flow(src, dst, size_bytes) }
}

/// Makes the traffic plan of these flows.
pub fn plan(hosts: u32, flows: impl IntoIterator<Item = Flow>) -> traffic::Plan {
    let mut builder = PlanBuilder::new();
    for flow in flows {
        builder.flow(flow);
    }
    builder.build(hosts).unwrap()
}

/// Builds the transport `kind` with these parameters.
pub fn transport(kind: &str, settings: &[(&str, &str)]) -> TransportParameters {
    TransportParameters::build(kind, settings.iter().copied()).unwrap()
}

/// Parameters of output backpressure for queues of 100 packets.
pub fn backpressure(target: StopTarget) -> BackpressureParameters {
    BackpressureParameters {
        target,
        lower: 25,
        upper: 50,
        max_upper: 80,
        raise: 5,
        burst_gap: Time::from_us(100),
        expiry: Time::from_us(200),
        renewed: false,
        grace: None,
        flows: 1000,
    }
}

/// QCN congestion points for all classes except that of notifications.
pub fn congestion_points(set_point_bytes: u64, sample_bytes: u64) -> PointParameters {
    PointParameters {
        set_point_bytes,
        weight: 2,
        sample_bytes,
        sample_min_bytes: sample_bytes / 10,
        jitter: 0.15,
        cnm_bytes: 64,
        cnm_class: 6,
        classes: Some(!(1 << 6)),
    }
}

/// Reaction time of hardware that is faster than the standard requires: 38.4 ns at 100 Gbps.
pub const FAST: Reaction = Reaction::Stated(LinkTime::BitTimes(3_840));

/// PFC for class 3 with a static XOFF threshold.
pub fn pause(xoff_bytes: u64) -> PauseParameters {
    PauseParameters {
        classes: 1 << 3,
        xoff: Threshold::Static { bytes: xoff_bytes },
        xon_offset_bytes: 3000,
        headroom_bytes: None,
        quanta: 65535,
        reaction: FAST,
        watchdog: None,
    }
}

/// A setup with shortest paths, a large buffer, no flow control, RoCE at line rate, and a duration of 1 ms.
pub fn setup(fabric: Fabric, traffic: traffic::Plan) -> Setup {
    Setup {
        forwarding: Forwarding::build(&fabric, Mode::ShortestPath).unwrap(),
        switch: SwitchParameters {
            buffer: Buffer::Shared { bytes: 64_000_000, egress: Threshold::Static { bytes: 64_000_000 } },
            ..SwitchParameters::default()
        },
        host: HostParameters { reply_class: Some(6), mtu_bytes: 1518, ..HostParameters::default() },
        measure_end: Time::MAX,
        ..Setup::new(fabric, traffic).unwrap()
    }
}

/// All results of a run.
#[derive(Debug, Default)]
pub struct Results {
    pub summary: Outcome,
    pub flows: Vec<FlowRecord>,
    /// Received pauses: time, node, port, bit mask of classes, and `true` for a pause or `false` for a resume.
    pub pauses: Vec<(Time, u32, u16, u8, bool)>,
    /// Delivered payload bytes by traffic entry.
    pub goodput: Vec<u64>,
    /// Samples of the goodput: traffic entry and bytes.
    pub goodput_samples: Vec<(u8, u64)>,
    /// Trace events, and captured frames.
    pub trace: Vec<TraceRow>,
    pub captured: Vec<model::CapturedFrame>,
    /// Samples of queues: time, node, port, class, bytes.
    pub queues: Vec<(Time, u32, u16, u8, u64)>,
    /// Samples of congestion control state.
    pub controls: Vec<stats::control::ControlSample>,
}

impl Watcher for Results {
    fn flow(&mut self, flow: &FlowRecord) {
        self.flows.push(flow.clone());
    }
    fn pause(&mut self, at: Time, node: fabric::NodeId, port: u16, classes: u8, pause: bool) {
        self.pauses.push((at, node.0, port, classes, pause));
    }
    fn trace(&mut self, row: &TraceRow) {
        self.trace.push(row.clone());
    }
    fn captured(&mut self, frame: &model::CapturedFrame) {
        self.captured.push(*frame);
    }
    fn throughput(&mut self, _at: Time, traffic: u8, bytes: u64) {
        let entry = usize::from(traffic);
        if self.goodput.len() <= entry {
            self.goodput.resize(entry + 1, 0);
        }
        self.goodput[entry] += bytes;
        self.goodput_samples.push((traffic, bytes));
    }
    fn control(&mut self, sample: &stats::control::ControlSample) {
        self.controls.push(*sample);
    }
    fn queue(&mut self, sample: model::QueueSample) {
        self.queues.push((sample.at, sample.node.0, sample.port, sample.class, sample.bytes));
    }
}

impl Results {
    /// Returns whether the check `name` passes.
    pub fn passes(&self, name: &str) -> bool {
        let check = self.summary.checks.iter().find(|check| check.name == name);
        check.unwrap_or_else(|| panic!("no check {name} in {:?}", self.summary.checks)).pass
    }

    /// Returns the frames dropped for this cause. Panics if there is no cause with this name, whose count would always
    /// be 0.
    pub fn dropped(&self, cause: &str) -> u64 {
        assert!(check::Cause::ALL.iter().any(|known| known.name() == cause), "there is no cause `{cause}`");
        self.summary.packets.dropped.get(cause).copied().unwrap_or(0)
    }

    /// Panics unless every check of the run passes.
    pub fn all_hold(&self) -> &Self {
        assert!(self.summary.passes(), "{:#?}", self.summary.checks);
        assert!(self.summary.packets.closed);
        assert!(self.summary.warnings.is_empty(), "{:?}", self.summary.warnings);
        self
    }
}

/// Runs the setup to its end and returns all results.
pub fn run(setup: Setup) -> Results {
    let mut results = Results::default();
    let drawn = (setup.threads > 1).then_some(setup.seed);
    let mut simulation = Simulation::new(setup).unwrap();
    // By default, such small networks would run on one thread, and the machine may have only one core. Therefore the
    // number of threads varies at random if the setup has several.
    drawn.into_iter().for_each(|seed| simulation.randomise_threads(seed));
    assert!(simulation.run(&mut results));
    let mut late = Results::default();
    results.summary = simulation.finish(&mut late, false);
    results.flows.append(&mut late.flows);
    results
}
