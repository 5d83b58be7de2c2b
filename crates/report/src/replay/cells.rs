//! Values of ports or nodes per frame of the replay (a time interval), and their compact encoding for the page.

use std::collections::BTreeMap;

/// Division of the run into replay frames of equal length; the last frame may be shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    /// Length of a frame in ps; above 0.
    pub step_ps: u64,
    /// Length of the run, in ps.
    pub end_ps: u64,
}

impl Grid {
    /// Returns the number of frames, at least one.
    pub fn frames(self) -> u32 {
        u32::try_from(self.end_ps.div_ceil(self.step_ps)).unwrap_or(u32::MAX).max(1)
    }

    /// Returns the frame of a sample at `at_ps`. A sample at the boundary of two frames belongs to the earlier frame,
    /// because the sample covers the time before `at_ps`.
    pub fn frame(self, at_ps: u64) -> u32 {
        u32::try_from(at_ps.saturating_sub(1) / self.step_ps).unwrap_or(u32::MAX).min(self.frames() - 1)
    }

    fn start_ps(self, frame: u32) -> u64 {
        u64::from(frame).saturating_mul(self.step_ps)
    }

    fn end_of_ps(self, frame: u32) -> u64 {
        self.start_ps(frame).saturating_add(self.step_ps).min(self.end_ps)
    }

    fn length_ps(self, frame: u32) -> u64 {
        self.end_of_ps(frame).saturating_sub(self.start_ps(frame)).max(1)
    }

    /// Returns a grid with frames that are `factor` times as long.
    pub fn coarser(self, factor: u32) -> Grid {
        Grid { step_ps: self.step_ps.saturating_mul(factor.into()), ..self }
    }
}

/// Meaning of the cells' values, which determines how frames are merged and how values are scaled for the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CellEncoding {
    /// A cell is a sum of samples, each at most `whole` and one every `every_ps` ps; the page gets their mean in
    /// thousandths of `whole`.
    Mean { whole: u64, every_ps: u64 },
    /// A cell is a duration in ps within the frame; the page gets its share of the frame's length in thousandths.
    Share,
    /// A cell is a maximum; the page gets it in multiples of `unit`, rounded.
    Most { unit: u64 },
    /// A cell is a count.
    Count,
}

/// Values by index of a port or node: (frame, value) with ascending frames; frames without an entry have the value
/// zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cells(BTreeMap<usize, Vec<(u32, u64)>>);

impl Cells {
    /// Replaces the value of a cell by `change(value)`. `frame` must not be lower than in the previous call for this
    /// index.
    pub fn change(&mut self, index: usize, frame: u32, change: impl FnOnce(u64) -> u64) {
        let cells = self.0.entry(index).or_default();
        match cells.last_mut() {
            Some((last, value)) if *last >= frame => *value = change(*value),
            _ => cells.push((frame, change(0))),
        }
    }

    /// Adds each frame's share of the time span `from_ps..to_ps` to this frame's cell. Spans of one index must be in
    /// order.
    pub fn add_span(&mut self, grid: Grid, index: usize, from_ps: u64, to_ps: u64) {
        let to_ps = to_ps.min(grid.end_ps);
        if from_ps >= to_ps {
            return;
        }
        for frame in (from_ps / grid.step_ps) as u32..=grid.frame(to_ps) {
            let inside = to_ps.min(grid.end_of_ps(frame)) - from_ps.max(grid.start_ps(frame));
            self.change(index, frame, |sum| sum + inside);
        }
    }

    /// Returns the maximum over all cells.
    pub fn most(&self) -> u64 {
        self.0.values().flatten().map(|cell| cell.1).max().unwrap_or(0)
    }

    /// Encodes the changes of the value of each index, with `factor` frames of `grid` merged into one frame:
    ///
    /// ```text
    ///   index - previous index | number of changes | (frames since the last change, value - last value) ...
    /// ```
    ///
    /// All numbers are LEB128; value differences are zigzag-encoded. The initial value of each index, at frame 0, is 0.
    pub fn packed(&self, grid: Grid, factor: u32, meaning: CellEncoding) -> Vec<u8> {
        let coarse = grid.coarser(factor);
        let mut bytes = Vec::new();
        let mut before = 0;
        for (&index, cells) in &self.0 {
            let mut changes: Vec<(u32, u64)> = Vec::new();
            let mut change = |frame: u32, value: u64| {
                if changes.last().map_or(0, |last| last.1) != value {
                    changes.push((frame, value));
                }
            };
            let mut next = 0;
            for same in cells.chunk_by(|a, b| a.0 / factor == b.0 / factor) {
                let frame = same[0].0 / factor;
                let values = same.iter().map(|cell| cell.1);
                let value = match meaning {
                    CellEncoding::Mean { whole, every_ps } => {
                        let samples = coarse.end_of_ps(frame) / every_ps - coarse.start_ps(frame) / every_ps;
                        thousandths(values.sum(), whole.saturating_mul(samples.max(1)))
                    }
                    CellEncoding::Share => thousandths(values.sum(), coarse.length_ps(frame)),
                    CellEncoding::Most { unit } => scaled(values.max().unwrap_or(0), unit, 1),
                    CellEncoding::Count => values.sum(),
                };
                if frame > next {
                    change(next, 0);
                }
                change(frame, value);
                next = frame + 1;
            }
            if next < coarse.frames() {
                change(next, 0);
            }
            leb128(&mut bytes, (index - before) as u64);
            before = index;
            leb128(&mut bytes, changes.len() as u64);
            let (mut last_frame, mut last) = (0, 0_i64);
            for (frame, value) in changes {
                leb128(&mut bytes, u64::from(frame - last_frame));
                let value = i64::try_from(value).unwrap_or(i64::MAX);
                let difference = value.wrapping_sub(last);
                leb128(&mut bytes, (difference << 1 ^ difference >> 63) as u64);
                (last_frame, last) = (frame, value);
            }
        }
        bytes
    }
}

fn thousandths(value: u64, whole: u64) -> u64 {
    scaled(value, whole, 1000)
}

/// Returns `value * parts / whole`, rounded to the nearest integer, but at least 1 for a nonzero value.
fn scaled(value: u64, whole: u64, parts: u64) -> u64 {
    if value == 0 {
        return 0;
    }
    let whole = u128::from(whole.max(1));
    let rounded = (u128::from(value) * u128::from(parts) + whole / 2) / whole;
    u64::try_from(rounded).unwrap_or(u64::MAX).max(1)
}

fn leb128(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Decodes packed bytes as the page does; returns the values by index and frame.
    pub(crate) fn unpacked(bytes: &[u8], frames: u32) -> BTreeMap<usize, Vec<u64>> {
        let mut at = 0;
        let mut next = || {
            let (mut value, mut shift) = (0_u64, 0);
            loop {
                let byte = bytes[at];
                at += 1;
                value |= u64::from(byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    return (value, at == bytes.len());
                }
            }
        };
        let mut all = BTreeMap::new();
        let (mut index, mut done) = (0, bytes.is_empty());
        while !done {
            index += next().0 as usize;
            let changes = next();
            done = changes.1;
            let (mut frame, mut value, mut values) = (0, 0_i64, Vec::new());
            for _ in 0..changes.0 {
                frame += next().0;
                values.resize(frame as usize, value as u64);
                let (zigzag, end) = next();
                value += (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
                done = end;
            }
            values.resize(frames as usize, value as u64);
            all.insert(index, values);
        }
        all
    }

    #[test]
    fn what_is_packed_comes_back() {
        let grid = Grid { step_ps: 10, end_ps: 75 };
        assert_eq!(grid.frames(), 8);
        assert_eq!([0, 1, 10, 11, 75, 99].map(|at| grid.frame(at)), [0, 0, 0, 1, 7, 7]);
        let mut cells = Cells::default();
        for (index, frame, value) in [(3, 0, 500), (3, 0, 100), (3, 1, 600), (3, 4, 7), (200, 7, 300)] {
            cells.change(index, frame, |before| before + value);
        }
        let packed = |factor, meaning| unpacked(&cells.packed(grid, factor, meaning), grid.coarser(factor).frames());
        let counts = packed(1, CellEncoding::Count);
        assert_eq!(counts[&3], [600, 600, 0, 0, 7, 0, 0, 0]);
        assert_eq!(counts[&200], [0, 0, 0, 0, 0, 0, 0, 300]);
        assert_eq!(packed(3, CellEncoding::Count)[&3], [1200, 7, 0]);
        // Sampling interval 5 ps, frames of 10 ps: two samples per frame, but the last frame, from 70 to 75 ps, has
        // only one.
        let mean = CellEncoding::Mean { whole: 1000, every_ps: 5 };
        assert_eq!(packed(1, mean)[&3], [300, 300, 0, 0, 4, 0, 0, 0]);
        assert_eq!(packed(1, mean)[&200][7], 300);
        assert_eq!(packed(4, mean)[&200][1], 43, "300 of seven samples");
        assert_eq!(
            packed(1, CellEncoding::Most { unit: 100 })[&3],
            [6, 6, 0, 0, 1, 0, 0, 0],
            "7 bytes are not nothing"
        );
        assert_eq!(packed(2, CellEncoding::Most { unit: 1 })[&3], [600, 0, 7, 0]);
        assert_eq!((cells.most(), Cells::default().most()), (600, 0));
        assert!(unpacked(&Cells::default().packed(grid, 1, CellEncoding::Count), 8).is_empty());
    }

    #[test]
    fn a_span_falls_into_its_frames() {
        let grid = Grid { step_ps: 10, end_ps: 35 };
        let mut cells = Cells::default();
        for (from, to) in [(3, 5), (8, 10), (10, 10), (19, 32), (34, 90)] {
            cells.add_span(grid, 1, from, to);
        }
        let shares = unpacked(&cells.packed(grid, 1, CellEncoding::Share), 4);
        assert_eq!(shares[&1], [400, 100, 1000, 600], "the last frame is half as long");
        assert_eq!(unpacked(&cells.packed(grid, 2, CellEncoding::Share), 2)[&1], [250, 867]);
    }
}
