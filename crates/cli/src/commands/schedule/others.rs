//! Reads gate control lists of other programs: `tc taprio` commands, IEEE 802.1Qcw, tsnkit's tables.

use super::source::wrong;
use crate::commands::tagger::read_text;
use crate::failure::Failure;
use crate::names::file_name;
use fabric::Fabric;
use schedule::streams::{links, on_fabric, parse};
use schedule::tsnkit;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use text::numbers::counted;
use units::Time;
use verify::gates::tables::{self, Table};
use verify::gates::{Flow, FlowHop, Lists, PortGates, qcw, taprio};

/// Parameters of the schedule that gate control lists do not contain.
pub struct GateParameters<'a> {
    pub streams: Option<&'a Path>,
    pub class: u8,
    pub processing: Time,
    pub frame_only: bool,
}

/// Returns the gate control lists in a file or folder; `None` if the file is a schedule of Tidegate.
///
/// # Errors
/// If the gate control lists are invalid; the error has the file and line.
pub fn read(path: &Path, fabric: &Fabric, beside: &GateParameters<'_>) -> Result<Option<Lists>, Failure> {
    let mut files = vec![path.to_path_buf()];
    if path.is_dir() {
        let entries = std::fs::read_dir(path).and_then(|all| all.map(|one| Ok(one?.path())).collect());
        files = entries.map_err(|error| Failure::input(format!("{}: {error}", path.display()), "name a folder"))?;
        files.sort();
    } else if !is_gates(&read_text(path)?) {
        return Ok(None);
    }
    let Some(streams) = beside.streams else {
        let message = format!("{}: lists of gates have no streams", path.display());
        return Err(Failure::input(message, "name them with --streams"));
    };
    let mut lists = Lists::new(beside.processing.as_ps(), beside.frame_only);
    let ends = |file: &&PathBuf, end: &str| file.file_name().is_some_and(|name| name.to_string_lossy().ends_with(end));
    if let Some(gates) = files.iter().find(|file| ends(file, "GCL.csv")) {
        of_tsnkit(&mut lists, fabric, gates, streams)?;
        return Ok(Some(lists));
    }
    let mut nodes: Vec<(String, Vec<PortGates>)> = Vec::new();
    let mut locations: BTreeMap<String, &Path> = BTreeMap::new();
    for file in files.iter().filter(|file| ends(file, ".json") || ends(file, ".sh")) {
        let text = read_text(file)?;
        let listed = if text.trim_start().starts_with('{') { qcw::parse(&text) } else { taprio::parse(&text) };
        let listed = listed.map_err(|error| Failure::input(error.in_file(&file.display().to_string()), HELP))?;
        let stem = file.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let named = fabric.node_ids().map(|node| fabric.name(node)).find(|name| file_name(name, "") == stem);
        let node = named.map_or(stem, str::to_owned);
        locations.insert(node.clone(), file);
        nodes.push((node, listed));
    }
    // Refuse unread files with the name of a node: if they were skipped, the node would seem to have no gates.
    let is_node = |file: &PathBuf| {
        let stem = file.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        fabric.node_ids().any(|node| fabric.name(node) == stem || file_name(fabric.name(node), "") == stem)
    };
    let read = |file: &&PathBuf| ends(file, ".json") || ends(file, ".sh");
    let unread = |file: &&PathBuf| file.is_file() && !read(file) && (ends(file, ".xml") || is_node(file));
    if let Some(file) = files.iter().find(unread) {
        let what = "is not read: gates are in NODE.sh (taprio) or NODE.json (IEEE 802.1Qcw as JSON)";
        return Err(Failure::input(format!("{}: the file {what}", file.display()), HELP));
    }
    if nodes.is_empty() {
        let message = format!("{}: it has no gates: NODE.sh, NODE.json, or a table ...GCL.csv", path.display());
        return Err(Failure::input(message, HELP));
    }
    lists.add_gates(fabric, nodes).map_err(|(node, error)| {
        let location = locations.get(&node).map_or(path, |file| file);
        let message = error.in_file(&location.display().to_string());
        match fabric.find(&node) {
            Some(_) => Failure::Input { message, help: None },
            None => Failure::input(message, "files are called as nodes of the fabric are"),
        }
    })?;
    let (flows, unstarted) = flows(streams, fabric, beside.class)?;
    if unstarted > 0 {
        let without = counted(unstarted, "stream");
        let are = if unstarted == 1 { "is" } else { "are" };
        lists.warn(format!("{without} without `start` {are} taken to start when the first cycle begins"));
    }
    for flow in flows {
        lists.add_flow(flow).map_err(|error| Failure::input(error.in_file(&streams.display().to_string()), HELP))?;
    }
    Ok(Some(lists))
}

const HELP: &str = "tidegate schedule --to taprio, qcw and tsnkit show what is read";

fn is_gates(text: &str) -> bool {
    text.contains("gate-parameter-table") || (text.contains("taprio") && !text.trim_start().starts_with('{'))
}

/// Returns the streams as flows, and the number of streams without a start time.
fn flows(path: &Path, fabric: &Fabric, class: u8) -> Result<(Vec<Flow>, u64), Failure> {
    let text = read_text(path)?;
    let csv = path.extension().is_some_and(|extension| extension == "csv");
    let listed = if csv { tsnkit::streams(&text) } else { parse(&text) }.map_err(|error| wrong(path, &error))?;
    let specs = on_fabric(fabric, &listed).map_err(|error| wrong(path, &error))?;
    let links = links(fabric);
    let hop = |&link: &usize| FlowHop { node: links[link].node.clone(), port: links[link].port, class };
    let flow = |spec: &schedule::StreamSpec| Flow {
        name: spec.name.clone(),
        period_ps: spec.period.as_ps(),
        frame_bytes: spec.frame_bytes,
        deadline_ps: spec.deadline.map(Time::as_ps),
        offsets_ps: vec![spec.start.as_ps()],
        hops: spec.path.iter().map(hop).collect(),
    };
    let unstarted = listed.iter().filter(|stream| stream.start.is_none()).count() as u64;
    Ok((specs.iter().map(flow).collect(), unstarted))
}

fn of_tsnkit(lists: &mut Lists, fabric: &Fabric, gates: &Path, streams: &Path) -> Result<(), Failure> {
    let name = gates.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let of = |table: &str| gates.with_file_name(name.replace("GCL.csv", table));
    let files = [
        (Table::Streams, streams.to_path_buf()),
        (Table::Gates, gates.to_path_buf()),
        (Table::Offsets, of("OFFSET.csv")),
        (Table::Routes, of("ROUTE.csv")),
        (Table::Queues, of("QUEUE.csv")),
    ];
    let mut texts: BTreeMap<Table, String> = BTreeMap::new();
    for (table, file) in &files {
        texts.insert(*table, read_text(file)?);
    }
    tables::read(lists, fabric, |table| texts.get(&table).map_or("", String::as_str)).map_err(|(table, error)| {
        let file = files.iter().find(|(one, _)| *one == table).map_or(gates, |(_, file)| file.as_path());
        Failure::input(error.in_file(&file.display().to_string()), HELP)
    })
}
