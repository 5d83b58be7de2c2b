//! Factorisation of a rule table into two maps with a traffic class between them.
//!
//! A switch without a rewriting ACL has two maps: from DSCP to traffic class at the ingress port, and from traffic
//! class to DSCP and queue at the egress port. Group the pairs (tag, in) by equal priority group and equal row T[(tag,
//! in), .]. The maps can express T[(tag, in), out] exactly if there are enough traffic classes for the groups: two
//! pairs of one class are treated equally at every egress port, and pairs of one group can share a class.

use super::dialect::Dialect;
use super::error::ExportError;
use super::marks::{Kept, Marks};
use super::view::SwitchView;
use crate::rules::Tag;
use fabric::PortIndex;

/// Port (ingress or egress) at which an ASIC binds the map from traffic class to egress queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueBinding {
    /// Egress port: the queue can follow a new tag that depends on the egress port.
    Egress,
    /// Ingress port: all packets of a class get one queue for all egress ports.
    Ingress,
}

/// Pairs (tag, ingress port) that are treated equally at all egress ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Priority group whose ingress occupancy includes the packets: that of the arriving tag.
    pub priority: u8,
    /// Tag at departure, by egress port; `None`: lossy.
    pub row: Vec<Option<Tag>>,
    /// Pairs, ascending.
    pub members: Vec<(Tag, PortIndex)>,
}

/// Traffic classes of a table that fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factors {
    /// Class of lossy traffic: packets without a tag, or without a rule at their ingress port.
    pub lossy_class: u8,
    /// Classes of untagged traffic that keeps its DSCP.
    pub kept: Vec<(u8, Kept)>,
    /// Classes of lossless traffic.
    pub groups: Vec<(u8, Group)>,
}

/// Reason why a switch needs an ACL in place of maps.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnsupportedSwitch {
    /// The groups need more traffic classes than the ASIC has.
    #[error(
        "{switch} needs ACL: its rules make {groups} groups of (tag, ingress port), which with {others} for other \
         traffic need {} traffic classes, and the ASIC has {limit}",
        groups + others
    )]
    Classes {
        /// The switch.
        switch: String,
        /// Lossless groups.
        groups: usize,
        /// Number of classes of lossy and kept traffic.
        others: usize,
        /// Number of classes of the ASIC.
        limit: u8,
    },
    /// Queues that depend on the egress port, on an ASIC that selects the queue by ingress port.
    #[error(
        "{switch} needs ACL: {groups} of its groups of (tag, ingress port) go to different queues by egress port, \
         which an ASIC that binds TC_TO_QUEUE_MAP at ingress cannot do"
    )]
    QueueByEgress {
        /// The switch.
        switch: String,
        /// Number of groups whose queue depends on the egress port.
        groups: usize,
    },
    /// On EOS a traffic class has one queue, one DSCP and one PFC priority on the whole switch.
    #[error(
        "{switch} does not fit EOS: {groups} groups of (tag, ingress port) are treated differently by port, such as \
         {example}. EOS documents one queue, one DSCP and one PFC priority for a traffic class, at all ports. Most \
         switches with links up and down do not fit: frames from above are lossless downwards, and upwards lossy or of \
         another tag. --only NAME writes the switches that fit, such as spines"
    )]
    ByPort {
        /// The switch.
        switch: String,
        /// Number of groups whose new tag depends on ports.
        groups: usize,
        /// Treatment that differs, with its ports.
        example: String,
    },
    /// More lossless priorities at a port than the ASIC has.
    #[error(
        "{switch} does not fit: a port of it needs {priorities} lossless priorities, and the ASIC has {limit}: use \
         fewer bounces or classes"
    )]
    Priorities {
        /// The switch.
        switch: String,
        /// Number of priorities needed at the port.
        priorities: usize,
        /// Number of priorities of the ASIC.
        limit: u64,
    },
    /// Buffer pool of the platform that the groups and queues exceed.
    #[error("{switch} does not fit: {why}")]
    Pool {
        /// The switch.
        switch: String,
        /// Pool and its demand.
        why: super::sonic::model::Violation,
    },
    /// A name that the target's grammar cannot carry.
    #[error("{switch}: {why}")]
    Name {
        /// Escaped name of the switch.
        switch: String,
        /// Error of the name.
        why: ExportError,
    },
    /// On EOS a traffic class has one DSCP and one queue, so kept traffic needs its own queue.
    #[error(
        "{switch}: kept DSCP {dscp} shares queue {queue} with other traffic, and EOS gives a traffic class one DSCP: \
         give it a queue of its own"
    )]
    KeptQueue {
        /// The switch.
        switch: String,
        /// The kept DSCP.
        dscp: u8,
        /// Queue of the kept DSCP.
        queue: u8,
    },
}

impl UnsupportedSwitch {
    /// Checks that all names of a switch are valid in a target.
    pub(super) fn of_names(view: &SwitchView, dialect: Dialect) -> Result<(), UnsupportedSwitch> {
        dialect.check_view(view).map_err(|why| UnsupportedSwitch::Name { switch: fabric::visible(view.name()), why })
    }

    /// Returns the switch.
    pub fn switch(&self) -> &str {
        match self {
            UnsupportedSwitch::Classes { switch, .. }
            | UnsupportedSwitch::QueueByEgress { switch, .. }
            | UnsupportedSwitch::ByPort { switch, .. }
            | UnsupportedSwitch::Priorities { switch, .. }
            | UnsupportedSwitch::Pool { switch, .. }
            | UnsupportedSwitch::Name { switch, .. }
            | UnsupportedSwitch::KeptQueue { switch, .. } => switch,
        }
    }
}

/// Returns the groups of a switch, in the order of their first member.
pub fn groups(view: &SwitchView, marks: &Marks) -> Vec<Group> {
    let mut found: Vec<Group> = Vec::new();
    for mark in marks.lossless() {
        for ingress in view.port_numbers() {
            let Some(row) = view.shown_tags(marks, mark.tag, ingress) else { continue };
            match found.iter_mut().find(|group| group.priority == mark.priority && group.row == row) {
                Some(group) => group.members.push((mark.tag, ingress)),
                None => found.push(Group { priority: mark.priority, row, members: vec![(mark.tag, ingress)] }),
            }
        }
    }
    found
}

/// Assigns a traffic class to every group, if possible that of its priority.
///
/// # Errors
/// [`UnsupportedSwitch`] with the switch and the count.
pub fn factorise(view: &SwitchView, marks: &Marks, binding: QueueBinding) -> Result<Factors, UnsupportedSwitch> {
    let groups = groups(view, marks);
    let (switch, limit) = (view.name().to_owned(), marks.traffic_classes());
    let others = 1 + marks.kept().len();
    if groups.len() + others > usize::from(limit) {
        return Err(UnsupportedSwitch::Classes { switch, groups: groups.len(), others, limit });
    }
    if binding == QueueBinding::Ingress {
        let scattered = groups.iter().filter(|group| !group.has_one_queue(marks)).count();
        if scattered > 0 {
            return Err(UnsupportedSwitch::QueueByEgress { switch, groups: scattered });
        }
    }
    let mut free: Vec<u8> = (0..limit).collect();
    let mut take = |wanted: u8| {
        let at = free.iter().position(|&class| class == wanted).unwrap_or(0);
        free.remove(at)
    };
    let lossy_class = take(marks.lossy().queue);
    let kept = marks.kept().iter().map(|&kept| (take(kept.queue), kept)).collect();
    let groups = groups.into_iter().map(|group| (take(group.priority), group)).collect();
    Ok(Factors { lossy_class, kept, groups })
}

impl Group {
    /// Returns whether all packets of the group use one queue at all egress ports.
    pub fn has_one_queue(&self, marks: &Marks) -> bool {
        let mut queues = self.row.iter().map(|&tag| marks.queue(tag));
        queues.next().is_none_or(|first| queues.all(|queue| queue == first))
    }
}

impl Factors {
    /// Returns the class of a packet that arrives with this DSCP at this port.
    pub fn class_of(&self, marks: &Marks, dscp: u8, ingress: PortIndex) -> u8 {
        if let Some(tag) = marks.tag_of(dscp) {
            let of_group = self.groups.iter().find(|(_, group)| group.members.contains(&(tag, ingress)));
            return of_group.map_or(self.lossy_class, |&(class, _)| class);
        }
        self.kept.iter().find(|(_, kept)| kept.dscp == dscp).map_or(self.lossy_class, |&(class, _)| class)
    }

    /// Returns DSCP and queue of packets of a class at an egress port.
    pub fn leaves_as(&self, marks: &Marks, class: u8, egress: PortIndex) -> (u8, u8) {
        if let Some((_, kept)) = self.kept.iter().find(|&&(known, _)| known == class) {
            return (kept.dscp, kept.queue);
        }
        let group = self.groups.iter().find(|&&(known, _)| known == class);
        let tag = group.and_then(|(_, group)| group.row[usize::from(egress)]);
        (marks.dscp(tag), marks.queue(tag))
    }

    /// Returns the priority group whose ingress occupancy includes the packets of a class.
    pub fn priority_group(&self, marks: &Marks, class: u8) -> u8 {
        let group = self.groups.iter().find(|&&(known, _)| known == class);
        group.map_or(marks.lossy().queue, |(_, group)| group.priority)
    }

    /// Returns the classes whose queue depends on the egress port.
    pub fn classes_by_egress(&self, marks: &Marks) -> Vec<u8> {
        self.groups.iter().filter(|(_, group)| !group.has_one_queue(marks)).map(|&(class, _)| class).collect()
    }
}
