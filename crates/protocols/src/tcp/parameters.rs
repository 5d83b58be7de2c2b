//! The parameters of TCP and DCTCP.

use crate::dctcp::{self, DctcpParameters};
use crate::describe::Mechanism;
use crate::frame::MIN_FRAME_BYTES;
use crate::parameters::{OwnParameters, parameters};
use crate::settings::{self, ParameterError, require};
use crate::tcp::blocks::MOST_BLOCKS;
use units::Time;

/// Congestion control: growth of the window and reaction to loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionControl {
    /// RFC 5681: the first new acknowledgement ends fast recovery.
    Reno,
    /// RFC 6582: fast recovery lasts until all bytes sent before the loss are acknowledged.
    NewReno,
    /// RFC 9438: the window is a function of the time since the last loss. Loss recovery as in NewReno.
    Cubic,
    /// Brakmo et al., SIGCOMM 1994: the window is controlled by the estimated number of queued segments of the flow.
    /// Loss recovery as in NewReno.
    Vegas,
    /// No reaction to loss or ECN marks: slow start up to the advertised window.
    Fixed,
}

/// Initial congestion window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialWindow {
    /// Two to four segments (RFC 5681, 3.1).
    Rfc5681,
    /// Ten segments, at most 14600 bytes or two segments (RFC 6928, 2).
    Rfc6928,
    /// Window in bytes, at least one segment.
    Bytes(u64),
}

impl InitialWindow {
    /// Returns the initial window in bytes for segments of `mss` bytes.
    pub fn bytes(self, mss: u64) -> u64 {
        match self {
            // RFC 5681, 3.1: the three cases of the initial window (IW).
            InitialWindow::Rfc5681 if mss > 2190 => 2 * mss,
            InitialWindow::Rfc5681 if mss > 1095 => 3 * mss,
            InitialWindow::Rfc5681 => 4 * mss,
            // RFC 6928, equation 1.
            InitialWindow::Rfc6928 => (10 * mss).min((2 * mss).max(14_600)),
            InitialWindow::Bytes(bytes) => bytes.max(mss),
        }
    }
}

/// Reaction to ECN marks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EcnMode {
    /// No ECN.
    Off,
    /// RFC 3168: an ECN mark counts as a loss, at most once per RTT.
    Classic,
    /// RFC 8257: the window is reduced by the fraction of ECN-marked bytes.
    Dctcp(DctcpParameters),
}

parameters! {
    /// Parameters of TCP, including those of DCTCP.
    #[derive(Clone, Debug, PartialEq)]
    pub struct TcpParameters: Transport "tcp" {
        title: "TCP Reno, NewReno, CUBIC and Vegas";
        source: "RFC 5681, RFC 6582, RFC 6298, RFC 3168, RFC 9438, RFC 2018, RFC 6675; Brakmo et al., SIGCOMM 1994";
        over: none;
        /// Payload of a full segment (SMSS).
        mss_bytes: u16 = "mss" frame_bytes, default "1460B",
            "payload of a full segment, at least 1 B",
            "RFC 9293, 3.7.1: an Ethernet frame of 1518 B without its headers; PABO's study: 536 B";
        /// Header bytes of a data frame, FCS included.
        header_bytes: u16 = "header" frame_bytes, default "58B",
            "bytes of a data frame that are no payload: Ethernet with FCS 18, IPv4 20, TCP 20",
            "IEEE 802.3, 3.1.1; RFC 791; RFC 9293";
        /// Frame length of an acknowledgement, before padding to the Ethernet minimum.
        ack_bytes: u16 = "ack" frame_bytes, default "58B",
            "length of an acknowledgement; at least 64 B on the wire",
            "a header without payload";
        /// Initial congestion window.
        initial_window: InitialWindow = "initial_window"
            either["rfc5681" = InitialWindow::Rfc5681, "rfc6928" = InitialWindow::Rfc6928,
                bytes = InitialWindow::Bytes],
            default "rfc6928",
            "initial window: rfc6928 (10 segments), rfc5681 (2 to 4 segments) or a size",
            "RFC 6928, 2; RFC 5681, 3.1";
        /// Initial ssthresh; `None`: infinite, so that slow start ends at the first loss, at the first ECN mark or at
        /// the advertised window.
        initial_ssthresh_bytes: Option<u64> = "initial_ssthresh" bytes_or["infinite"], default "infinite",
            "end of slow start; infinite: the first loss or mark, or the advertised window",
            "RFC 5681, 3.1: arbitrarily high";
        /// Advertised window of the receiver, in bytes.
        advertised_window_bytes: u64 = "advertised_window" bytes, default "1MiB",
            "the receiver's window, at least one segment; it never shrinks",
            "choice of this project; PABO's study: 45535 B";
        /// Whether bytes that arrived out of order reduce the advertised window.
        out_of_order_takes_window: bool = "out_of_order_takes_window" switch, default "false",
            "out-of-order bytes reduce the receiver's window, whose right edge never moves back; false: the window \
             counts from the first missing byte",
            "RFC 9293, 3.8.6.2.2: the edge never moves back; true: the TCP of INET 3, with which PABO was simulated";
        /// Congestion control: growth of the window and reaction to loss.
        congestion_control: CongestionControl = "congestion_control"
            word["reno" = CongestionControl::Reno, "newreno" = CongestionControl::NewReno,
                "cubic" = CongestionControl::Cubic, "vegas" = CongestionControl::Vegas,
                "none" = CongestionControl::Fixed],
            default "newreno",
            "reno, newreno, cubic, vegas, or none: slow start up to the advertised window, without reaction to loss \
             or marks",
            "RFC 5681, 3.2; RFC 6582; RFC 9438; Brakmo et al., SIGCOMM 1994; PABO, sec. IV";
        /// C of CUBIC, in segments per second cubed, above 0.
        cubic_scale: f64 = "cubic_scale" positive, default "0.4",
            "cubic: C, growth constant of the cubic, in segments over seconds cubed, above 0",
            "RFC 9438, 5.1";
        /// Beta of CUBIC: fraction of the window that remains after a loss, above 0 and below 1.
        cubic_beta: f64 = "cubic_beta" positive, default "0.7",
            "cubic: fraction of the window after a loss or a mark, above 0 and below 1",
            "RFC 9438, 4.6";
        /// Alpha of Vegas: number of queued segments below which the window grows by a segment per RTT.
        vegas_alpha: f64 = "vegas_alpha" positive, default "2",
            "vegas: below this many queued segments of the flow the window grows by a segment per round trip",
            "Brakmo et al., SIGCOMM 1994: 2 and 4";
        /// Beta of Vegas: number of queued segments above which the window shrinks by a segment per RTT; at least
        /// `vegas_alpha`.
        vegas_beta: f64 = "vegas_beta" positive, default "4",
            "vegas: with more than this the window falls by a segment a round trip; at least vegas_alpha",
            "Brakmo et al., SIGCOMM 1994: 2 and 4";
        /// Gamma of Vegas: number of queued segments above which slow start ends.
        vegas_gamma: f64 = "vegas_gamma" positive, default "1",
            "vegas: queued segments above which slow start ends",
            "Brakmo et al., SIGCOMM 1994";
        /// Whether lost segments are retransmitted.
        retransmissions: bool = "retransmissions" switch, default "true",
            "false: no retransmissions, and no reduction of the window for a loss",
            "PABO, sec. VI";
        /// Whether duplicate acknowledgements cause a fast retransmit.
        fast_retransmit: bool = "fast_retransmit" switch, default "true",
            "duplicate acknowledgements cause a retransmission; false: only the timer does",
            "RFC 5681, 3.2";
        /// Number of duplicate acknowledgements that indicate a loss (DupThresh).
        dupack_threshold: u32 = "dupack_threshold" count, default "3",
            "duplicate acknowledgements that indicate a loss, at least 1",
            "RFC 5681, 3.2";
        /// Whether receivers report out-of-order blocks (SACK), from which senders detect losses.
        sack: bool = "sack" switch, default "false",
            "acknowledgements report out-of-order blocks, up to three, from which senders repair losses; not with \
             reno and none",
            "RFC 2018; RFC 6675; false: choice of this project, as in RFC 6582";
        /// Retransmission timeout (RTO) before the first RTT sample.
        initial_rto: Time = "initial_rto" time, default "1s",
            "retransmission timeout before the first round trip is measured",
            "RFC 6298, 2.1";
        /// Minimum RTO.
        min_rto: Time = "min_rto" time, default "1s",
            "the least retransmission timeout",
            "RFC 6298, 2.4";
        /// Maximum RTO, also with exponential back-off.
        max_rto: Time = "max_rto" time, default "60s",
            "the largest retransmission timeout, backed off; at least min_rto",
            "RFC 6298, 2.5";
        /// Constant RTO without exponential back-off; `None`: computed from RTT samples.
        fixed_rto: Option<Time> = "rto" time_or["measured"], default "measured",
            "a time: constant retransmission timeout, without back-off; measured: from round trips",
            "RFC 6298, 2; PABO, sec. IV: 240 s";
        /// Granularity G of the clock.
        clock_granularity: Time = "clock_granularity" time, default "1us",
            "least margin G between the smoothed round trip and the timeout",
            "RFC 6298, 2 (G), here of a NIC's clock";
        /// Delayed acknowledgements: the receiver acknowledges every second in-order segment.
        delayed_ack: bool = "delayed_ack" switch, default "true",
            "every second segment in order is acknowledged; false: every segment",
            "RFC 5681, 4.2";
        /// Maximum delay of a delayed acknowledgement.
        delayed_ack_timeout: Time = "delayed_ack_timeout" time, default "40ms",
            "delay of an acknowledgement that waits for a second segment, at most 500ms",
            "RFC 5681, 4.2 (500 ms at most; 200 ms is usual); Linux: 40 ms";
        /// Reaction to ECN marks.
        ecn: EcnMode = "ecn" switch[EcnMode::Off, EcnMode::Classic], default "false",
            "marks are echoed until CWR and count as a loss once per round trip",
            "RFC 3168, 6.1";
    }
}

impl TcpParameters {
    /// Returns the defaults of DCTCP.
    pub fn dctcp() -> Self {
        let ecn = EcnMode::Dctcp(DctcpParameters::default());
        let mut parameters = TcpParameters { ecn, ..TcpParameters::default() };
        parameters.mechanism().set_defaults(|key, text| parameters.set(key, text));
        parameters
    }

    /// Sets the parameter `key` of TCP or DCTCP from its text in a scenario.
    ///
    /// # Errors
    /// If there is no such parameter, or the value is invalid.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), ParameterError> {
        if self.mechanism().parameter(key).is_none() {
            return Err(settings::unknown(self.mechanism(), key));
        }
        match &mut self.ecn {
            EcnMode::Dctcp(dctcp) if MECHANISM.parameter(key).is_none() => dctcp.set(key, text),
            _ => OwnParameters::set(self, key, text),
        }
    }

    /// Checks that the values are consistent.
    ///
    /// # Errors
    /// If segments have no payload or exceed the maximum frame length, the window is less than a segment, or the
    /// timer parameters are inconsistent.
    pub fn check(&self) -> Result<(), ParameterError> {
        require(self.mss_bytes > 0, "mss", "a segment carries at least 1B")?;
        let fits = self.mss_bytes.checked_add(self.header_bytes).is_some();
        require(fits, "mss", "payload and header fit a frame of 65535B")?;
        let window = self.advertised_window_bytes >= u64::from(self.mss_bytes);
        require(window, "advertised_window", "at least one segment (`mss`)")?;
        require(self.dupack_threshold > 0, "dupack_threshold", "at least 1")?;
        let repairs = !matches!(self.congestion_control, CongestionControl::Reno | CongestionControl::Fixed);
        require(
            !self.sack || repairs,
            "sack",
            "it replaces the recovery of newreno, cubic or vegas: write one of them",
        )?;
        let one = !(self.sack && self.out_of_order_takes_window);
        require(
            one,
            "sack",
            "not with `out_of_order_takes_window`: an acknowledgement carries either blocks or the window edge",
        )?;
        require(self.cubic_beta < 1.0, "cubic_beta", "below 1: a loss must reduce the window")?;
        require(self.vegas_beta >= self.vegas_alpha, "vegas_beta", "at least `vegas_alpha`")?;
        let of_loss = matches!(self.congestion_control, CongestionControl::Cubic | CongestionControl::Vegas);
        let one = !(of_loss && self.is_dctcp());
        require(one, "congestion_control", "DCTCP grows as reno or newreno; cubic and vegas are those of `tcp`")?;
        require(self.initial_rto > Time::ZERO, "initial_rto", "longer than a round trip")?;
        require(self.min_rto > Time::ZERO, "min_rto", "longer than a round trip")?;
        require(self.max_rto >= self.min_rto, "max_rto", "at least `min_rto`")?;
        require(self.fixed_rto != Some(Time::ZERO), "rto", "longer than a round trip, or \"measured\"")?;
        let prompt = self.delayed_ack_timeout <= Time::from_ms(500);
        require(prompt, "delayed_ack_timeout", "at most 500ms (RFC 5681, 4.2)")
    }

    fn is_dctcp(&self) -> bool {
        matches!(self.ecn, EcnMode::Dctcp(_))
    }

    /// Returns the frame length of an acknowledgement with `blocks` SACK blocks: two bytes of padding, two bytes for
    /// kind and length of the option, and eight bytes per block (RFC 2018, 3).
    pub(crate) fn ack_frame_bytes(&self, blocks: usize) -> u16 {
        let option_bytes = if blocks > 0 { 4 + 8 * blocks as u16 } else { 0 };
        self.ack_bytes.saturating_add(option_bytes).max(MIN_FRAME_BYTES)
    }

    /// Returns the frame length of the longest acknowledgement.
    pub fn largest_ack_bytes(&self) -> u16 {
        self.ack_frame_bytes(if self.sack { MOST_BLOCKS } else { 0 })
    }

    /// Returns the description of the mechanism, TCP or DCTCP, with its parameters.
    pub fn mechanism(&self) -> &'static Mechanism {
        match self.ecn {
            EcnMode::Dctcp(_) => &dctcp::MECHANISM,
            EcnMode::Off | EcnMode::Classic => &MECHANISM,
        }
    }
}
