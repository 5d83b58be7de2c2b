//! Random draws from non-uniform distributions.

use units::Time;
use units::random::Stream;

/// Returns the component of the random streams of one host in one traffic entry.
pub(crate) fn component(traffic: u8, host: u32) -> u64 {
    u64::from(traffic) << 32 | u64::from(host)
}

/// Draws an exponentially distributed time with this mean. The deviate of mean 1 is converted to fixed point with 32
/// binary places; the time itself is never a float. It is capped at 2^63 ps, so that sums cannot overflow.
pub(crate) fn exponential(stream: &mut Stream, mean: Time) -> Time {
    // 1 - unit() is in (0, 1], so that the logarithm is finite; its absolute value is at most 53 ln 2 = 36.7.
    let deviate = -libm::log(1.0 - stream.unit());
    let fixed = libm::round(deviate * (1u64 << 32) as f64) as u64;
    let wide = (u128::from(mean.as_ps()) * u128::from(fixed)) >> 32;
    Time::from_ps(u64::try_from(wide).unwrap_or(u64::MAX).min(1 << 63))
}

/// Draws a standard normal deviate, of mean 0 and standard deviation 1 (Box and Muller, 1958).
pub(crate) fn normal(stream: &mut Stream) -> f64 {
    // 1 - unit() is in (0, 1], so that the logarithm is finite.
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - stream.unit()));
    radius * libm::cos(2.0 * std::f64::consts::PI * stream.unit())
}

/// Draws a uniformly distributed time from 0 to `max`, inclusive.
pub(crate) fn jitter(stream: &mut Stream, max: Time) -> Time {
    match max.as_ps().checked_add(1) {
        Some(bound) => Time::from_ps(stream.below(bound)),
        None => Time::from_ps(stream.next_u64()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponential_has_its_mean_and_its_tail() {
        let mut stream = Stream::new(3, 0, 0);
        let mean = Time::from_us(10);
        let (mut sum, mut beyond) = (0u128, 0u32);
        const DRAWS: u32 = 200_000;
        for _ in 0..DRAWS {
            let drawn = exponential(&mut stream, mean);
            sum += u128::from(drawn.as_ps());
            beyond += u32::from(drawn > mean * 3);
        }
        // Standard error of the mean: mean / sqrt(200000), 0.22 %; of the tail share e^-3: 0.05 percentage points.
        let ratio = sum as f64 / f64::from(DRAWS) / mean.as_ps() as f64;
        assert!((ratio - 1.0).abs() < 0.01, "{ratio}");
        let tail = f64::from(beyond) / f64::from(DRAWS);
        assert!((tail - libm::exp(-3.0)).abs() < 0.002, "{tail}");
    }
}
