//! JSON of [`PauseCauses`].

use super::super::affected_flows::{Role, Stream, WaitTotals};
use super::super::chain::RootCause;
use super::super::trace::PortId;
use super::{CauseEffects, PauseCauses, PauseTotals, PausedTraffic};
use record::trace::TrafficSelector;
use serde_json::{Value, json};

impl PauseCauses {
    /// Returns all data as JSON.
    pub fn json(&self) -> Value {
        let port = |(key, stopped): (&(PortId, Option<u8>, Option<TrafficSelector>), &PauseTotals)| {
            json!({
                "port": self.trace.port_name(key.0), "towards": self.towards(key.0), "class": key.1,
                "of": self.traffic(key.2), "stops": stopped.stops, "stopped_ps": stopped.time.as_ps(),
                "longest_ps": stopped.longest.as_ps(),
            })
        };
        json!({
            "stops": self.all.stops,
            "stopped_ps": self.all.time.as_ps(),
            "traced_flows": self.traced_flows,
            "flows": self.trace.flows.len(),
            "ports": self.ports.iter().map(port).collect::<Vec<_>>(),
            "causes": self.caused.iter().map(|one| self.cause_json(one)).collect::<Vec<_>>(),
        })
    }

    fn towards(&self, port: PortId) -> Option<&str> {
        self.trace.peer(port).map(|peer| self.trace.node(peer))
    }

    fn traffic(&self, of: Option<TrafficSelector>) -> Value {
        let name = |node: Option<u32>| node.map(|node| self.trace.node(node));
        of.map_or(Value::Null, |of| json!({ "src": name(of.src), "dst": name(of.dst) }))
    }

    fn cause_json(&self, one: &CauseEffects) -> Value {
        let (kind, ports, node) = match &one.root {
            RootCause::Congested(port) => ("congested", vec![*port], port.0),
            RootCause::Cycle(ports) => ("cycle", ports.clone(), ports.first().map_or(0, |port| port.0)),
            RootCause::Host(node) => ("host", Vec::new(), *node),
            RootCause::Credits(port) => ("credits", vec![*port], port.0),
            RootCause::Drained(node) => ("drained", Vec::new(), *node),
            RootCause::Before(node) => ("before the trace", Vec::new(), *node),
        };
        let names: Vec<String> = ports.iter().map(|&port| self.trace.port_name(port)).collect();
        let branch = |(path, stopped): (&Vec<PausedTraffic>, &PauseTotals)| {
            let names: Vec<String> = path.iter().map(|location| self.trace.port_name(location.0)).collect();
            let last = path.last().copied().unwrap_or(((0, 0), None));
            json!({
                "path": names, "depth": path.len(), "towards": self.towards(last.0), "of": self.traffic(last.1),
                "stops": stopped.stops, "stopped_ps": stopped.time.as_ps(), "longest_ps": stopped.longest.as_ps(),
            })
        };
        let host = |(&host, (role, stopped)): (&u32, &(Role, PauseTotals))| {
            json!({
                "host": self.trace.node(host), "role": role.name(), "stops": stopped.stops,
                "stopped_ps": stopped.time.as_ps(),
            })
        };
        let flow = |(&(flow, reply), (role, waited)): (&Stream, &(Role, WaitTotals))| {
            json!({
                "flow": flow, "replies": reply, "role": role.name(), "frames": waited.frames,
                "waited_ps": waited.time.as_ps(),
            })
        };
        json!({
            "kind": kind, "node": self.trace.node(node), "ports": names,
            "towards": ports.first().and_then(|&port| self.towards(port)),
            "stops": one.all.stops, "stopped_ps": one.all.time.as_ps(), "longest_ps": one.all.longest.as_ps(),
            "tree": one.tree.iter().map(branch).collect::<Vec<_>>(),
            "hosts": one.hosts.iter().map(host).collect::<Vec<_>>(),
            "flows": one.flows.iter().map(flow).collect::<Vec<_>>(),
        })
    }
}
