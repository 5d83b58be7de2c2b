//! Measures the CPU time per frame sent to another rank: to serialise it into a message, and to deserialise it.
//! Prints the minimum over many messages, because other processes may use the processor.
//!
//! ```text
//!   frames --pack--> message of 1,000 frames, with node and port of each --unpack--> frames
//! ```

use protocols::frame::Frame;
use std::hint::black_box;
use std::time::{Duration, Instant};
use units::Time;
use units::pack::Pack;

const FRAMES: u32 = 1_000;

fn main() {
    let frame =
        |number: u32| Frame { at: Time::from_ns(number.into()), flow: number, size_bytes: 1_058, ..Frame::default() };
    let frames: Vec<Frame> = (0..FRAMES).map(frame).collect();
    let (mut batch, mut read) = (Vec::new(), Vec::new());
    let (mut to_write, mut to_read) = (Duration::MAX, Duration::MAX);
    for _ in 0..10_000 {
        let begin = now();
        batch.clear();
        for frame in black_box(&frames) {
            frame.flow.pack(&mut batch);
            frame.in_port.pack(&mut batch);
            frame.pack(&mut batch);
        }
        let written = now();
        read.clear();
        let mut rest = black_box(&batch[..]);
        while let (Some(node), Some(port), Some(frame)) =
            (u32::unpack(&mut rest), u16::unpack(&mut rest), Frame::unpack(&mut rest))
        {
            read.push((node, port, frame));
        }
        to_write = to_write.min(written - begin);
        to_read = to_read.min(written.elapsed());
    }
    assert!(read.iter().map(|it| it.2).eq(frames));
    let each = |time: Duration| time.as_nanos() as f64 / f64::from(FRAMES);
    let bytes = batch.len() / FRAMES as usize;
    println!("a frame takes {bytes} bytes, {:.1} ns to write and {:.1} ns to read", each(to_write), each(to_read));
}

#[expect(clippy::disallowed_methods, reason = "for what a machine needs, which no result depends on")]
fn now() -> Instant {
    Instant::now()
}
