//! Messages and hints for errors of `why`: the invalid option, and how to correct it.

use crate::recognise::instead_of_a_result;
use explain::ExplainError;

/// Maximum number of names that a message lists.
const MOST_NAMES: usize = 12;

/// Returns the error message.
pub fn message(error: &ExplainError) -> String {
    match error {
        ExplainError::NoPacket { .. }
        | ExplainError::NoFlow { .. }
        | ExplainError::FlowNotTraced { .. }
        | ExplainError::NoNode { .. }
        | ExplainError::NoPort { .. }
        | ExplainError::SeveralPorts { .. } => format!("--{error}"),
        error => error.to_string(),
    }
}

/// Returns the hint for the `help:` line: how the user can correct the input.
pub fn help(error: &ExplainError) -> Option<String> {
    Some(match error {
        ExplainError::NotAResult { path, kind } => instead_of_a_result(path, *kind),
        ExplainError::NoFolder { .. } => "name the folder that tidegate run --out wrote".to_owned(),
        ExplainError::OtherVersion { path, .. } => {
            format!("run its scenario again, {}", path.join("scenario.toml").display())
        }
        ExplainError::NotTraced { .. } => {
            "switch on [record] trace in its scenario, for example trace = { flows = [0] } \
                                           or trace = {} for everything, and run it again"
                .to_owned()
        }
        ExplainError::NoFlows { .. } => "it is no result of a whole run: run its scenario again with --out".to_owned(),
        ExplainError::NoPacket { last: Some(last), .. } => format!("the trace holds packets 0 to {last}"),
        ExplainError::NoPacket { last: None, .. } => nothing(),
        ExplainError::NoFlow { traced, .. } => flows(traced),
        ExplainError::FlowNotTraced { number, traced } => {
            format!("{}; add {number} to [record] trace.flows and run the scenario again", flows(traced))
        }
        ExplainError::NoNode { known, .. } => {
            let more = if known.len() > MOST_NAMES { ", ..." } else { "" };
            format!("nodes are {}{more}", first(known))
        }
        ExplainError::NoPort { known, .. } | ExplainError::SeveralPorts { known, .. } => {
            format!("its ports are {}", first(known))
        }
        ExplainError::Record(_) => return None,
    })
}

fn nothing() -> String {
    "the trace holds no packet: nothing that it chose was ever sent".to_owned()
}

fn flows(traced: &[u64]) -> String {
    if traced.is_empty() {
        return nothing();
    }
    let names: Vec<String> = traced.iter().map(u64::to_string).collect();
    let more = if names.len() > MOST_NAMES { ", ..." } else { "" };
    format!("it holds flows {}{more}", first(&names))
}

fn first(names: &[String]) -> String {
    names[..names.len().min(MOST_NAMES)].join(", ")
}
