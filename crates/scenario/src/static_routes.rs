//! `[[route]]`: static routes. A static route may be wrong: it need not lead to its destination.

use crate::names::{HostName, host, names, near_node};
use crate::section::Section;
use crate::traffic_lower::LoweringContext;
use model::parameters::StaticRoute;
use units::Time;

/// A static route with unresolved names.
#[derive(Clone, Debug)]
pub(crate) struct NamedRoute {
    pub node: String,
    pub to: HostName,
    pub from: Option<HostName>,
    pub via: Vec<String>,
    pub at: Time,
    pub until: Option<Time>,
}

pub(crate) fn read(root: &Section<'_, '_>) -> Vec<NamedRoute> {
    let mut static_routes = Vec::new();
    for section in root.tables("route", "route") {
        let node = section.text("node");
        let (to, from) = (section.read("to", host), section.read("from", host));
        let via = section.read("via", |value| match names(value, "[\"S2\"]")? {
            (names, _) if names.is_empty() => {
                Err(("the list of neighbours is empty".to_owned(), Some("write via = [\"S2\"]".to_owned())))
            }
            read => Ok(read),
        });
        let (at, until) = (section.time("at"), section.time("until"));
        section.finish();
        if let (Some(at), Some(until)) = (at, until)
            && until <= at
        {
            let message = format!("the end of the route, {until}, is not after its start, {at}");
            section.fail("until", message, Some("remove `until` for a permanent route".to_owned()));
        }
        if let (Some(node), Some(to), Some(via), Some(at)) = (node, to, via, at) {
            static_routes.push(NamedRoute { node, to, from, via, at, until });
        }
    }
    static_routes
}

/// Resolves the node names of static routes to nodes and ports.
pub(crate) fn lower(ground: &LoweringContext<'_, '_>, named: &[NamedRoute]) -> Option<Vec<StaticRoute>> {
    let (context, fabric) = (ground.context, ground.fabric);
    let node = |name: &String, key: &str| {
        let node = fabric.find(name);
        if node.is_none() {
            context.fail(key, format!("the fabric has no node `{name}`"), near_node(fabric, name));
        }
        node
    };
    let one = |(at, named): (usize, &NamedRoute)| {
        let key = |key: &str| format!("route.{at}.{key}");
        let found = node(&named.node, &key("node"));
        let to = ground.host(&named.to, &key("to"));
        let from = named.from.as_ref().map(|from| ground.host(from, &key("from")));
        let found = found?;
        if fabric.node(found).kind != fabric::NodeKind::Switch {
            let message = format!("`{}` is a host: routes are set at switches", named.node);
            context.fail(&key("node"), message, None);
            return None;
        }
        let mut ports = Vec::new();
        for name in &named.via {
            let peer = node(name, &key("via"))?;
            let before = ports.len();
            let towards = |(port, known): (usize, &fabric::PortPeer)| (known.peer == peer).then_some(port as u16);
            ports.extend(fabric.ports(found).iter().enumerate().filter_map(towards));
            if ports.len() == before {
                let names: Vec<&str> = fabric.ports(found).iter().take(16).map(|port| fabric.name(port.peer)).collect();
                let help = format!("`{}` is linked to {}", named.node, names.join(", "));
                context.fail(&key("via"), format!("no link joins `{}` and `{name}`", named.node), Some(help));
                return None;
            }
        }
        ports.sort_unstable();
        ports.dedup();
        Some(StaticRoute {
            node: found,
            to: to?,
            from: from.map_or(Some(None), |from| from.map(Some))?,
            ports,
            at: named.at,
            until: named.until,
        })
    };
    let static_routes: Vec<Option<StaticRoute>> = named.iter().enumerate().map(one).collect();
    static_routes.into_iter().collect()
}
