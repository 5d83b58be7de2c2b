//! Reader of tsnkit instances: tables of streams and of the network.

use crate::streams::{Listed, StreamsError, at};
use fabric::{Fabric, FabricBuilder, LinkSpec, NodeId};
use std::collections::{BTreeMap, BTreeSet};
use units::{Rate, Time};

/// Splits a line into cells. Quoted cells may contain commas.
fn cells(line: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let mut rest = line.trim_end_matches('\r');
    loop {
        let (cell, more) = match rest.strip_prefix('"').and_then(|quoted| quoted.split_once('"')) {
            Some((cell, more)) => (cell, more.strip_prefix(',')),
            None => rest.split_once(',').map_or((rest, None), |(cell, more)| (cell, Some(more))),
        };
        all.push(cell.trim());
        match more {
            Some(more) => rest = more,
            None => return all,
        }
    }
}

/// Returns the rows of a table by column names, with their line numbers.
fn table<'a>(text: &'a str, columns: &[&str]) -> Result<Vec<(usize, Vec<&'a str>)>, StreamsError> {
    let mut lines = text.lines().enumerate();
    let header = cells(lines.next().map_or("", |(_, line)| line));
    let column = |name: &&str| match header.iter().position(|cell| cell == name) {
        Some(column) => Ok(column),
        None => at(1, format!("no column `{name}`: the header is {}", columns.join(","))),
    };
    let column_indices: Vec<usize> = columns.iter().map(column).collect::<Result<_, _>>()?;
    let mut rows = Vec::new();
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let all = cells(line);
        let row: Option<Vec<&str>> = column_indices.iter().map(|&column| all.get(column).copied()).collect();
        match row {
            Some(row) => rows.push((number + 1, row)),
            None => return at(number + 1, format!("{} cells, and the header has {}", all.len(), header.len())),
        }
    }
    Ok(rows)
}

fn number(line: usize, column: &str, text: &str) -> Result<u64, StreamsError> {
    match text.parse() {
        Ok(number) if number <= 1_000_000_000_000 => Ok(number),
        _ => at(line, format!("`{column}` is `{text}`, expected a whole number of at most 10^12")),
    }
}

/// Reads `stream,src,dst,size,period,deadline,jitter`, in bytes and nanoseconds. Stream names are their numbers;
/// streams with several receivers are rejected.
///
/// # Errors
/// The first invalid line.
pub fn streams(text: &str) -> Result<Vec<Listed>, StreamsError> {
    let columns = ["stream", "src", "dst", "size", "period", "deadline"];
    let mut all = Vec::new();
    let mut names = BTreeSet::new();
    for (line, row) in table(text, &columns)? {
        let name = number(line, "stream", row[0])?.to_string();
        if !names.insert(name.clone()) {
            return at(line, format!("stream {name} occurs twice"));
        }
        let source = number(line, "src", row[1])?.to_string();
        let receivers = row[2].trim_start_matches('[').trim_end_matches(']');
        if receivers.contains(',') {
            return at(line, format!("stream {name} has several receivers: one is supported"));
        }
        let receiver = number(line, "dst", receivers)?.to_string();
        let (frame_bytes, period) = (number(line, "size", row[3])?, number(line, "period", row[4])?);
        if !(1..=65_535).contains(&frame_bytes) {
            return at(line, format!("`size` is {frame_bytes}, expected 1 to 65535 bytes"));
        }
        if !(1..=60_000_000_000).contains(&period) {
            return at(line, format!("`period` is {period}, expected 1 ns to 60 s"));
        }
        let deadline = Some(Time::from_ns(number(line, "deadline", row[5])?));
        let (nodes, whole_path, period) = (vec![source, receiver], false, Time::from_ns(period));
        all.push(Listed { line, name, nodes, whole_path, period, frame_bytes, start: None, deadline, class: None });
    }
    if all.is_empty() { at(0, "no stream stands in it") } else { Ok(all) }
}

/// Reads `link,q_num,rate,t_proc,t_prop`: directed links as "(0, 1)", rates in bits per nanosecond, times in
/// nanoseconds. A node with one neighbour is a host; node names are their numbers. Also returns the processing time,
/// which must be equal at all links. A link without delay gets one picosecond, which is subtracted from the processing
/// time.
///
/// # Errors
/// The first invalid line.
pub fn network(text: &str) -> Result<(Fabric, Time), StreamsError> {
    let mut links: BTreeMap<(u64, u64), (usize, Rate, Time)> = BTreeMap::new();
    let mut processing = None;
    for (line, row) in table(text, &["link", "rate", "t_proc", "t_prop"])? {
        let ends = row[0].trim_start_matches('(').trim_end_matches(')').split_once(',');
        let Some((a, b)) = ends else {
            return at(line, format!("`link` is `{}`, expected \"(0, 1)\"", row[0]));
        };
        let (a, b) = (number(line, "link", a.trim())?, number(line, "link", b.trim())?);
        let rate = Rate::from_bps(number(line, "rate", row[1])?.saturating_mul(1_000_000_000));
        let Some(rate) = rate else { return at(line, "`rate` is 0") };
        let (proc, delay) = (number(line, "t_proc", row[2])?, number(line, "t_prop", row[3])?);
        if *processing.get_or_insert(proc) != proc {
            return at(line, "`t_proc` differs from that of links before: one for all is supported");
        }
        if links.insert((a, b), (line, rate, Time::from_ns(delay))).is_some() {
            return at(line, format!("the link ({a}, {b}) occurs twice"));
        }
    }
    let mut neighbours: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for (&(a, b), &(line, rate, delay)) in &links {
        if links.get(&(b, a)).is_none_or(|&(_, other, back)| (other, back) != (rate, delay)) {
            return at(line, format!("the link ({a}, {b}) is not the same as ({b}, {a})"));
        }
        neighbours.entry(a).or_default().insert(b);
    }
    let mut builder = FabricBuilder::new("file");
    let mut nodes: BTreeMap<u64, NodeId> = BTreeMap::new();
    for (&node, others) in &neighbours {
        let name = node.to_string();
        nodes.insert(node, if others.len() == 1 { builder.add_host(name) } else { builder.add_switch(name, 1) });
    }
    let least = Time::from_ps(1);
    let relieved = links.values().any(|&(.., delay)| delay == Time::ZERO);
    for (&(a, b), &(line, rate, delay)) in links.iter().filter(|((a, b), _)| a < b) {
        if relieved && delay > Time::ZERO {
            return at(line, "some links have a `t_prop` and some none: give all one, or none");
        }
        builder.connect(nodes[&a], nodes[&b], LinkSpec::new(rate, delay.max(least)));
    }
    let processing = Time::from_ns(processing.unwrap_or(0));
    if relieved && processing == Time::ZERO {
        return at(0, "neither `t_proc` nor `t_prop` is above zero: a link takes time");
    }
    let processing = if relieved { processing - least } else { processing };
    match builder.build() {
        Ok(fabric) => Ok((fabric, processing)),
        Err(error) => at(0, error.to_string()),
    }
}
