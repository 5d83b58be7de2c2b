//! Limits of buffers and queues.

/// A buffer threshold, either a fixed size or proportional to the free part of the shared buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// A fixed size.
    Static {
        /// Size, in bytes.
        bytes: u64,
    },
    /// `alpha` times the free part of the shared buffer (Choudhury and Hahne, 1998).
    Dynamic {
        /// Numerator and denominator of alpha, both positive.
        alpha: (u32, u32),
    },
}

/// A limit or watermark of a queue length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// Total bytes of the frames in a queue.
    Bytes(u64),
    /// Number of frames in a queue.
    Packets(u32),
}

impl QueueLimit {
    /// Returns whether a frame of `size_bytes` fits into a queue that holds `frames` frames of `bytes` in total.
    #[inline]
    pub fn fits(&self, frames: usize, bytes: u64, size_bytes: u16) -> bool {
        match *self {
            QueueLimit::Bytes(most) => bytes + u64::from(size_bytes) <= most,
            QueueLimit::Packets(most) => frames < most as usize,
        }
    }
}

/// Parses a fraction or a decimal number, without rounding. Returns numerator and denominator in lowest terms.
pub fn fraction(text: &str) -> Option<(u32, u32)> {
    let (numerator, denominator) = match text.split_once('/') {
        Some((numerator, denominator)) => (numerator.trim().parse().ok()?, denominator.trim().parse().ok()?),
        None => {
            let (whole, fraction) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
            let fraction = fraction.trim_end_matches('0');
            let denominator = 10u32.checked_pow(u32::try_from(fraction.len()).ok()?)?;
            (format!("{whole}{fraction}").parse().ok()?, denominator)
        }
    };
    let divisor = greatest_common_divisor(numerator, denominator).max(1);
    Some((numerator / divisor, denominator / divisor))
}

fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}
