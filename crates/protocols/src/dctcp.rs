//! DCTCP (RFC 8257; Alizadeh et al., SIGCOMM 2010): its additions to [`crate::tcp`]. The receiver echoes marks exactly;
//! the sender estimates alpha, the share of marked bytes, and reduces its window by the fraction alpha / 2.

use crate::parameters::parameters;

parameters! {
    /// The parameters that DCTCP adds to those of TCP.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct DctcpParameters: Transport "dctcp" {
        title: "TCP whose window follows the share of marked bytes";
        source: "RFC 8257; Alizadeh et al., SIGCOMM 2010";
        over: crate::tcp::parameters::MECHANISM,
            without ["cubic_scale", "cubic_beta", "vegas_alpha", "vegas_beta", "vegas_gamma", "ecn"],
            default [("min_rto", "10ms", "Alizadeh et al., sec. 4: RTO_min 10 ms")];
        /// Weight of a window's share of marked bytes in alpha (g).
        gain: f64 = "gain" share, default "0.0625",
            "weight g of the latest window in alpha, 0 to 1",
            "RFC 8257, 3.3; Alizadeh et al.: 1/16";
        /// Alpha before the first window.
        initial_alpha: f64 = "initial_alpha" share, default "1",
            "alpha before the first window, 0 to 1: with 1 the first mark halves the window",
            "RFC 8257, 3.3";
    }
}

/// State variable DCTCP.CE of a receiver (RFC 8257, 3.2).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CeEcho {
    ce: bool,
}

impl CeEcho {
    /// Stores whether a segment is CE-marked. Returns true if this differs from the previous segment.
    pub(crate) fn changes(&mut self, marked: bool) -> bool {
        std::mem::replace(&mut self.ce, marked) != marked
    }
}

/// A sender's estimate of the share of marked bytes (RFC 8257, 3.3).
#[derive(Clone, Debug)]
pub(crate) struct Alpha {
    alpha: f64,
    acknowledged_bytes: u64,
    marked_bytes: u64,
    /// State variable DCTCP.WindowEnd (RFC 8257).
    window_end: u64,
}

impl Alpha {
    pub(crate) fn new(parameters: &DctcpParameters) -> Self {
        Alpha { alpha: parameters.initial_alpha, acknowledged_bytes: 0, marked_bytes: 0, window_end: 0 }
    }

    /// Handles an acknowledgement of `bytes` new bytes; `acknowledged` is the next byte that it expects, `echo` its
    /// ECN-Echo, `next` the next byte to send.
    pub(crate) fn on_ack(&mut self, gain: f64, bytes: u64, echo: bool, acknowledged: u64, next: u64) {
        // RFC 8257, 3.3, steps 1 to 3.
        self.acknowledged_bytes += bytes;
        if echo {
            self.marked_bytes += bytes;
        }
        if acknowledged <= self.window_end {
            return;
        }
        // RFC 8257, 3.3, steps 4 to 8. Each floating-point operation is correctly rounded, so results are equal on
        // every machine.
        let share = self.marked_bytes as f64 / self.acknowledged_bytes.max(1) as f64;
        self.alpha = self.alpha * (1.0 - gain) + gain * share;
        self.window_end = next;
        (self.acknowledged_bytes, self.marked_bytes) = (0, 0);
    }

    /// Returns alpha, 0 to 1.
    pub(crate) fn value(&self) -> f64 {
        self.alpha
    }

    /// Returns the window after a reduction of `cwnd_bytes` by the fraction alpha / 2 (RFC 8257, 3.3, step 9).
    pub(crate) fn cut(&self, cwnd_bytes: u64) -> u64 {
        (cwnd_bytes as f64 * (1.0 - self.alpha / 2.0)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alpha_converges_to_a_constant_share_of_marks() {
        let mut alpha = Alpha::new(&DctcpParameters::default());
        let mut at = 0;
        for i in 0..4000u64 {
            at += 1000;
            // Windows of ten segments, of which three are marked: alpha converges to 0.3.
            alpha.on_ack(0.0625, 1000, i % 10 < 3, at, at + 9000);
        }
        assert!((alpha.alpha - 0.3).abs() < 1e-9, "{}", alpha.alpha);
        assert!(alpha.cut(1_000_000).abs_diff(850_000) <= 1);
    }

    #[test]
    fn without_marks_alpha_decays_by_the_gain_each_window() {
        let mut alpha = Alpha::new(&DctcpParameters::default());
        let mut expected = 1.0;
        for window in 1..50 {
            alpha.on_ack(0.0625, 1000, false, window * 1000, window * 1000);
            expected *= 1.0 - 0.0625;
            assert_eq!(alpha.alpha, expected);
        }
    }
}
