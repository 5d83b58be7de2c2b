//! The earliest of one time per port, where one port changes at a time.

use units::Time;

const GROUP: usize = 8;

/// A time per port and the least of them.
#[derive(Clone, Debug)]
pub(crate) struct Due {
    times: Vec<Time>,
    groups: Vec<Time>,
    next: Time,
    port: u16,
}

impl Due {
    /// Never, for each of `ports` ports.
    pub fn new(ports: usize) -> Self {
        let groups = ports.div_ceil(GROUP).max(1);
        Due { times: vec![Time::MAX; groups * GROUP], groups: vec![Time::MAX; groups], next: Time::MAX, port: 0 }
    }

    /// Asks the processor for the times.
    pub fn approach(&self) {
        engine::prefetch(self.times.as_slice());
        engine::prefetch(self.groups.as_slice());
    }

    /// The earliest time and its port, the lowest port at ties.
    #[inline]
    pub fn next(&self) -> (Time, u16) {
        (self.next, self.port)
    }

    /// The time of `port`.
    #[inline]
    pub fn at(&self, port: u16) -> Time {
        self.times[port as usize]
    }

    /// Sets the time of `port` to one that is no later than it was.
    #[inline]
    pub fn lower(&mut self, port: u16, at: Time) {
        let index = port as usize;
        self.times[index] = at;
        let group = &mut self.groups[index / GROUP];
        *group = (*group).min(at);
        if at < self.next || (at == self.next && port < self.port) {
            (self.next, self.port) = (at, port);
        }
    }

    /// Sets the time of `port`.
    #[inline]
    pub fn set(&mut self, port: u16, at: Time) {
        let index = port as usize;
        let before = self.times[index];
        if at <= before {
            return self.lower(port, at);
        }
        self.times[index] = at;
        let group = index / GROUP;
        if self.groups[group] == before {
            let mut least = Time::MAX;
            for &time in &self.times[group * GROUP..group * GROUP + GROUP] {
                least = least.min(time);
            }
            self.groups[group] = least;
        }
        if port == self.port {
            self.rescan();
        }
    }

    fn rescan(&mut self) {
        let (mut best, mut group) = (self.groups[0], 0);
        for (index, &time) in self.groups.iter().enumerate().skip(1) {
            if time < best {
                (best, group) = (time, index);
            }
        }
        let first = group * GROUP;
        let mut offset = 0;
        for (index, &time) in self.times[first..first + GROUP].iter().enumerate().rev() {
            offset = if time == best { index } else { offset };
        }
        (self.next, self.port) = (best, (first + offset) as u16);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    #[test]
    fn agrees_with_a_full_scan() {
        for ports in [1, 7, 8, 9, 16, 64, 130] {
            let mut stream = Stream::new(ports as u64, 0, 0);
            let mut due = Due::new(ports);
            let mut times = vec![Time::MAX; ports];
            for _ in 0..20_000 {
                let port = stream.below(ports as u64) as usize;
                let at = if stream.below(3) == 0 { Time::MAX } else { Time::from_ps(stream.below(50)) };
                times[port] = at;
                due.set(port as u16, at);
                let expected = times.iter().copied().enumerate().min_by_key(|&(port, at)| (at, port)).unwrap();
                assert_eq!(due.next().0, expected.1);
                if expected.1 < Time::MAX {
                    assert_eq!(usize::from(due.next().1), expected.0);
                }
            }
        }
    }
}
