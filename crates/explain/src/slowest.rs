//! The slowest flows of a run, as a starting point for explanations; needs no trace.

use crate::error::ExplainError;
use crate::trace::{check_result, host_names};
use record::flows::{FlowRecord, read_flows};
use serde_json::{Value, json};
use std::cmp::Ordering;
use std::path::Path;
use text::numbers::{counted, grouped, size, span_ps};
use text::{Layout, quoted, table};

/// The slowest flows: unfinished flows first, then by descending slowdown.
#[derive(Clone, Debug)]
pub struct Slowest {
    /// The slowest flows, in this order.
    pub flows: Vec<FlowRecord>,
    /// Number of flows of at most `up_to_bytes` in the run, from which the slowest were selected.
    pub of: u64,
    /// Names of the hosts; empty if the run did not record them.
    names: Vec<String>,
}

impl Slowest {
    /// Reads the `most` slowest flows of at most `up_to_bytes` from the result in `folder`.
    ///
    /// # Errors
    /// If the folder is not a complete result of this version, or has no `flows.parquet`.
    pub fn read(folder: &Path, most: usize, up_to_bytes: u64) -> Result<Slowest, ExplainError> {
        check_result(folder)?;
        let path = folder.join("flows.parquet");
        if !path.is_file() {
            return Err(ExplainError::NoFlows { path: folder.to_owned() });
        }
        let mut flows = read_flows(&path)?;
        flows.retain(|flow| flow.size_bytes <= up_to_bytes && flow.size_bytes != u64::MAX);
        let of = flows.len() as u64;
        flows.sort_by(worse);
        flows.truncate(most);
        Ok(Slowest { flows, of, names: host_names(folder)? })
    }

    fn name(&self, host: u32) -> String {
        self.names.get(host as usize).cloned().unwrap_or_else(|| format!("host {host}"))
    }

    /// Returns the flows as a table, whose title names the result `folder`.
    pub fn text(&self, folder: &str) -> String {
        let row = |flow: &FlowRecord| {
            vec![
                grouped(flow.flow),
                format!("{} to {}", self.name(flow.src_host), self.name(flow.dst_host)),
                flow.class.to_string(),
                size(flow.size_bytes),
                span_ps(flow.start_ps),
                flow.fct_ps().map_or("unfinished".to_owned(), span_ps),
                flow.slowdown().map_or("-".to_owned(), |slowdown| format!("{slowdown:.1}")),
                flow.timeouts.to_string(),
            ]
        };
        let from = if self.names.is_empty() { "from (host number)" } else { "from" };
        let head = ["flow", from, "class", "size", "starts at", "took", "slowdown", "timeouts"];
        let rows: Vec<Vec<String>> = self.flows.iter().map(row).collect();
        let mut explanation = format!("the slowest of {}\n", counted(self.of, "flow"));
        if let Some(flow) = self.flows.first() {
            explanation.push_str(&table(&head, &rows, 2, Layout::Fixed, 2));
            let (flow, folder) = (flow.flow, quoted(folder));
            explanation.push_str(&format!(
                "  tidegate why {folder} --flow {flow} shows the causes if the flow was traced: run with --set \
                 'record.trace={{flows=[{flow}]}}'\n"
            ));
        }
        explanation
    }

    /// Returns all data as JSON.
    pub fn json(&self) -> Value {
        let row = |flow: &FlowRecord| {
            json!({
                "flow": flow.flow, "from": self.name(flow.src_host), "to": self.name(flow.dst_host),
                "class": flow.class, "size_bytes": flow.size_bytes, "start_ps": flow.start_ps, "fct_ps": flow.fct_ps(),
                "slowdown": flow.slowdown(), "timeouts": flow.timeouts,
            })
        };
        json!({ "of": self.of, "flows": self.flows.iter().map(row).collect::<Vec<_>>() })
    }
}

/// Orders unfinished flows first, then by descending slowdown; flows with equal slowdown by start.
fn worse(a: &FlowRecord, b: &FlowRecord) -> Ordering {
    let never = |flow: &FlowRecord| flow.fct_ps().is_none();
    let slowdown = |flow: &FlowRecord| flow.slowdown().unwrap_or(0.0);
    never(b)
        .cmp(&never(a))
        .then_with(|| slowdown(b).total_cmp(&slowdown(a)))
        .then_with(|| (a.start_ps, a.flow).cmp(&(b.start_ps, b.flow)))
}
