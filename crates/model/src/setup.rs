//! A setup with everything by default, as a scenario that names a fabric, a duration and traffic would have it.

use crate::parameters::{
    Buffer, FlowControl, HostParameters, Marking, Overload, RecordParameters, Reroute, Scheduler, Setup, Spread,
    Stopping, StormParameters, SwitchParameters, Threshold, Timing,
};
use fabric::Fabric;
use fabric::routing::{Forwarding, Mode, PathTable, RoutingError};
use protocols::bounce_reaction::OnBounce;
use protocols::transport::TransportParameters;
use std::sync::Arc;
use traffic::Load;
use units::Time;

/// The seed of a setup that says none.
const SEED: u64 = 1;

impl Setup {
    /// `traffic` on `fabric` for a millisecond, on one thread with seed 1: shortest paths chosen by the flow's hash,
    /// switches that share 16 MB and drop what finds no room, hosts that send RoCE at line rate, a deadlock looked
    /// for every 10 us. Whatever should be otherwise is a field. The defaults are those of a scenario, and
    /// `tidegate run --explain` says where each comes from.
    ///
    /// # Errors
    /// Hosts that no path joins.
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
            pins: Vec::new(),
            tags: None,
            spread: Spread::FlowHash,
            failures: Vec::new(),
            reroute: Reroute::None,
            switch: SwitchParameters::default(),
            overrides: Vec::new(),
            overload_rule: None,
            stop_rule: None,
            outside: Vec::new(),
            timing: Timing::default(),
            agreements: Vec::new(),
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
        })
    }
}

impl Default for SwitchParameters {
    /// A shared buffer of 16 MB of which a queue may hold as much as is free, no flow control, no marks, strict
    /// priorities; what finds no room is dropped.
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
    /// RoCE at line rate, acknowledged in the class of the data; a host that stops when it is told to.
    fn default() -> HostParameters {
        HostParameters::of(TransportParameters::Roce(Arc::default()))
    }
}

impl HostParameters {
    /// Hosts of this transport, whose replies have the class of the data, and that stop when they are told to.
    pub fn of(transport: TransportParameters) -> HostParameters {
        HostParameters {
            mtu_bytes: largest_frame_bytes(&transport),
            transport,
            reply_class: None,
            obeys_pause: true,
            hears_trims: true,
            pause_storm: None,
            transports: Default::default(),
            clocks: Default::default(),
            on_bounce: OnBounce::default(),
            stopping: Stopping::default(),
            ttl: 64,
        }
    }
}

/// The largest frame that flows of this transport make: data, acknowledgements, notifications.
pub fn largest_frame_bytes(transport: &TransportParameters) -> u16 {
    match transport {
        TransportParameters::Datagram(parameters) => parameters.frame_bytes,
        TransportParameters::Tcp(parameters) => {
            parameters.mss_bytes.saturating_add(parameters.header_bytes).max(parameters.largest_ack_bytes())
        }
        TransportParameters::Roce(parameters) => {
            let data = parameters.payload_bytes.saturating_add(parameters.data_header_bytes());
            data.max(parameters.largest_ack_bytes()).max(parameters.control.largest_frame_bytes())
        }
        TransportParameters::Ndp(parameters) => {
            parameters.payload_bytes.saturating_add(parameters.header_bytes).max(parameters.control_bytes)
        }
        TransportParameters::Custom(transport) => transport.payload_bytes().saturating_add(transport.header_bytes()),
    }
}
