//! Reader of the output tables of tsnkit (0.3) (gates, offsets, routes, queues) and of its table of streams.

use super::file::{GateFileError, State};
use super::lists::{Flow, FlowHop, Lists, PortGates};
use fabric::Fabric;
use std::collections::BTreeMap;

/// Kinds of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Table {
    /// `stream,src,dst,size,period,deadline,jitter`
    Streams,
    /// `link,queue,start,end,cycle`
    Gates,
    /// `stream,frame,offset`
    Offsets,
    /// `stream,link`
    Routes,
    /// `stream,frame,link,queue`
    Queues,
}

/// A fault, and the table in which it is.
type Wrong = (Table, GateFileError);

fn at<T>(table: Table, line: usize, message: impl Into<String>) -> Result<T, Wrong> {
    Err((table, GateFileError::Line { line, message: message.into() }))
}

/// Names of the two nodes of a link.
type Ends = (String, String);

/// Splits a line into cells. Quoted cells may contain commas.
fn cells(line: &str) -> Vec<&str> {
    let (mut all, mut rest) = (Vec::new(), Some(line));
    while let Some(line) = rest {
        let quoted = line.strip_prefix('"').and_then(|inner| inner.split_once('"'));
        let (cell, more) = match quoted {
            Some((cell, more)) => (cell, more.strip_prefix(',')),
            None => line.split_once(',').map_or((line, None), |(cell, more)| (cell, Some(more))),
        };
        all.push(cell.trim());
        rest = more;
    }
    all
}

/// Returns the cells of the given columns, row by row, with line numbers.
fn rows<'a>(table: Table, text: &'a str, columns: &[&str]) -> Result<Vec<(usize, Vec<&'a str>)>, Wrong> {
    let mut lines = text.lines().enumerate();
    let header = cells(lines.next().map_or("", |(_, line)| line));
    let mut column_indices = Vec::new();
    for name in columns {
        match header.iter().position(|cell| cell == name) {
            Some(column) => column_indices.push(column),
            None => return at(table, 1, format!("no column `{name}`: expected {}", columns.join(","))),
        }
    }
    let mut all = Vec::new();
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let found = cells(line);
        match column_indices.iter().map(|&column| found.get(column).copied()).collect::<Option<Vec<&str>>>() {
            Some(row) => all.push((number + 1, row)),
            None => {
                return at(table, number + 1, format!("{} cells, and the header has {}", found.len(), header.len()));
            }
        }
    }
    Ok(all)
}

fn number(table: Table, line: usize, column: &str, text: &str) -> Result<u64, Wrong> {
    match text.parse() {
        Ok(number) if number <= 1_000_000_000_000 => Ok(number),
        _ => at(table, line, format!("`{column}` is `{text}`, expected a whole number of at most 10^12")),
    }
}

/// Parses a link such as "(0, 1)".
fn link(table: Table, line: usize, text: &str) -> Result<Ends, Wrong> {
    let ends = text.trim_start_matches('(').trim_end_matches(')').split_once(',');
    match ends.map(|(a, b)| (a.trim().to_owned(), b.trim().to_owned())) {
        Some(ends) if !ends.0.is_empty() && !ends.1.is_empty() => Ok(ends),
        _ => at(table, line, format!("`link` is `{text}`, expected \"(0, 1)\"")),
    }
}

/// Returns the port at the first node of a link that leads to the second node, or a fault if there is no such link.
fn port(table: Table, line: usize, fabric: &Fabric, ends: &Ends) -> Result<u16, Wrong> {
    let found = fabric.find(&ends.0).zip(fabric.find(&ends.1));
    match found.and_then(|(from, to)| fabric.port_towards(from, to)) {
        Some(port) => Ok(port),
        None => at(table, line, format!("the network has no link ({}, {})", ends.0, ends.1)),
    }
}

/// Queue of each stream at each link.
type Queues = BTreeMap<(u64, Ends), u8>;
/// Links of each stream, with the line numbers of their rows.
type Routes = BTreeMap<u64, Vec<(usize, Ends)>>;

/// Adds the streams and gates of the five tables; `text` returns the content of a table. The gate of a queue is open
/// during the rows of the gate table, and closed otherwise. The first column of the stream table is the name of a
/// stream; the other tables identify a stream by its row number in the stream table.
///
/// # Errors
/// The first fault, with its table and line.
pub fn read<'a>(lists: &mut Lists, fabric: &Fabric, text: impl Fn(Table) -> &'a str) -> Result<(), Wrong> {
    gates(lists, fabric, text(Table::Gates))?;
    let mut offsets: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (line, row) in rows(Table::Offsets, text(Table::Offsets), &["stream", "frame", "offset"])? {
        let of = |column, text| number(Table::Offsets, line, column, text);
        let (stream, frame, offset) = (of("stream", row[0])?, of("frame", row[1])?, of("offset", row[2])?);
        let all = offsets.entry(stream).or_default();
        if frame != all.len() as u64 {
            return at(
                Table::Offsets,
                line,
                format!("frame {frame} of stream {stream} is in the position of frame {}", all.len()),
            );
        }
        all.push(offset * 1000);
    }
    let queues = queues(text(Table::Queues))?;
    let mut routes = Routes::new();
    for (line, row) in rows(Table::Routes, text(Table::Routes), &["stream", "link"])? {
        let stream = number(Table::Routes, line, "stream", row[0])?;
        routes.entry(stream).or_default().push((line, link(Table::Routes, line, row[1])?));
    }
    let columns = ["stream", "src", "size", "period", "deadline"];
    for (column, (line, row)) in rows(Table::Streams, text(Table::Streams), &columns)?.into_iter().enumerate() {
        let stream = column as u64;
        let of = |column, text| number(Table::Streams, line, column, text);
        // A stream without offset or route has no slots and sends nothing.
        let (Some(offsets), Some(route)) = (offsets.remove(&stream), routes.remove(&stream)) else { continue };
        let mut hops = Vec::new();
        let mut from = of("src", row[1])?.to_string();
        let mut left = route;
        while let Some(next) = left.iter().position(|(_, ends)| ends.0 == from) {
            let (line, ends) = left.remove(next);
            let Some(&class) = queues.get(&(stream, ends.clone())) else {
                return at(Table::Queues, 0, format!("stream {stream} has no queue at ({}, {})", ends.0, ends.1));
            };
            hops.push(FlowHop { node: ends.0.clone(), port: port(Table::Routes, line, fabric, &ends)?, class });
            from = ends.1;
        }
        if let Some((line, ends)) = left.first() {
            return at(Table::Routes, *line, format!("stream {stream} never comes to ({}, {})", ends.0, ends.1));
        }
        let flow = Flow {
            name: row[0].to_owned(),
            period_ps: of("period", row[3])? * 1000,
            frame_bytes: of("size", row[2])?,
            deadline_ps: Some(of("deadline", row[4])? * 1000),
            offsets_ps: offsets,
            hops,
        };
        lists.add_flow(flow).or_else(|error| at(Table::Streams, line, error.to_string()))?;
    }
    match lists.streams() {
        0 => at(Table::Offsets, 0, "no stream has an offset and a route"),
        _ => Ok(()),
    }
}

fn queues(text: &str) -> Result<Queues, Wrong> {
    let mut all = Queues::new();
    for (line, row) in rows(Table::Queues, text, &["stream", "link", "queue"])? {
        let (stream, ends) = (number(Table::Queues, line, "stream", row[0])?, link(Table::Queues, line, row[1])?);
        let queue = number(Table::Queues, line, "queue", row[2])?;
        let Some(class) = u8::try_from(queue).ok().filter(|&class| class < 8) else {
            return at(Table::Queues, line, format!("`queue` is {queue}, expected 0 to 7"));
        };
        if all.insert((stream, ends), class).is_some_and(|other| other != class) {
            let message = format!("frames of stream {stream} are in several queues of a link: one is supported");
            return at(Table::Queues, line, message);
        }
    }
    Ok(all)
}

fn gates(lists: &mut Lists, fabric: &Fabric, text: &str) -> Result<(), Wrong> {
    /// Open intervals of gates: opening time and closing time in ns, number of the gate.
    type Windows = Vec<(u64, u64, u8)>;
    let mut all: BTreeMap<(String, u16), (usize, u64, Windows)> = BTreeMap::new();
    for (line, row) in rows(Table::Gates, text, &["link", "queue", "start", "end", "cycle"])? {
        let ends = link(Table::Gates, line, row[0])?;
        let port = port(Table::Gates, line, fabric, &ends)?;
        let of = |column, text| number(Table::Gates, line, column, text);
        let (queue, start, end) = (of("queue", row[1])?, of("start", row[2])?, of("end", row[3])?);
        let cycle = of("cycle", row[4])?;
        if queue > 7 || start >= end || end > cycle {
            let message = "expected a queue of 0 to 7, and a window that ends after its start and within the cycle";
            return at(Table::Gates, line, message);
        }
        let (_, of_port, windows) = all.entry((ends.0, port)).or_insert((line, cycle, Vec::new()));
        if *of_port != cycle {
            return at(Table::Gates, line, format!("`cycle` is {cycle}, and was {of_port} for this link before"));
        }
        windows.push((start, end, 1 << queue));
    }
    let mut lists_of = Vec::new();
    for ((node, port), (line, cycle, windows)) in all {
        let mut edges: Vec<u64> = windows.iter().flat_map(|&(from, to, _)| [from, to]).chain([0, cycle]).collect();
        edges.sort_unstable();
        edges.dedup();
        // Gates that open or close, by time. Intervals of one gate may overlap, so `open` counts the open intervals of
        // each gate.
        let mut changes: BTreeMap<u64, Vec<(u8, bool)>> = BTreeMap::new();
        for (from, to, gate) in windows {
            changes.entry(from).or_default().push((gate, true));
            changes.entry(to).or_default().push((gate, false));
        }
        let mut open = [0u32; 8];
        let mut states = Vec::new();
        for pair in edges.windows(2) {
            for &(gate, opens) in changes.get(&pair[0]).into_iter().flatten() {
                let count = &mut open[gate.trailing_zeros() as usize];
                *count = if opens { *count + 1 } else { *count - 1 };
            }
            let gates = (0..8).filter(|&class| open[class] > 0).fold(0u8, |gates, class| gates | 1 << class);
            states.push(State { gates, interval_ps: (pair[1] - pair[0]) * 1000 });
        }
        let list = PortGates::new(format!("eth{port}"), line, 0, states, None);
        lists_of.push((node, vec![list.or_else(|message| at(Table::Gates, line, message))?]));
    }
    lists.add_gates(fabric, lists_of).map_err(|(_, error)| (Table::Gates, error))
}
