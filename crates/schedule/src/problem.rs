//! Which streams want slots, on which links; and what came of it.

use crate::protocol::WireCost;
use crate::slot::{Blocked, Slot, lcm};
use units::{Rate, Time};

/// A link in one direction: the port that sends onto it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The node that sends.
    pub node: String,
    /// Its port.
    pub port: u16,
    /// The rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Time,
}

/// A periodic stream: one frame in each period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamSpec {
    /// Unique among the streams.
    pub name: String,
    /// From one frame to the next.
    pub period: Time,
    /// The longest frame, from destination address to FCS.
    pub frame_bytes: u64,
    /// Where in the period it would like to start, below the period.
    pub start: Time,
    /// The longest way that it allows from the start of transmission to the last bit's arrival.
    pub deadline: Option<Time>,
    /// The links of its path, by their index in [`Problem::links`], from the source on.
    pub path: Vec<usize>,
}

/// What makes a stream or all of them impossible before any slot is looked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProblemError {
    /// There are no links between its ends.
    #[error("stream `{stream}` has no path")]
    NoPath {
        /// Which.
        stream: String,
    },
    /// A frame takes longer on a link than the stream's period: its rate is above the link's.
    #[error(
        "stream `{stream}`: a frame of {frame_bytes} bytes keeps {link} busy for {takes}, \
         longer than its period of {period}"
    )]
    LongerThanPeriod {
        /// Which.
        stream: String,
        /// Its frame.
        frame_bytes: u64,
        /// The node and port of the link.
        link: String,
        /// How long a frame takes there.
        takes: Time,
        /// The period.
        period: Time,
    },
    /// Alone on its path it comes too late.
    #[error(
        "stream `{stream}`: a frame takes {takes} along its path if it never waits, and the deadline is {deadline}"
    )]
    Deadline {
        /// Which.
        stream: String,
        /// How long.
        takes: Time,
        /// How long it may.
        deadline: Time,
    },
    /// The least common multiple of the periods is too long for a list of gates.
    #[error("the periods up to that of stream `{stream}` have no common multiple of at most {bound}")]
    Cycle {
        /// With which it becomes too long.
        stream: String,
        /// The bound.
        bound: Time,
    },
    /// A link would have more frames in a cycle than a list of gates could speak of.
    #[error("{link} has {frames} frames in the cycle of all streams up to `{stream}`, and at most 1000000 are allowed")]
    Frames {
        /// With which there are too many.
        stream: String,
        /// The node and port of the link.
        link: String,
        /// How many.
        frames: u64,
    },
}

/// Frames on a link in a cycle.
const MOST_FRAMES: u64 = 1_000_000;

/// Streams that want slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// All links that paths speak of.
    pub links: Vec<Link>,
    /// The streams.
    pub streams: Vec<StreamSpec>,
    /// What a frame costs.
    pub wire: WireCost,
    /// How long a node takes from a frame's last bit to when it may start to send it.
    pub processing: Time,
    /// Starts of sources are multiples of this; above zero.
    pub grid: Time,
    /// The longest common multiple of periods that is allowed.
    pub max_cycle: Time,
}

impl Problem {
    /// Whether each stream could have slots if it were alone.
    ///
    /// # Errors
    /// The first stream that could not, or with which the cycle becomes too long.
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

    /// How long a frame of the stream keeps a link busy: its slot there.
    pub fn length(&self, stream: &StreamSpec, link: usize) -> Time {
        self.wire.slot(self.links[link].rate, stream.frame_bytes)
    }

    /// From the start of transmission at the source to that at each link of the path, for a frame that never waits.
    pub fn offsets(&self, stream: &StreamSpec) -> Vec<Time> {
        let mut at = Time::ZERO;
        let offset = |&link: &usize| {
            let here = at;
            at += self.passage(stream, link) + self.processing;
            here
        };
        stream.path.iter().map(offset).collect()
    }

    /// From the start of a transmission to the arrival of its last bit at the other end.
    pub fn passage(&self, stream: &StreamSpec, link: usize) -> Time {
        self.wire.transmission(self.links[link].rate, stream.frame_bytes) + self.links[link].delay
    }

    /// From the start of transmission at the source to the arrival of the last bit, for a frame that never waits.
    pub fn latency(&self, stream: &StreamSpec) -> Time {
        let last = stream.path.last().map_or(Time::ZERO, |&link| self.passage(stream, link));
        self.offsets(stream).last().map_or(last, |&offset| offset + last)
    }
}

/// The slots of one stream: when its frame of the first period starts on each link of its path.
pub type Starts = Vec<Time>;

/// Why a stream has no slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The stream, by its index.
    pub stream: usize,
    /// The first link of its path, by index, up to which no start is left free of others.
    pub link: usize,
    /// There is a free start at every link, but frames would wait on their way and come after the deadline.
    pub late: bool,
    /// The streams that hold slots there, with these.
    pub holders: Vec<(usize, Slot)>,
}

/// Slots for streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// For each stream of the problem its slots, if it has any.
    pub starts: Vec<Option<Starts>>,
    /// Why the others have none.
    pub rejected: Vec<Rejection>,
    /// That no more streams can have slots was proved, on this grid.
    pub most: bool,
}

impl Schedule {
    /// How many streams have slots.
    pub fn accepted(&self) -> usize {
        self.starts.iter().flatten().count()
    }
}

/// Who holds which slot on each link.
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

    /// Starts of the source at which no frame of the stream may start, by link of the path: those at which its slot
    /// would overlap another's, or the end of its period. A slot over the end of a period would be one over the end of
    /// a cycle, which not every tool's lists of gates can say.
    pub fn blocked(&self, problem: &Problem, stream: usize) -> impl Iterator<Item = (usize, Vec<(usize, Blocked)>)> {
        let spec = &problem.streams[stream];
        spec.path.iter().zip(problem.offsets(spec)).map(move |(&link, offset)| {
            let own = Slot::new(offset, problem.length(spec, link), spec.period);
            let by = |&(holder, slot): &(usize, Slot)| (holder, Blocked::by(&own, &slot));
            let mut all: Vec<(usize, Blocked)> = self.links[link].iter().map(by).collect();
            let period_ps = spec.period.as_ps();
            let last = own.length().as_ps().saturating_sub(1);
            let first_ps = (2 * period_ps - own.start().as_ps() - last) % period_ps;
            all.push((stream, Blocked { first_ps, length_ps: last, modulus_ps: period_ps }));
            (link, all)
        })
    }
}

/// Why each stream without slots has none, seen with all others in place.
pub(crate) fn explain(problem: &Problem, starts: &[Option<Starts>], occupancy: &Occupancy) -> Vec<Rejection> {
    let rejected = starts.iter().enumerate().filter(|(_, starts)| starts.is_none());
    let why = |(stream, _): (usize, &Option<Starts>)| {
        let spec = &problem.streams[stream];
        let mut blocked: Vec<Blocked> = Vec::new();
        let mut full = |(_, here): &(usize, Vec<(usize, Blocked)>)| {
            blocked.extend(here.iter().map(|&(_, interval)| interval));
            crate::slot::smallest_free_shift(&blocked, problem.grid, spec.period).is_none()
        };
        let found = occupancy.blocked(problem, stream).find(&mut full).map(|(link, _)| link);
        let link = found.unwrap_or(*spec.path.last().unwrap_or(&0));
        Rejection { stream, link, late: found.is_none(), holders: occupancy.holders(link).to_vec() }
    };
    rejected.map(why).collect()
}
