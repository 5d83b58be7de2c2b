//! A rule table as two maps with a traffic class between them.
//!
//! A switch without a rewriting ACL knows two maps: at the ingress port from DSCP to traffic class, and at
//! the egress port from traffic class to DSCP and queue. Together they can say T[(tag, in), out] exactly when
//! the pairs (tag, in), grouped by equal priority group and equal row T[(tag, in), .], make no more groups
//! than there are traffic classes for them: two pairs of one class get the same treatment at every egress
//! port, and pairs of one group can share a class.

use super::dialect::Dialect;
use super::error::ExportError;
use super::marks::{Kept, Marks};
use super::view::SwitchView;
use crate::rules::Tag;
use fabric::PortIndex;

/// Where an ASIC takes the map from traffic class to egress queue from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueBinding {
    /// The port that the packet leaves by: the queue may follow the new tag wherever that depends on the
    /// egress port.
    Egress,
    /// The port that the packet came by: all packets of a class get one queue, whatever they leave by.
    Ingress,
}

/// Pairs (tag, ingress port) that no egress port needs to tell apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The priority group that counts them at ingress: that of the arriving tag.
    pub priority: u8,
    /// The tag they leave with, by egress port; `None`: lossy.
    pub row: Vec<Option<Tag>>,
    /// The pairs, ascending.
    pub members: Vec<(Tag, PortIndex)>,
}

/// A table that fits: which traffic class stands for what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factors {
    /// Of lossy traffic: whatever has no tag, or no rule at its ingress port.
    pub lossy_class: u8,
    /// Of untagged traffic that keeps its DSCP.
    pub kept: Vec<(u8, Kept)>,
    /// Of lossless traffic.
    pub groups: Vec<(u8, Group)>,
}

/// Why a switch needs an ACL instead of maps.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    /// Too many groups.
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
        /// Classes of lossy and kept traffic.
        others: usize,
        /// What there is.
        limit: u8,
    },
    /// Queues that depend on the egress port, on an ASIC that chooses the queue by ingress port.
    #[error(
        "{switch} needs ACL: {groups} of its groups of (tag, ingress port) go to different queues by egress port, \
         which an ASIC that binds TC_TO_QUEUE_MAP at ingress cannot do"
    )]
    QueueByEgress {
        /// The switch.
        switch: String,
        /// How many.
        groups: usize,
    },
    /// On EOS a traffic class is one queue and one PFC priority of the whole switch.
    #[error(
        "{switch} needs ACL: {groups} groups of (tag, ingress port) get a tag that depends on ports, and EOS documents \
         one queue and one PFC priority for a traffic class, whatever the ports"
    )]
    ByPort {
        /// The switch.
        switch: String,
        /// How many.
        groups: usize,
    },
    /// More lossless priorities at a port than the ASIC has.
    #[error(
        "{switch} does not fit: a port of it needs {priorities} lossless priorities, and the ASIC has {limit}: use \
         fewer bounces or classes"
    )]
    Priorities {
        /// The switch.
        switch: String,
        /// What the port needs.
        priorities: usize,
        /// What there is.
        limit: u64,
    },
    /// A buffer pool of the platform that the groups and queues exceed.
    #[error("{switch} does not fit: {why}")]
    Pool {
        /// The switch.
        switch: String,
        /// The pool, and what is asked of it.
        why: super::sonic::Violation,
    },
    /// A name that the target's grammar cannot carry.
    #[error("{switch}: {why}")]
    Name {
        /// The switch, its name made visible.
        switch: String,
        /// What is wrong.
        why: ExportError,
    },
    /// On EOS a traffic class has one DSCP and one queue, so kept traffic needs a queue of its own.
    #[error(
        "{switch}: kept DSCP {dscp} shares queue {queue} with other traffic, and EOS gives a traffic class one DSCP: \
         give it a queue of its own"
    )]
    KeptQueue {
        /// The switch.
        switch: String,
        /// The kept DSCP.
        dscp: u8,
        /// Its queue.
        queue: u8,
    },
}

impl Misfit {
    /// Whether all names of a switch suit a target.
    pub(super) fn of_names(view: &SwitchView, dialect: Dialect) -> Result<(), Misfit> {
        dialect.check_view(view).map_err(|why| Misfit::Name { switch: fabric::visible(view.name()), why })
    }

    /// The switch.
    pub fn switch(&self) -> &str {
        match self {
            Misfit::Classes { switch, .. }
            | Misfit::QueueByEgress { switch, .. }
            | Misfit::ByPort { switch, .. }
            | Misfit::Priorities { switch, .. }
            | Misfit::Pool { switch, .. }
            | Misfit::Name { switch, .. }
            | Misfit::KeptQueue { switch, .. } => switch,
        }
    }
}

/// The groups of a switch, in the order of their first member.
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

/// Gives every group a traffic class, where possible that of its priority.
///
/// # Errors
/// [`Misfit`] with the switch and the count.
pub fn factorise(view: &SwitchView, marks: &Marks, binding: QueueBinding) -> Result<Factors, Misfit> {
    let groups = groups(view, marks);
    let (switch, limit) = (view.name().to_owned(), marks.traffic_classes());
    let others = 1 + marks.kept().len();
    if groups.len() + others > usize::from(limit) {
        return Err(Misfit::Classes { switch, groups: groups.len(), others, limit });
    }
    if binding == QueueBinding::Ingress {
        let scattered = groups.iter().filter(|group| !group.has_one_queue(marks)).count();
        if scattered > 0 {
            return Err(Misfit::QueueByEgress { switch, groups: scattered });
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
    /// Whether all packets of the group go to one queue, whatever they leave by.
    pub fn has_one_queue(&self, marks: &Marks) -> bool {
        let mut queues = self.row.iter().map(|&tag| marks.queue(tag));
        queues.next().is_none_or(|first| queues.all(|queue| queue == first))
    }
}

impl Factors {
    /// The class of a packet that arrives with this DSCP at this port.
    pub fn class_of(&self, marks: &Marks, dscp: u8, ingress: PortIndex) -> u8 {
        if let Some(tag) = marks.tag_of(dscp) {
            let of_group = self.groups.iter().find(|(_, group)| group.members.contains(&(tag, ingress)));
            return of_group.map_or(self.lossy_class, |&(class, _)| class);
        }
        self.kept.iter().find(|(_, kept)| kept.dscp == dscp).map_or(self.lossy_class, |&(class, _)| class)
    }

    /// DSCP and queue with which a class leaves by a port.
    pub fn leaves_as(&self, marks: &Marks, class: u8, egress: PortIndex) -> (u8, u8) {
        if let Some((_, kept)) = self.kept.iter().find(|&&(known, _)| known == class) {
            return (kept.dscp, kept.queue);
        }
        let group = self.groups.iter().find(|&&(known, _)| known == class);
        let tag = group.and_then(|(_, group)| group.row[usize::from(egress)]);
        (marks.dscp(tag), marks.queue(tag))
    }

    /// The priority group that counts a class at ingress.
    pub fn priority_group(&self, marks: &Marks, class: u8) -> u8 {
        let group = self.groups.iter().find(|&&(known, _)| known == class);
        group.map_or(marks.lossy().queue, |(_, group)| group.priority)
    }

    /// Classes whose queue depends on the egress port.
    pub fn classes_by_egress(&self, marks: &Marks) -> Vec<u8> {
        self.groups.iter().filter(|(_, group)| !group.has_one_queue(marks)).map(|&(class, _)| class).collect()
    }
}
