//! The keys of `config.txt` of HPCC's simulator and of its derivatives (conweave, SimAI, ASTRA-sim's ns-3 backend), and
//! the treatment of each key in a translation.

/// Syntax of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Word,
    Whole,
    Switch,
    Share,
    Seconds,
    Microseconds,
    Rate,
    Map,
    Down,
}

impl Shape {
    pub(super) const fn what(self) -> &'static str {
        match self {
            Shape::Word => "a name",
            Shape::Whole => "a whole number",
            Shape::Switch => "0 or 1",
            Shape::Share => "a share from 0 to 1",
            Shape::Seconds => "a number of seconds",
            Shape::Microseconds => "a number of microseconds",
            Shape::Rate => "a rate",
            Shape::Map => "a number of pairs, then for each a rate in bit/s and its value",
            Shape::Down => "a time in microseconds and two nodes",
        }
    }

    pub(super) fn example(self) -> Option<String> {
        let example = match self {
            Shape::Word => return None,
            Shape::Whole => "1000",
            Shape::Switch => "1",
            Shape::Share => "0.00390625",
            Shape::Seconds => "4.00",
            Shape::Microseconds => "300",
            Shape::Rate => "50Mb/s",
            Shape::Map => "2 25000000000 400 100000000000 1600",
            Shape::Down => "100 320 330",
        };
        Some(format!("write it like {example}"))
    }
}

/// Transports that a `CC_MODE` translates to.
pub(super) const CONTROLS: [&str; 4] = ["dcqcn", "hpcc", "timely", "dctcp-rate"];

/// Treatment of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyTreatment {
    /// Translated to a scenario key; the importer adds a note if the scenario cannot express a part of the value.
    Written,
    /// Parameter of the listed transports only: with other transports, the key is dropped.
    Of(&'static [&'static str]),
    /// Dropped, for the given reason.
    Dropped(&'static str),
}

/// A key of the simulator.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub name: &'static str,
    pub shape: Shape,
    pub fate: KeyTreatment,
}

const OTHER_MODES: KeyTreatment =
    KeyTreatment::Dropped("used only by modes that are not translated: the result does not depend on it");
const QUANTA: KeyTreatment =
    KeyTreatment::Dropped("telemetry is in multiples of 80 and 128 bytes and in ns there; here it is exact");
const TRACE: KeyTreatment =
    KeyTreatment::Dropped("record.trace and record.capture select the trace: the result does not depend on it");
const RESULT: KeyTreatment = KeyTreatment::Dropped(
    "results go to the folder of --out, where fct.txt and pfc.txt have the columns of these files",
);
const LENGTHS: KeyTreatment =
    KeyTreatment::Dropped("record.queues = { every = \"10us\" } records the lengths of queues");
const MONITOR: KeyTreatment =
    KeyTreatment::Dropped("[record] selects the measurements: the result does not depend on it");
const UNREAD: KeyTreatment = KeyTreatment::Dropped("the released simulator does not use it");

const fn known(name: &'static str, shape: Shape, fate: KeyTreatment) -> Known {
    Known { name, shape, fate }
}

use KeyTreatment::Written;

const OF_DCQCN: KeyTreatment = KeyTreatment::Of(&["dcqcn"]);
const OF_HPCC: KeyTreatment = KeyTreatment::Of(&["hpcc"]);
use Shape::{Down, Map, Microseconds, Rate, Seconds, Share, Switch, Whole, Word};

const OF_BALANCING: KeyTreatment =
    KeyTreatment::Dropped("a parameter of load balancers that LB_MODE 0, flow ECMP, does not use");

static KEYS: [Known; 82] = [
    known("ENABLE_QCN", Switch, Written),
    known("USE_DYNAMIC_PFC_THRESHOLD", Switch, Written),
    known("PACKET_PAYLOAD_SIZE", Whole, Written),
    known("TOPOLOGY_FILE", Word, Written),
    known("FLOW_FILE", Word, Written),
    known("TRACE_FILE", Word, TRACE),
    known("TRACE_OUTPUT_FILE", Word, TRACE),
    known("FCT_OUTPUT_FILE", Word, RESULT),
    known("PFC_OUTPUT_FILE", Word, RESULT),
    known("SIMULATOR_STOP_TIME", Seconds, Written),
    known("CC_MODE", Whole, Written),
    known("ALPHA_RESUME_INTERVAL", Microseconds, OF_DCQCN),
    known("RATE_DECREASE_INTERVAL", Microseconds, OF_DCQCN),
    known("CLAMP_TARGET_RATE", Switch, OF_DCQCN),
    known("RP_TIMER", Microseconds, OF_DCQCN),
    known("EWMA_GAIN", Share, KeyTreatment::Of(&["dcqcn", "dctcp-rate"])),
    known("FAST_RECOVERY_TIMES", Whole, OF_DCQCN),
    known("RATE_AI", Rate, KeyTreatment::Of(&["dcqcn", "hpcc", "timely"])),
    known("RATE_HAI", Rate, KeyTreatment::Of(&["dcqcn", "timely"])),
    known("MIN_RATE", Rate, KeyTreatment::Of(&CONTROLS)),
    known("DCTCP_RATE_AI", Rate, KeyTreatment::Of(&["dctcp-rate"])),
    known("ERROR_RATE_PER_LINK", Share, Written),
    known("L2_CHUNK_SIZE", Whole, Written),
    known("L2_ACK_INTERVAL", Whole, Written),
    known("L2_BACK_TO_ZERO", Switch, Written),
    known("HAS_WIN", Switch, Written),
    known("GLOBAL_T", Switch, Written),
    known("VAR_WIN", Switch, Written),
    known("FAST_REACT", Switch, OF_HPCC),
    known("U_TARGET", Share, OF_HPCC),
    known("MI_THRESH", Whole, OF_HPCC),
    known("INT_MULTI", Word, QUANTA),
    known("MULTI_RATE", Switch, Written),
    known("SAMPLE_FEEDBACK", Switch, Written),
    known("PINT_LOG_BASE", Word, OTHER_MODES),
    known("PINT_PROB", Word, OTHER_MODES),
    known("RATE_BOUND", Switch, Written),
    known("ACK_HIGH_PRIO", Switch, Written),
    known("LINK_DOWN", Down, Written),
    known("ENABLE_TRACE", Word, TRACE),
    known("KMAX_MAP", Map, Written),
    known("KMIN_MAP", Map, Written),
    known("PMAX_MAP", Map, Written),
    known("BUFFER_SIZE", Whole, Written),
    known("QLEN_MON_FILE", Word, LENGTHS),
    known("QLEN_MON_START", Word, LENGTHS),
    known("QLEN_MON_END", Word, LENGTHS),
    known("PAUSE_TIME", Word, KeyTreatment::Dropped("pauses last until a resume in both simulators")),
    known("DATA_RATE", Word, UNREAD),
    known("LINK_DELAY", Word, UNREAD),
    // Keys of conweave.
    known("ENABLE_PFC", Switch, Written),
    known("ENABLE_IRN", Switch, Written),
    known("LB_MODE", Whole, Written),
    known(
        "FLOWGEN_START_TIME",
        Seconds,
        KeyTreatment::Dropped("flows start at the times of their file in both simulators"),
    ),
    known("FLOWGEN_STOP_TIME", Seconds, Written),
    known("LOAD", Word, KeyTreatment::Dropped("the generator of the flow file; the run does not use it")),
    known(
        "RANDOM_SEED",
        Word,
        KeyTreatment::Dropped(
            "`seed` of the scenario: equal seeds give different random numbers in the two simulators",
        ),
    ),
    known("CONWEAVE_TX_EXPIRY_TIME", Word, OF_BALANCING),
    known("CONWEAVE_REPLY_TIMEOUT_EXTRA", Word, OF_BALANCING),
    known("CONWEAVE_EXTRA_VOQ_FLUSH_TIME", Word, OF_BALANCING),
    known("CONWEAVE_PATH_PAUSE_TIME", Word, OF_BALANCING),
    known("CONWEAVE_DEFAULT_VOQ_WAITING_TIME", Word, OF_BALANCING),
    known("FLOW_INPUT_FILE", Word, RESULT),
    known("CNP_OUTPUT_FILE", Word, MONITOR),
    known("VOQ_MON_FILE", Word, MONITOR),
    known("VOQ_MON_DETAIL_FILE", Word, MONITOR),
    known("UPLINK_MON_FILE", Word, MONITOR),
    known("CONN_MON_FILE", Word, MONITOR),
    known("EST_ERROR_MON_FILE", Word, MONITOR),
    known("SW_MONITORING_INTERVAL", Word, MONITOR),
    // Keys of SimAI and ASTRA-sim.
    known("BW_MON_FILE", Word, MONITOR),
    known("RATE_MON_FILE", Word, MONITOR),
    known("CNP_MON_FILE", Word, MONITOR),
    known("SEND_OUTPUT_FILE", Word, RESULT),
    known("TOTAL_FLOW_FILE", Word, RESULT),
    known("MON_START", Word, MONITOR),
    known("MON_END", Word, MONITOR),
    known("QP_MON_INTERVAL", Word, MONITOR),
    known("BW_MON_INTERVAL", Word, MONITOR),
    known("QLEN_MON_INTERVAL", Word, MONITOR),
    known("CNP_MON_START", Word, MONITOR),
    known("IRN_MON_START", Word, MONITOR),
];

/// Returns the table entry of a key of the HPCC simulator or its derivatives; `None` for an unknown key.
pub(super) fn find(key: &str) -> Option<&'static Known> {
    KEYS.iter().find(|known| known.name == key)
}
