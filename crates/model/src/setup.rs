//! Default setup: equals a scenario that defines only fabric, duration and traffic.

use crate::parameters::{
    Buffer, FlowControl, HostParameters, Marking, Overload, PauseReaction, RecordParameters, Reroute, Scheduler, Setup,
    Spread, StormParameters, SwitchParameters, Threshold, Timing,
};
use fabric::Fabric;
use fabric::routing::{Forwarding, Mode, PathTable, RoutingError};
use protocols::transport::TransportParameters;
use std::sync::Arc;
use traffic::Load;
use units::Time;

/// Default seed.
const SEED: u64 = 1;

impl Setup {
    /// Creates a run of `traffic` on `fabric` for 1 ms, on one thread, with seed 1: shortest paths by flow hash, 16 MB
    /// shared buffers, tail drop, RoCE at line rate, deadlock checks every 10 us. Fields can be changed afterwards. The
    /// defaults equal those of a scenario; `tidegate run --explain` prints their sources.
    ///
    /// # Errors
    /// Fails if no path connects two hosts.
    pub fn new(fabric: Fabric, traffic: traffic::Plan) -> Result<Setup, RoutingError> {
        let duration = Time::from_ms(1);
        let mut host = HostParameters::default();
        for flow in &traffic.flows {
            if let Load::Datagrams(source) = &flow.load {
                host.mtu_bytes = host.mtu_bytes.max(source.longest_bytes());
            }
        }
        let mut forwarding = Forwarding::build(&fabric, Mode::ShortestPath)?;
        forwarding.seed_hashes(SEED);
        Ok(Setup {
            forwarding,
            fabric,
            paths: PathTable::new(),
            static_routes: Vec::new(),
            tags: None,
            spread: Spread::FlowHash,
            failures: Vec::new(),
            reroute: Reroute::None,
            switch: SwitchParameters::default(),
            overrides: Vec::new(),
            overload_rule: None,
            pause_rule: None,
            without_flow_control: Vec::new(),
            timing: Timing::default(),
            committed_rates: Vec::new(),
            host,
            traffic,
            notification_delay: None,
            duration,
            ends_with_flows: false,
            warm_up: Time::ZERO,
            measure_end: duration,
            seed: SEED,
            threads: 1,
            deadlock_every: Some(Time::from_us(10)),
            storm: Some(StormParameters::default()),
            record: RecordParameters::default(),
            control_loss: 0.0,
        })
    }
}

impl Default for SwitchParameters {
    /// A shared buffer of 16 MB, dynamic limit with alpha 1 per queue, no flow control, no marks, strict priority, tail
    /// drop.
    fn default() -> SwitchParameters {
        SwitchParameters {
            buffer: Buffer::Shared { bytes: 16_000_000, egress: Threshold::Dynamic { alpha: (1, 1) } },
            flow_control: FlowControl::None,
            overload: Overload::Drop,
            marking: Marking::None,
            scheduler: Scheduler::Strict,
        }
    }
}

impl Default for HostParameters {
    /// RoCE at line rate, replies in the class of the data, pauses obeyed.
    fn default() -> HostParameters {
        HostParameters::of(TransportParameters::Roce(Arc::default()))
    }
}

impl HostParameters {
    /// Creates hosts with this transport, replies in the class of the data, pauses obeyed.
    pub fn of(transport: TransportParameters) -> HostParameters {
        HostParameters {
            mtu_bytes: largest_frame_bytes(&transport),
            transport,
            reply_class: None,
            obeys_pause: true,
            trim_aware: true,
            pause_storm: None,
            transports: Default::default(),
            clocks: Default::default(),
            on_bounce: None,
            stopping: PauseReaction::default(),
            ttl: 64,
        }
    }
}

/// Returns the largest frame of this transport, in bytes: data, acknowledgements and notifications.
pub fn largest_frame_bytes(transport: &TransportParameters) -> u16 {
    match transport {
        TransportParameters::Datagram(parameters) => parameters.frame_bytes,
        TransportParameters::Tcp(parameters) => {
            parameters.mss_bytes.saturating_add(parameters.header_bytes).max(parameters.largest_ack_bytes())
        }
        TransportParameters::Roce(parameters) => {
            let data = parameters.largest_payload_bytes().saturating_add(parameters.data_header_bytes());
            data.max(parameters.largest_ack_bytes()).max(parameters.control.largest_frame_bytes())
        }
        TransportParameters::Ndp(parameters) => {
            parameters.payload_bytes.saturating_add(parameters.header_bytes).max(parameters.control_bytes)
        }
        TransportParameters::Custom(transport) => transport.payload_bytes().saturating_add(transport.header_bytes()),
    }
}
