//! QoS markings of tags: a DSCP in the packet, and a priority (802.1Qbb) and queue in the switch.

use super::error::ExportError;
use crate::rules::{MAX_LOSSLESS_PRIORITIES, Tag};

/// Priorities of tags, in the order of tags. RoCE commonly uses 3; 7 remains for control traffic and 0 for other
/// traffic.
const USUAL_PRIORITIES: [u8; 6] = [3, 4, 5, 6, 2, 1];
const MOST_DSCP: u8 = 63;
const MOST_PRIORITY: u8 = 7;
/// Traffic classes of most ASICs; SONiC's model allows sixteen.
pub const USUAL_CLASSES: u8 = 8;
const MOST_CLASSES: u8 = 16;

/// QoS marking of a lossless tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The tag.
    pub tag: Tag,
    /// DSCP of packets with this tag, 0 to 63.
    pub dscp: u8,
    /// PFC priority, ingress priority group and egress queue, 0 to 7.
    pub priority: u8,
    /// Tag of packets to hosts that replaces `tag`, for NICs that are lossless only for the DSCP that they send.
    /// Packets leave the fabric at hosts, so the replacement adds no buffer dependency.
    pub at_host: Option<Tag>,
}

/// QoS marking of packets that are lossy from the start or become lossy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lossy {
    /// New DSCP, 0 to 63.
    pub dscp: u8,
    /// Queue and priority group, 0 to 7.
    pub queue: u8,
}

/// Traffic without a tag that keeps its DSCP, such as routing protocols and congestion notifications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// DSCP, 0 to 63.
    pub dscp: u8,
    /// Queue, 0 to 7.
    pub queue: u8,
}

/// QoS markings of all traffic of a fabric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marks {
    lossless: Vec<Mark>,
    lossy: Lossy,
    kept: Vec<Kept>,
    traffic_classes: u8,
}

impl Marks {
    /// Creates markings. Checks that all kinds of traffic are distinguishable, and that every tag of `tags` has a
    /// marking.
    ///
    /// # Errors
    /// [`ExportError::TooManyTags`]; the first number that is out of range, ambiguous or missing.
    pub fn new(
        tags: &[Tag],
        mut lossless: Vec<Mark>,
        lossy: Lossy,
        kept: Vec<Kept>,
        traffic_classes: u8,
    ) -> Result<Marks, ExportError> {
        check_count(tags)?;
        lossless.sort_by_key(|mark| mark.tag);
        if let Some(pair) = lossless.windows(2).find(|pair| pair[0].tag == pair[1].tag) {
            let [first, second] = [pair[0], pair[1]].map(|mark| format!("DSCP {}", mark.dscp));
            return Err(ExportError::Ambiguous { what: "tag", value: pair[0].tag, first, second });
        }
        let within = |what, value: u8, most: u8| {
            let (value, most) = (value.into(), most.into());
            if value > most { Err(ExportError::OutOfRange { what, value, most }) } else { Ok(()) }
        };
        within("the number of traffic classes", traffic_classes, MOST_CLASSES)?;
        let mut dscps: Vec<(u8, String)> = vec![(lossy.dscp, "lossy traffic".to_owned())];
        let mut priorities: Vec<(u8, String)> = vec![(lossy.queue, "lossy traffic".to_owned())];
        within("DSCP", lossy.dscp, MOST_DSCP)?;
        within("queue", lossy.queue, MOST_PRIORITY)?;
        for mark in &lossless {
            within("DSCP", mark.dscp, MOST_DSCP)?;
            within("priority", mark.priority, MOST_PRIORITY)?;
            own("DSCP", &mut dscps, mark.dscp, format!("tag {}", mark.tag))?;
            own("priority", &mut priorities, mark.priority, format!("tag {}", mark.tag))?;
        }
        for kept in &kept {
            within("DSCP", kept.dscp, MOST_DSCP)?;
            within("queue", kept.queue, MOST_PRIORITY)?;
            own("DSCP", &mut dscps, kept.dscp, "kept traffic".to_owned())?;
            // A lossless queue that also held other packets would drop them or be delayed by them.
            if let Some((_, first)) = priorities[1..].iter().find(|(priority, _)| *priority == kept.queue) {
                let (first, second) = (first.clone(), format!("kept DSCP {}", kept.dscp));
                return Err(ExportError::Ambiguous { what: "queue", value: kept.queue, first, second });
            }
        }
        let marked = |tag: Tag| lossless.iter().any(|mark| mark.tag == tag);
        if let Some(&tag) = tags.iter().find(|&&tag| !marked(tag)) {
            return Err(ExportError::NoMark { tag });
        }
        let named = lossless.iter().flat_map(|mark| std::iter::once(mark.tag).chain(mark.at_host));
        if let Some(tag) = named.into_iter().find(|tag| !tags.contains(tag)) {
            return Err(ExportError::UnknownTag { tag });
        }
        Ok(Marks { lossless, lossy, kept, traffic_classes })
    }

    /// Creates markings for tags in order, on the priorities 3, 4, 5, 6, 2, 1, with DSCP 8 * priority + 2 (26 for the
    /// first, as is customary for RoCE), which agrees with a NIC's usual "priority = DSCP / 8". Lossy traffic has DSCP
    /// 0 and queue 0; there are eight traffic classes.
    ///
    /// # Errors
    /// [`ExportError::TooManyTags`]; [`ExportError::NoneForControl`] for seven tags.
    pub fn usual(tags: &[Tag]) -> Result<Marks, ExportError> {
        let mark = |(&tag, priority): (&Tag, u8)| Mark { tag, dscp: 8 * priority + 2, priority, at_host: None };
        check_count(tags)?;
        if tags.len() > USUAL_PRIORITIES.len() {
            return Err(ExportError::NoneForControl { tags: tags.len(), most: USUAL_PRIORITIES.len() });
        }
        let lossless = tags.iter().zip(USUAL_PRIORITIES).map(mark).collect();
        Marks::new(tags, lossless, Lossy { dscp: 0, queue: 0 }, Vec::new(), USUAL_CLASSES)
    }

    /// Returns the queues in use (of lossless tags, lossy traffic and kept traffic), ascending.
    pub fn queues(&self) -> Vec<u8> {
        let lossless = self.lossless.iter().map(|mark| mark.priority);
        let mut queues: Vec<u8> = lossless.chain(self.kept.iter().map(|kept| kept.queue)).collect();
        queues.push(self.lossy.queue);
        queues.sort_unstable();
        queues.dedup();
        queues
    }
    /// Returns the markings of lossless tags, ascending by tag.
    pub fn lossless(&self) -> &[Mark] {
        &self.lossless
    }
    /// Returns the marking of lossy traffic.
    pub fn lossy(&self) -> Lossy {
        self.lossy
    }
    /// Returns the traffic without tags that keeps its DSCP.
    pub fn kept(&self) -> &[Kept] {
        &self.kept
    }
    /// Returns the number of traffic classes of the ASIC.
    pub fn traffic_classes(&self) -> u8 {
        self.traffic_classes
    }

    /// Returns the marking of a lossless tag.
    ///
    /// # Panics
    /// If the tag was not in `tags` of [`Marks::new`].
    fn mark(&self, tag: Tag) -> Mark {
        let at = self.lossless.binary_search_by_key(&tag, |mark| mark.tag).expect("a tag of the rules");
        self.lossless[at]
    }
    /// Returns the DSCP of a lossless tag, or of lossy traffic.
    pub fn dscp(&self, tag: Option<Tag>) -> u8 {
        tag.map_or(self.lossy.dscp, |tag| self.mark(tag).dscp)
    }
    /// Returns the egress queue of a lossless tag, or of lossy traffic.
    pub fn queue(&self, tag: Option<Tag>) -> u8 {
        tag.map_or(self.lossy.queue, |tag| self.mark(tag).priority)
    }
    /// Returns the PFC priority of a lossless tag.
    pub fn priority(&self, tag: Tag) -> u8 {
        self.mark(tag).priority
    }
    /// Returns the tag that a host receives.
    pub fn at_host(&self, tag: Tag) -> Tag {
        self.mark(tag).at_host.unwrap_or(tag)
    }
    /// Returns the tag of a DSCP.
    pub fn tag_of(&self, dscp: u8) -> Option<Tag> {
        self.lossless.iter().find(|mark| mark.dscp == dscp).map(|mark| mark.tag)
    }
}

/// Checks that every tag can have its own priority, whatever the markings.
fn check_count(tags: &[Tag]) -> Result<(), ExportError> {
    if tags.len() > MAX_LOSSLESS_PRIORITIES {
        return Err(ExportError::TooManyTags { tags: tags.len() });
    }
    Ok(())
}

/// Records that `value` belongs to `who`; returns an error if it is taken.
fn own(what: &'static str, known: &mut Vec<(u8, String)>, value: u8, who: String) -> Result<(), ExportError> {
    if let Some((_, first)) = known.iter().find(|(taken, _)| *taken == value) {
        return Err(ExportError::Ambiguous { what, value, first: first.clone(), second: who });
    }
    known.push((value, who));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOSSY: Lossy = Lossy { dscp: 0, queue: 0 };

    fn mark(tag: Tag, dscp: u8, priority: u8) -> Mark {
        Mark { tag, dscp, priority, at_host: None }
    }

    fn refused(tags: &[Tag], marks: Vec<Mark>, kept: Vec<Kept>) -> String {
        Marks::new(tags, marks, LOSSY, kept, 8).unwrap_err().to_string()
    }

    #[test]
    fn the_usual_marks_put_a_nic_on_the_right_priority() {
        let marks = Marks::usual(&[1, 2]).unwrap();
        assert_eq!((marks.dscp(Some(1)), marks.priority(1), marks.dscp(None)), (26, 3, 0));
        assert!(marks.lossless().iter().all(|mark| mark.dscp / 8 == mark.priority));
        assert_eq!((marks.tag_of(34), marks.tag_of(35)), (Some(2), None));
        assert!(Marks::usual(&[1, 2, 3, 4, 5, 6]).is_ok());
        assert_eq!(Marks::usual(&[1, 2, 3, 4, 5, 6, 7]), Err(ExportError::NoneForControl { tags: 7, most: 6 }));
        assert_eq!(Marks::usual(&[1, 2, 3, 4, 5, 6, 7, 8]), Err(ExportError::TooManyTags { tags: 8 }));
    }

    #[test]
    fn seven_tags_can_be_marked_and_eight_cannot() {
        let stated = |tags: &[Tag]| -> Vec<Mark> { tags.iter().map(|&tag| mark(tag, 8 * tag + 2, tag % 8)).collect() };
        let seven = [1, 2, 3, 4, 5, 6, 7];
        let marks = Marks::new(&seven, stated(&seven), LOSSY, vec![], 8).unwrap();
        assert!(marks.lossless().iter().all(|mark| mark.priority != LOSSY.queue));
        let eight = [1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(refused(&eight[..7], stated(&eight), vec![]), "DSCP 66 is out of range: 0 to 63");
        assert!(refused(&eight, stated(&eight), vec![]).contains("at most 7 tags fit"));
    }

    #[test]
    fn ambiguous_entries_are_refused_by_name() {
        assert!(refused(&[1, 2], vec![mark(1, 26, 3), mark(2, 26, 4)], vec![]).contains("DSCP 26 stands for tag 1"));
        assert!(refused(&[1, 2], vec![mark(1, 26, 3), mark(2, 34, 3)], vec![]).contains("priority 3"));
        let twice = refused(&[1], vec![mark(1, 26, 3), mark(1, 10, 1)], vec![]);
        assert!(twice.starts_with("tag 1 stands for DSCP 26"), "{twice}");
        assert!(refused(&[1], vec![mark(1, 0, 3)], vec![]).contains("lossy traffic"));
        assert!(refused(&[1], vec![mark(1, 64, 3)], vec![]).contains("0 to 63"));
        assert!(refused(&[1], vec![mark(1, 26, 8)], vec![]).contains("0 to 7"));
        assert!(refused(&[1, 2], vec![mark(1, 26, 3)], vec![]).contains("tag 2 has no DSCP"));
        assert!(refused(&[1], vec![mark(1, 26, 3), mark(9, 34, 4)], vec![]).contains("no lossless tag 9"));
        let shared = Kept { dscp: 48, queue: 3 };
        assert!(refused(&[1], vec![mark(1, 26, 3)], vec![shared]).contains("queue 3"));
        let shared = Kept { dscp: 26, queue: 6 };
        assert!(refused(&[1], vec![mark(1, 26, 3)], vec![shared]).contains("DSCP 26"));
    }
}
