//! Template scenarios, taken from the project's examples.

/// A template that runs unchanged.
#[derive(Clone, Copy, Debug)]
pub struct Template {
    /// Name on the command line: `incast`.
    pub name: &'static str,
    /// Description in one line.
    pub about: &'static str,
    /// File name among the project's examples.
    pub origin: &'static str,
    /// Text of the example.
    text: &'static str,
    /// Names and contents of other files that the scenario names and that are written to its directory.
    pub beside: &'static [(&'static str, &'static str)],
}

impl Template {
    /// Returns the scenario with comments on every key, including the omitted keys. The comments refer to the scenario
    /// file by the name of the template.
    pub fn text(&self) -> String {
        let (origin, here) = (format!("examples/{}", self.origin), format!("{}.toml", self.name));
        crate::commented(&self.text.replace(&origin, &here))
    }
}

/// The files in `templates/` are symbolic links to the examples, so that they are part of the package.
macro_rules! template {
    ($name:literal, $origin:literal, $about:literal $(, $beside:literal)*) => {
        Template {
            name: $name,
            about: $about,
            origin: $origin,
            text: include_str!(concat!("../templates/", $name, ".toml")),
            beside: &[$(($beside, include_str!(concat!("../templates/", $beside)))),*],
        }
    };
}

/// All templates, in a suggested reading order.
pub const TEMPLATES: [Template; 14] = [
    template!("incast", "incast-pfc.toml", "many hosts send to one, under PFC, ECN and DCQCN"),
    template!("permutation", "permutation.toml", "every host sends to another, over flow-hash routes"),
    template!("leaf-spine", "leaf-spine.toml", "racks with oversubscribed uplinks, under DCQCN and PFC"),
    template!(
        "web-search",
        "web-search-dcqcn.toml",
        "flows of a measured size distribution arrive at random, under DCQCN"
    ),
    template!("ndp", "ndp-incast.toml", "switches trim frames without buffer space, and an NDP receiver pulls"),
    template!("credits", "credits.toml", "credits: links carry only frames that fit the other end's buffer"),
    template!("florax", "florax.toml", "flows above their share are slowed down, and others are not"),
    template!(
        "closed-loop",
        "closed-loop.toml",
        "a client sends requests to many servers, and again after all replies"
    ),
    template!("all-reduce", "all-reduce.toml", "accelerators reduce over a ring, step by step"),
    template!("collectives", "collectives.toml", "an all-to-all in rounds and an all-reduce share a fabric"),
    template!("deadlock", "deadlock-ring.toml", "pauses close around a ring of switches and nothing moves any more"),
    template!("link-failure", "link-failure.toml", "a link fails and recovers; its neighbours route around it"),
    template!("tcp", "tcp-dumbbell.toml", "TCP flows share a bottleneck"),
    template!(
        "replay",
        "replay/scenario.toml",
        "topology and flows from files in the format of the HPCC simulator",
        "topology.txt",
        "flow.txt"
    ),
];
