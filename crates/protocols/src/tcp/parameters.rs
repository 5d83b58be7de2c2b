//! The parameters of TCP and DCTCP.

use crate::dctcp::{self, DctcpParameters};
use crate::describe::Default::Value;
use crate::describe::{Family, Mechanism, Parameter, Syntax};
use crate::frame::MIN_FRAME_BYTES;
use crate::settings::{self, ParameterError, require};
use crate::tcp::blocks::MOST_BLOCKS;
use crate::tcp::cubic::CubicParameters;
use crate::tcp::vegas::VegasParameters;
use units::Time;

/// Growth of the window and reaction to loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionControl {
    /// RFC 5681: the first new acknowledgement ends fast recovery.
    Reno,
    /// RFC 6582: fast recovery lasts until everything sent before the loss is acknowledged.
    NewReno,
    /// RFC 9438: the window grows with the time since the last loss. Loss recovery of NewReno.
    Cubic,
    /// Brakmo et al., SIGCOMM 1994: the window follows the number of the flow's queued segments. Loss recovery of
    /// NewReno.
    Vegas,
    /// No reaction to loss or marks: slow start up to the advertised window.
    Fixed,
}

/// The initial window.
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
            // RFC 5681, 3.1: the three cases of IW.
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
#[derive(Clone, Debug, PartialEq)]
pub enum Ecn {
    /// No ECN.
    Off,
    /// RFC 3168: a mark counts as a loss, at most once per round trip.
    Classic,
    /// RFC 8257: the window follows the fraction of marked bytes.
    Dctcp(DctcpParameters),
}

/// The parameters of [`MECHANISM`], which describes each of them.
#[derive(Clone, Debug, PartialEq)]
pub struct TcpParameters {
    /// Payload of a full segment (SMSS).
    pub mss_bytes: u16,
    /// Bytes of a data frame that are no payload.
    pub header_bytes: u16,
    /// Length of an acknowledgement, before padding to the Ethernet minimum.
    pub ack_bytes: u16,
    /// Window at the start.
    pub initial_window: InitialWindow,
    /// End of slow start; `None`: the first loss.
    pub initial_ssthresh_bytes: Option<u64>,
    /// The receiver's window.
    pub advertised_window_bytes: u64,
    /// Out-of-order bytes reduce the receiver's window.
    pub out_of_order_takes_window: bool,
    /// Growth of the window and reaction to loss.
    pub congestion_control: CongestionControl,
    /// The constants of [`CongestionControl::Cubic`].
    pub cubic: CubicParameters,
    /// The thresholds of [`CongestionControl::Vegas`].
    pub vegas: VegasParameters,
    /// Lost segments are retransmitted.
    pub retransmissions: bool,
    /// Duplicate acknowledgements cause a retransmission.
    pub fast_retransmit: bool,
    /// Duplicate acknowledgements that indicate a loss.
    pub dupack_threshold: u32,
    /// Receivers report out-of-order blocks, and senders repair losses by them.
    pub sack: bool,
    /// RTO before the first sample.
    pub initial_rto: Time,
    /// Lower bound of the RTO.
    pub min_rto: Time,
    /// Upper bound of the RTO with back-off.
    pub max_rto: Time,
    /// Constant RTO without back-off; `None`: measured.
    pub fixed_rto: Option<Time>,
    /// Granularity G of the clock.
    pub clock_granularity: Time,
    /// The receiver acknowledges every second segment only.
    pub delayed_ack: bool,
    /// Longest wait of an acknowledgement for a second segment.
    pub delayed_ack_timeout: Time,
    /// Reaction to ECN marks.
    pub ecn: Ecn,
}

impl Default for TcpParameters {
    fn default() -> Self {
        TcpParameters {
            mss_bytes: 1460,
            header_bytes: 58,
            ack_bytes: 58,
            initial_window: InitialWindow::Rfc6928,
            initial_ssthresh_bytes: None,
            advertised_window_bytes: 1 << 20,
            out_of_order_takes_window: false,
            congestion_control: CongestionControl::NewReno,
            cubic: CubicParameters::default(),
            vegas: VegasParameters::default(),
            retransmissions: true,
            fast_retransmit: true,
            dupack_threshold: 3,
            sack: false,
            initial_rto: Time::from_s(1),
            min_rto: Time::from_s(1),
            max_rto: Time::from_s(60),
            fixed_rto: None,
            clock_granularity: Time::from_us(1),
            delayed_ack: true,
            delayed_ack_timeout: Time::from_ms(40),
            ecn: Ecn::Off,
        }
    }
}

pub(crate) const MSS: Parameter = Parameter {
    key: "mss",
    syntax: Syntax::TEXT,
    default: Value("1460B"),
    meaning: "payload of a full segment, at least 1 B",
    source: "RFC 9293, 3.7.1: an Ethernet frame of 1518 B without its headers; PABO's study: 536 B",
};
pub(crate) const HEADER: Parameter = Parameter {
    key: "header",
    syntax: Syntax::TEXT,
    default: Value("58B"),
    meaning: "bytes of a data frame that are no payload: Ethernet with FCS 18, IPv4 20, TCP 20",
    source: "IEEE 802.3, 3.1.1; RFC 791; RFC 9293",
};
pub(crate) const ACK_BYTES: Parameter = Parameter {
    key: "ack",
    syntax: Syntax::TEXT,
    default: Value("58B"),
    meaning: "length of an acknowledgement; at least 64 B on the wire",
    source: "a header without payload",
};
pub(crate) const INITIAL_WINDOW: Parameter = Parameter {
    key: "initial_window",
    syntax: Syntax::TEXT,
    default: Value("rfc6928"),
    meaning: "initial window: rfc6928 (10 segments), rfc5681 (2 to 4 segments) or a size",
    source: "RFC 6928, 2; RFC 5681, 3.1",
};
pub(crate) const INITIAL_SSTHRESH: Parameter = Parameter {
    key: "initial_ssthresh",
    syntax: Syntax::TEXT,
    default: Value("infinite"),
    meaning: "end of slow start; infinite: the first loss or mark, or the advertised window",
    source: "RFC 5681, 3.1: arbitrarily high",
};
pub(crate) const ADVERTISED_WINDOW: Parameter = Parameter {
    key: "advertised_window",
    syntax: Syntax::TEXT,
    default: Value("1MiB"),
    meaning: "the receiver's window, at least one segment; it never shrinks",
    source: "choice of this project; PABO's study: 45535 B",
};
pub(crate) const OUT_OF_ORDER_TAKES_WINDOW: Parameter = Parameter {
    key: "out_of_order_takes_window",
    syntax: Syntax::TEXT,
    default: Value("false"),
    meaning: "out-of-order bytes reduce the receiver's window, whose right edge never moves back; false: the window \
              counts from the first missing byte",
    source: "RFC 9293, 3.8.6.2.2: the edge never moves back; true: the TCP of INET 3, with which PABO was simulated",
};
pub(crate) const CONGESTION_CONTROL: Parameter = Parameter {
    key: "congestion_control",
    syntax: Syntax::TEXT,
    default: Value("newreno"),
    meaning: "reno, newreno, cubic, vegas, or none: slow start up to the advertised window, without reaction to loss \
              or marks",
    source: "RFC 5681, 3.2; RFC 6582; RFC 9438; Brakmo et al., SIGCOMM 1994; PABO, sec. IV",
};
const CUBIC_SCALE: Parameter = Parameter {
    key: "cubic_scale",
    syntax: Syntax::TEXT,
    default: Value("0.4"),
    meaning: "cubic: C, growth constant of the cubic, in segments over seconds cubed, above 0",
    source: "RFC 9438, 5.1",
};
const CUBIC_BETA: Parameter = Parameter {
    key: "cubic_beta",
    syntax: Syntax::TEXT,
    default: Value("0.7"),
    meaning: "cubic: fraction of the window after a loss or a mark, above 0 and below 1",
    source: "RFC 9438, 4.6",
};
const VEGAS_ALPHA: Parameter = Parameter {
    key: "vegas_alpha",
    syntax: Syntax::TEXT,
    default: Value("2"),
    meaning: "vegas: below this many queued segments of the flow the window grows by a segment per round trip",
    source: "Brakmo et al., SIGCOMM 1994: 2 and 4",
};
const VEGAS_BETA: Parameter = Parameter {
    key: "vegas_beta",
    syntax: Syntax::TEXT,
    default: Value("4"),
    meaning: "vegas: with more than this the window falls by a segment a round trip; at least vegas_alpha",
    source: "Brakmo et al., SIGCOMM 1994: 2 and 4",
};
const VEGAS_GAMMA: Parameter = Parameter {
    key: "vegas_gamma",
    syntax: Syntax::TEXT,
    default: Value("1"),
    meaning: "vegas: queued segments above which slow start ends",
    source: "Brakmo et al., SIGCOMM 1994",
};
pub(crate) const RETRANSMISSIONS: Parameter = Parameter {
    key: "retransmissions",
    syntax: Syntax::TEXT,
    default: Value("true"),
    meaning: "false: no retransmissions, and no reduction of the window for a loss",
    source: "PABO, sec. VI",
};
pub(crate) const FAST_RETRANSMIT: Parameter = Parameter {
    key: "fast_retransmit",
    syntax: Syntax::TEXT,
    default: Value("true"),
    meaning: "duplicate acknowledgements cause a retransmission; false: only the timer does",
    source: "RFC 5681, 3.2",
};
pub(crate) const DUPACK_THRESHOLD: Parameter = Parameter {
    key: "dupack_threshold",
    syntax: Syntax::TEXT,
    default: Value("3"),
    meaning: "duplicate acknowledgements that indicate a loss, at least 1",
    source: "RFC 5681, 3.2",
};
pub(crate) const SACK: Parameter = Parameter {
    key: "sack",
    syntax: Syntax::TEXT,
    default: Value("false"),
    meaning: "acknowledgements report out-of-order blocks, up to three, from which senders repair losses; not with \
              reno and none",
    source: "RFC 2018; RFC 6675; false: choice of this project, as in RFC 6582",
};
pub(crate) const INITIAL_RTO: Parameter = Parameter {
    key: "initial_rto",
    syntax: Syntax::TEXT,
    default: Value("1s"),
    meaning: "retransmission timeout before the first round trip is measured",
    source: "RFC 6298, 2.1",
};
pub(crate) const MIN_RTO: Parameter = Parameter {
    key: "min_rto",
    syntax: Syntax::TEXT,
    default: Value("1s"),
    meaning: "the least retransmission timeout",
    source: "RFC 6298, 2.4",
};
pub(crate) const MAX_RTO: Parameter = Parameter {
    key: "max_rto",
    syntax: Syntax::TEXT,
    default: Value("60s"),
    meaning: "the largest retransmission timeout, backed off; at least min_rto",
    source: "RFC 6298, 2.5",
};
pub(crate) const RTO: Parameter = Parameter {
    key: "rto",
    syntax: Syntax::TEXT,
    default: Value("measured"),
    meaning: "a time: constant retransmission timeout, without back-off; measured: from round trips",
    source: "RFC 6298, 2; PABO, sec. IV: 240 s",
};
pub(crate) const CLOCK_GRANULARITY: Parameter = Parameter {
    key: "clock_granularity",
    syntax: Syntax::TEXT,
    default: Value("1us"),
    meaning: "least margin G between the smoothed round trip and the timeout",
    source: "RFC 6298, 2 (G), here of a NIC's clock",
};
pub(crate) const DELAYED_ACK: Parameter = Parameter {
    key: "delayed_ack",
    syntax: Syntax::TEXT,
    default: Value("true"),
    meaning: "every second segment in order is acknowledged; false: every segment",
    source: "RFC 5681, 4.2",
};
pub(crate) const DELAYED_ACK_TIMEOUT: Parameter = Parameter {
    key: "delayed_ack_timeout",
    syntax: Syntax::TEXT,
    default: Value("40ms"),
    meaning: "delay of an acknowledgement that waits for a second segment, at most 500ms",
    source: "RFC 5681, 4.2 (500 ms at most; 200 ms is usual); Linux: 40 ms",
};
const ECN: Parameter = Parameter {
    key: "ecn",
    syntax: Syntax::TEXT,
    default: Value("false"),
    meaning: "marks are echoed until CWR and count as a loss once per round trip",
    source: "RFC 3168, 6.1",
};

/// Description of TCP.
pub const MECHANISM: Mechanism = Mechanism {
    kind: "tcp",
    family: Family::Transport,
    title: "TCP Reno, NewReno, CUBIC and Vegas",
    source: "RFC 5681, RFC 6582, RFC 6298, RFC 3168, RFC 9438, RFC 2018, RFC 6675; Brakmo et al., SIGCOMM 1994",
    parameters: &[
        MSS,
        HEADER,
        ACK_BYTES,
        INITIAL_WINDOW,
        INITIAL_SSTHRESH,
        ADVERTISED_WINDOW,
        OUT_OF_ORDER_TAKES_WINDOW,
        CONGESTION_CONTROL,
        CUBIC_SCALE,
        CUBIC_BETA,
        VEGAS_ALPHA,
        VEGAS_BETA,
        VEGAS_GAMMA,
        RETRANSMISSIONS,
        FAST_RETRANSMIT,
        DUPACK_THRESHOLD,
        SACK,
        INITIAL_RTO,
        MIN_RTO,
        MAX_RTO,
        RTO,
        CLOCK_GRANULARITY,
        DELAYED_ACK,
        DELAYED_ACK_TIMEOUT,
        ECN,
    ],
};

impl TcpParameters {
    /// Returns the defaults of DCTCP.
    pub fn dctcp() -> Self {
        TcpParameters {
            min_rto: Time::from_ms(10),
            ecn: Ecn::Dctcp(DctcpParameters::default()),
            ..TcpParameters::default()
        }
    }

    /// Sets the parameter `key` from its text in a scenario.
    ///
    /// # Errors
    /// If the parameter does not exist or cannot have this value.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), ParameterError> {
        match key {
            "mss" => self.mss_bytes = settings::frame_bytes(key, text)?,
            "header" => self.header_bytes = settings::frame_bytes(key, text)?,
            "ack" => self.ack_bytes = settings::frame_bytes(key, text)?,
            "initial_window" => {
                self.initial_window = match text {
                    "rfc5681" => InitialWindow::Rfc5681,
                    "rfc6928" => InitialWindow::Rfc6928,
                    _ => InitialWindow::Bytes(settings::bytes(key, text)?),
                }
            }
            "initial_ssthresh" => self.initial_ssthresh_bytes = settings::bytes_or(key, text, "infinite")?,
            "advertised_window" => self.advertised_window_bytes = settings::bytes(key, text)?,
            "out_of_order_takes_window" => self.out_of_order_takes_window = settings::switch(key, text)?,
            "congestion_control" => {
                let words = [
                    ("reno", CongestionControl::Reno),
                    ("newreno", CongestionControl::NewReno),
                    ("cubic", CongestionControl::Cubic),
                    ("vegas", CongestionControl::Vegas),
                    ("none", CongestionControl::Fixed),
                ];
                self.congestion_control = settings::word(key, text, &words)?;
            }
            "retransmissions" => self.retransmissions = settings::switch(key, text)?,
            "fast_retransmit" => self.fast_retransmit = settings::switch(key, text)?,
            "dupack_threshold" => self.dupack_threshold = settings::count(key, text)?,
            "sack" => self.sack = settings::switch(key, text)?,
            "initial_rto" => self.initial_rto = settings::time(key, text)?,
            "min_rto" => self.min_rto = settings::time(key, text)?,
            "max_rto" => self.max_rto = settings::time(key, text)?,
            "rto" => self.fixed_rto = settings::time_or(key, text, "measured")?,
            "clock_granularity" => self.clock_granularity = settings::time(key, text)?,
            "delayed_ack" => self.delayed_ack = settings::switch(key, text)?,
            "delayed_ack_timeout" => self.delayed_ack_timeout = settings::time(key, text)?,
            "cubic_scale" if !self.is_dctcp() => self.cubic.scale = settings::positive(key, text)?,
            "cubic_beta" if !self.is_dctcp() => self.cubic.beta = settings::positive(key, text)?,
            "vegas_alpha" if !self.is_dctcp() => self.vegas.alpha = settings::positive(key, text)?,
            "vegas_beta" if !self.is_dctcp() => self.vegas.beta = settings::positive(key, text)?,
            "vegas_gamma" if !self.is_dctcp() => self.vegas.gamma = settings::positive(key, text)?,
            _ => match &mut self.ecn {
                Ecn::Dctcp(parameters) => parameters.set(key, text)?,
                ecn if key == "ecn" => *ecn = if settings::switch(key, text)? { Ecn::Classic } else { Ecn::Off },
                _ => return Err(settings::unknown(&MECHANISM, key)),
            },
        }
        Ok(())
    }

    /// Checks that the values are consistent.
    ///
    /// # Errors
    /// If segments would be empty or too long for a frame, the window holds no segment, or a timer cannot work.
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
        require(self.cubic.beta < 1.0, "cubic_beta", "below 1: a loss must reduce the window")?;
        require(self.vegas.beta >= self.vegas.alpha, "vegas_beta", "at least `vegas_alpha`")?;
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
        matches!(self.ecn, Ecn::Dctcp(_))
    }

    /// Returns the frame length of an acknowledgement with `blocks` SACK blocks: two bytes of padding, two of the
    /// option's kind and length, and eight per block (RFC 2018, 3).
    pub(crate) fn ack_frame_bytes(&self, blocks: usize) -> u16 {
        let option_bytes = if blocks > 0 { 4 + 8 * blocks as u16 } else { 0 };
        self.ack_bytes.saturating_add(option_bytes).max(MIN_FRAME_BYTES)
    }

    /// Returns the length of the longest acknowledgement.
    pub fn largest_ack_bytes(&self) -> u16 {
        self.ack_frame_bytes(if self.sack { MOST_BLOCKS } else { 0 })
    }

    /// Returns the table that describes these parameters.
    pub fn mechanism(&self) -> &'static Mechanism {
        match self.ecn {
            Ecn::Dctcp(_) => &dctcp::MECHANISM,
            Ecn::Off | Ecn::Classic => &MECHANISM,
        }
    }
}
