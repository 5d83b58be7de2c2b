//! Scheduling problem (streams and links) and its result.

use crate::protocol::WireCost;
use crate::slot::{ConflictInterval, Slot, lcm};
use units::{Rate, Time};

/// Link in one direction: a sending port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Sending node.
    pub node: String,
    /// Port of the node.
    pub port: u16,
    /// Rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Time,
}

/// Periodic stream with one frame per period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamSpec {
    /// Name, unique among the streams.
    pub name: String,
    /// Time between frames.
    pub period: Time,
    /// Longest frame, from destination address to FCS.
    pub frame_bytes: u64,
    /// Preferred start within the period, below the period.
    pub start: Time,
    /// Maximum latency from the start of transmission to the arrival of the last bit.
    pub deadline: Option<Time>,
    /// Links of the path from the source on, by index in [`Problem::links`].
    pub path: Vec<usize>,
}

/// Error that makes a stream, or all, impossible to schedule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemError {
    /// The path of the stream has no links.
    #[error("stream `{stream}` has no path")]
    NoPath {
        /// Stream.
        stream: String,
    },
    /// A frame takes longer on a link than the stream's period: the stream's rate exceeds the link's.
    #[error(
        "stream `{stream}`: a frame of {frame_bytes} bytes keeps {link} busy for {takes}, \
         longer than its period of {period}"
    )]
    LongerThanPeriod {
        /// Stream.
        stream: String,
        /// Frame length, in bytes.
        frame_bytes: u64,
        /// Node and port of the link.
        link: String,
        /// Time of a frame on the link.
        takes: Time,
        /// Period.
        period: Time,
    },
    /// The latency exceeds the deadline even without other streams.
    #[error(
        "stream `{stream}`: a frame takes {takes} along its path if it never waits, and the deadline is {deadline}"
    )]
    Deadline {
        /// Stream.
        stream: String,
        /// Latency.
        takes: Time,
        /// Deadline.
        deadline: Time,
    },
    /// The least common multiple of the periods exceeds the bound.
    #[error("the periods up to that of stream `{stream}` have no common multiple of at most {bound}")]
    Cycle {
        /// First stream, in order, whose period makes the multiple exceed `bound`.
        stream: String,
        /// Bound.
        bound: Time,
    },
    /// A link has more frames per hyperperiod than a gate list may contain.
    #[error("{link} has {frames} frames in the cycle of all streams up to `{stream}`, and at most 1000000 are allowed")]
    Frames {
        /// First stream, in order, with which the number of frames exceeds the limit.
        stream: String,
        /// Node and port of the link.
        link: String,
        /// Number of frames.
        frames: u64,
    },
}

/// Maximum number of frames on a link per hyperperiod of the streams.
const MOST_FRAMES: u64 = 1_000_000;

/// Streams to schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Links of all paths.
    pub links: Vec<Link>,
    /// Streams.
    pub streams: Vec<StreamSpec>,
    /// Wire overhead of a frame.
    pub wire: WireCost,
    /// Processing time of a node, from a frame's last bit to the earliest start of its transmission.
    pub processing: Time,
    /// Granularity of the sources' starts; above zero.
    pub grid: Time,
    /// Upper bound on the hyperperiod, the least common multiple of the periods.
    pub max_cycle: Time,
}

impl Problem {
    /// Checks that each stream could have slots without the others.
    ///
    /// # Errors
    /// The first stream that could not, or with which the hyperperiod or its number of frames becomes too large.
    pub fn check(&self) -> Result<(), ProblemError> {
        let mut cycle = Time::from_ps(1);
        for stream in &self.streams {
            let name = || stream.name.clone();
            if stream.path.is_empty() {
                return Err(ProblemError::NoPath { stream: name() });
            }
            for &link in &stream.path {
                let (takes, period) = (self.length(stream, link), stream.period);
                if takes > period {
                    let Link { node, port, .. } = &self.links[link];
                    let (frame_bytes, link) = (stream.frame_bytes, format!("port {port} of {node}"));
                    return Err(ProblemError::LongerThanPeriod { stream: name(), frame_bytes, link, takes, period });
                }
            }
            let takes = self.latency(stream);
            if let Some(deadline) = stream.deadline.filter(|&deadline| takes > deadline) {
                return Err(ProblemError::Deadline { stream: name(), takes, deadline });
            }
            match lcm(cycle, stream.period).filter(|&cycle| cycle <= self.max_cycle) {
                Some(longer) => cycle = longer,
                None => return Err(ProblemError::Cycle { stream: name(), bound: self.max_cycle }),
            }
        }
        let mut frames = vec![0u64; self.links.len()];
        for stream in &self.streams {
            for &link in &stream.path {
                frames[link] = frames[link].saturating_add(cycle / stream.period);
                if frames[link] > MOST_FRAMES {
                    let Link { node, port, .. } = &self.links[link];
                    let (stream, link) = (stream.name.clone(), format!("port {port} of {node}"));
                    return Err(ProblemError::Frames {
                        stream,
                        link,
                        frames: frames.iter().copied().max().unwrap_or(0),
                    });
                }
            }
        }
        Ok(())
    }

    /// Returns the time for which a frame of the stream occupies a link: the length of its slot on this link.
    pub fn length(&self, stream: &StreamSpec, link: usize) -> Time {
        self.wire.slot(self.links[link].rate, stream.frame_bytes)
    }

    /// Returns the start offsets at each link of the path relative to the source, for a frame that never waits.
    pub fn offsets(&self, stream: &StreamSpec) -> Vec<Time> {
        let mut at = Time::ZERO;
        let offset = |&link: &usize| {
            let here = at;
            at += self.passage(stream, link) + self.processing;
            here
        };
        stream.path.iter().map(offset).collect()
    }

    /// Returns the time from the start of a transmission to the arrival of its last bit at the other end.
    pub fn passage(&self, stream: &StreamSpec, link: usize) -> Time {
        self.wire.transmission(self.links[link].rate, stream.frame_bytes) + self.links[link].delay
    }

    /// Returns the latency of a frame that never waits, from the start of transmission at the source to the arrival of
    /// the last bit.
    pub fn latency(&self, stream: &StreamSpec) -> Time {
        let last = stream.path.last().map_or(Time::ZERO, |&link| self.passage(stream, link));
        self.offsets(stream).last().map_or(last, |&offset| offset + last)
    }
}

/// Slots of one stream: start of the first period's frame on each link of its path.
pub type Starts = Vec<Time>;

/// Reason that a stream has no slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// Stream, by index.
    pub stream: usize,
    /// First link of the path, by index, such that every start is blocked on the links up to it; the last link if
    /// `late`.
    pub link: usize,
    /// Set if every link has a free start, but waiting frames would miss the deadline.
    pub late: bool,
    /// Streams with slots on this link, and these slots.
    pub holders: Vec<(usize, Slot)>,
}

/// Result: slots for streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Slots of each stream of the problem, if any.
    pub starts: Vec<Option<Starts>>,
    /// Reasons for streams without slots.
    pub rejected: Vec<Rejection>,
    /// Set if it is proved that no more streams can have slots on this grid.
    pub most: bool,
}

impl Schedule {
    /// Returns the number of streams with slots.
    pub fn accepted(&self) -> usize {
        self.starts.iter().flatten().count()
    }
}

/// Streams and slots on each link.
#[derive(Clone, Debug, Default)]
pub(crate) struct Occupancy {
    links: Vec<Vec<(usize, Slot)>>,
}

impl Occupancy {
    pub fn new(problem: &Problem) -> Occupancy {
        Occupancy { links: vec![Vec::new(); problem.links.len()] }
    }

    pub fn holders(&self, link: usize) -> &[(usize, Slot)] {
        &self.links[link]
    }

    pub fn insert(&mut self, problem: &Problem, stream: usize, starts: &[Time]) {
        let spec = &problem.streams[stream];
        for (&link, &start) in spec.path.iter().zip(starts) {
            self.links[link].push((stream, Slot::new(start, problem.length(spec, link), spec.period)));
        }
    }

    pub fn remove(&mut self, problem: &Problem, stream: usize) {
        for &link in &problem.streams[stream].path {
            self.links[link].retain(|&(holder, _)| holder != stream);
        }
    }

    /// Returns, by link of the path, the starts of the source at which its slot would overlap the slot of another
    /// stream, or the end of its own period. Slots across the end of a period are avoided, because the gate lists of
    /// some tools cannot represent slots across the end of the gating cycle.
    pub fn blocked(
        &self,
        problem: &Problem,
        stream: usize,
    ) -> impl Iterator<Item = (usize, Vec<(usize, ConflictInterval)>)> {
        let spec = &problem.streams[stream];
        spec.path.iter().zip(problem.offsets(spec)).map(move |(&link, offset)| {
            let own = Slot::new(offset, problem.length(spec, link), spec.period);
            let by = |&(holder, slot): &(usize, Slot)| (holder, ConflictInterval::by(&own, &slot));
            let mut all: Vec<(usize, ConflictInterval)> = self.links[link].iter().map(by).collect();
            let period_ps = spec.period.as_ps();
            let last = own.length().as_ps().saturating_sub(1);
            let first_ps = (2 * period_ps - own.start().as_ps() - last) % period_ps;
            all.push((stream, ConflictInterval { first_ps, length_ps: last, modulus_ps: period_ps }));
            (link, all)
        })
    }
}

/// Returns the reasons for streams without slots, given the slots of all others.
pub(crate) fn explain(problem: &Problem, starts: &[Option<Starts>], occupancy: &Occupancy) -> Vec<Rejection> {
    let rejected = starts.iter().enumerate().filter(|(_, starts)| starts.is_none());
    let why = |(stream, _): (usize, &Option<Starts>)| {
        let spec = &problem.streams[stream];
        let mut blocked: Vec<ConflictInterval> = Vec::new();
        let mut full = |(_, here): &(usize, Vec<(usize, ConflictInterval)>)| {
            blocked.extend(here.iter().map(|&(_, interval)| interval));
            crate::slot::smallest_free_shift(&blocked, problem.grid, spec.period).is_none()
        };
        let found = occupancy.blocked(problem, stream).find(&mut full).map(|(link, _)| link);
        let link = found.unwrap_or(*spec.path.last().unwrap_or(&0));
        Rejection { stream, link, late: found.is_none(), holders: occupancy.holders(link).to_vec() }
    };
    rejected.map(why).collect()
}
