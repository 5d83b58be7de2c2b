//! Check of the switch resources that rules need (headroom, TCAM entries and others) against the limits of an ASIC.

use crate::export::{Marks, PortView, SwitchView, entries, groups};

/// Limits of an ASIC; a limit of `None` is not checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Packet buffer, in bytes.
    pub buffer_bytes: Option<u64>,
    /// Lossless priorities per port.
    pub lossless_priorities: Option<u64>,
    /// TCAM entries for tag rewriting.
    pub tcam_entries: Option<u64>,
    /// Traffic classes.
    pub traffic_classes: Option<u64>,
    /// Ports, which is the width of the port bitmap in the TCAM.
    pub ports: Option<u64>,
}

/// Resources that a switch needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Name of the switch.
    pub switch: String,
    /// Headroom in bytes, summed over all ports and their lossless priorities.
    pub headroom_bytes: u64,
    /// Maximum number of lossless priorities of a port.
    pub lossless_priorities: u64,
    /// TCAM entries after port bitmaps are merged, including a lossy default entry per lossless tag.
    pub tcam_entries: u64,
    /// Traffic classes: one per distinct (tag, ingress port) group, one for lossy traffic, and one per kept DSCP.
    pub traffic_classes: u64,
    /// Number of ports.
    pub ports: u64,
}

/// An exceeded limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excess {
    /// Name of the resource: "headroom", "TCAM entries" ...
    pub what: &'static str,
    /// Amount needed.
    pub needs: u64,
    /// Amount available.
    pub limit: u64,
}

impl Needs {
    /// Computes the needs of one switch.
    pub fn of(view: &SwitchView, marks: &Marks) -> Needs {
        let lossless = view.lossless_priorities(marks);
        let of_port = |(port, lossless): (&PortView, &Vec<u8>)| port.headroom_bytes * lossless.len() as u64;
        let headroom = view.ports().iter().zip(&lossless).map(of_port);
        let accepted = entries(view, marks).len();
        Needs {
            switch: view.name().to_owned(),
            headroom_bytes: headroom.sum(),
            lossless_priorities: view.most_lossless_priorities(marks) as u64,
            tcam_entries: (accepted + marks.lossless().len()) as u64,
            traffic_classes: (groups(view, marks).len() + 1 + marks.kept().len()) as u64,
            ports: view.ports().len() as u64,
        }
    }

    /// Returns the exceeded limits.
    pub fn excess(&self, limits: &Limits) -> Vec<Excess> {
        let all = [
            ("headroom in bytes", self.headroom_bytes, limits.buffer_bytes),
            ("lossless priorities", self.lossless_priorities, limits.lossless_priorities),
            ("TCAM entries", self.tcam_entries, limits.tcam_entries),
            ("traffic classes", self.traffic_classes, limits.traffic_classes),
            ("ports", self.ports, limits.ports),
        ];
        let over = |&(what, needs, limit): &(&'static str, u64, Option<u64>)| {
            limit.filter(|&limit| needs > limit).map(|limit| Excess { what, needs, limit })
        };
        all.iter().filter_map(over).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::PortView;
    use units::Rate;

    #[test]
    fn headroom_adds_up_over_ports_and_priorities() {
        let port = |at: usize, headroom_bytes| PortView {
            interface: format!("p{at}"),
            peer: format!("x{at}"),
            peer_port: 0,
            to_host: at == 0,
            rate: Rate::from_gbps(100),
            delay: units::Time::from_ns(25),
            headroom_bytes,
        };
        let ports = vec![port(0, 1_000), port(1, 20_000), port(2, 20_000)];
        // Each rule keeps tag 1, except that packets from port 1 to port 2 get tag 2.
        let view = SwitchView::new("S", ports, [(1, 0, 1, 1), (1, 1, 0, 1), (1, 1, 2, 2), (1, 2, 0, 1)]).unwrap();
        let marks = Marks::usual(&[1, 2]).unwrap();
        let needs = Needs::of(&view, &marks);
        assert_eq!(needs.headroom_bytes, 1_000 + 20_000 + 2 * 20_000);
        assert_eq!((needs.lossless_priorities, needs.ports), (2, 3));
        // TCAM entries: (tag 1, ingress {1, 2}, egress {0}), (1, {0}, {1}), (1, {1}, {2}), and a lossy default entry
        // for each of the two tags. Traffic classes: three groups of (tag, ingress port), and lossy traffic.
        assert_eq!((needs.tcam_entries, needs.traffic_classes), (5, 4));
        let limits = Limits { buffer_bytes: Some(61_000), tcam_entries: Some(4), ..Limits::default() };
        assert_eq!(needs.excess(&limits), [Excess { what: "TCAM entries", needs: 5, limit: 4 }]);
        assert!(needs.excess(&Limits::default()).is_empty());
    }
}
