//! Traffic of `kind = "replay"`: a flow file of another simulator.

use crate::error::ScenarioError;
use crate::recognise::{KnownFormat, known_format};
use crate::section::{Section, quantity};
use crate::traffic_lower::{FlowOptions, LoweringContext, flow_ids_of_switches};
use crate::traffic_part::{TrafficPlan, path_names};
use traffic::{
    ConnectionMatrix, FileError, FlowColumns, FlowFile, FlowFileOptions, FlowWarning, PlanBuilder, Start, StartUnit,
    read_connection_matrix, read_flow_file,
};
use units::{Bytes, Time};

/// A flow file, and the parameters for reading it that the scenario states.
#[derive(Clone, Debug)]
pub(crate) struct ReplayPlan {
    file: String,
    time_origin: Time,
    format: Option<ReplayFormat>,
    start_unit: Option<StartUnit>,
    /// Payload in bytes of a packet in an ns3-rdma file.
    packet_bytes: Option<u64>,
    /// Names of [[path]] entries, one for each flow of the file.
    paths: Option<Vec<String>>,
}

/// Format of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReplayFormat {
    Flows(FlowColumns),
    Htsim,
}

const FORMATS: [(&str, ReplayFormat); 4] = [
    ("hpcc", ReplayFormat::Flows(FlowColumns::Six)),
    ("conweave", ReplayFormat::Flows(FlowColumns::Five)),
    ("ns3-rdma", ReplayFormat::Flows(FlowColumns::Packets)),
    ("htsim", ReplayFormat::Htsim),
];

/// Reads the keys of a `replay` entry.
pub(crate) fn read(section: &Section<'_, '_>) -> Option<ReplayPlan> {
    let (file, time_origin) = (section.text("file"), section.time("time_origin"));
    let format = section.word("format", &["auto", "hpcc", "conweave", "ns3-rdma", "htsim"]);
    let start_unit = section.word("start_unit", &["auto", "ps", "us"]);
    let paths = path_names(section);
    let packet_bytes = section.read("packet", |value| {
        let (packet, text) = quantity::<Bytes>(value, "a size")?;
        if (1..=65_535).contains(&packet.get()) {
            Ok((packet.get(), text))
        } else {
            Err((format!("`{text}` is not a packet payload"), Some("at least 1B, at most 65535B".to_owned())))
        }
    });
    if section.has("packet") && packet_bytes.is_none() {
        return None;
    }
    let format = format?;
    Some(ReplayPlan {
        file: file?,
        time_origin: time_origin?,
        format: FORMATS.iter().find(|(name, _)| *name == format).map(|(_, format)| *format),
        start_unit: match start_unit? {
            "ps" => Some(StartUnit::Picoseconds),
            "us" => Some(StartUnit::Microseconds),
            _ => None,
        },
        packet_bytes,
        paths,
    })
}

/// Content of a flow file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Replayed {
    Flows(FlowFile),
    Matrix(ConnectionMatrix),
}

/// Reason for which a flow file is refused.
#[derive(Debug)]
pub(crate) enum Refused {
    /// A file in another known format.
    Known(KnownFormat),
    /// An invalid file.
    File(FileError),
}

/// Reads a file in `format`; if that is absent, in the format recognised from its content.
pub(crate) fn read_replayed(
    content: &[u8],
    shown: &str,
    class: u8,
    format: Option<ReplayFormat>,
    options: &FlowFileOptions,
) -> Result<Replayed, Refused> {
    let flows = [KnownFormat::Flows, KnownFormat::ConnectionMatrix];
    if let Some(known) = known_format(content).filter(|known| !flows.contains(known)) {
        return Err(Refused::Known(known));
    }
    let matrix = match format {
        Some(format) => format == ReplayFormat::Htsim,
        None => traffic::is_connection_matrix(content),
    };
    if matrix {
        return read_connection_matrix(content, shown, class, options).map(Replayed::Matrix).map_err(Refused::File);
    }
    read_flow_file(content, shown, options).map(Replayed::Flows).map_err(Refused::File)
}

impl LoweringContext<'_, '_> {
    /// Adds the flows of the `replay` entry with index `at` to the plan.
    pub(crate) fn replay(
        &self,
        at: usize,
        plan: &TrafficPlan,
        replay: &ReplayPlan,
        builder: &mut PlanBuilder,
    ) -> Option<FlowOptions> {
        let key = format!("traffic.{at}.file");
        let content = self.files.load(self.context, &replay.file, &key)?;
        let options = FlowFileOptions {
            hosts: self.fabric.hosts().len() as u32,
            switches: flow_ids_of_switches(self.fabric),
            time_origin: replay.time_origin,
            traffic: at as u8,
            default_dst_port: plan.dst_port,
            columns: match replay.format {
                Some(ReplayFormat::Flows(columns)) => Some(columns),
                _ => None,
            },
            packet_bytes: replay.packet_bytes.unwrap_or(FlowFileOptions::default().packet_bytes),
            start_unit: replay.start_unit,
        };
        let shown = self.files.shown(&replay.file);
        let replayed = match read_replayed(&content, &shown, plan.class, replay.format, &options) {
            Ok(replayed) => replayed,
            Err(Refused::File(error)) => {
                self.file_error(error, &key);
                return None;
            }
            Err(Refused::Known(known)) => {
                self.refuse_known(shown, &key, known, "a file of flows");
                return None;
            }
        };
        let (packets, matrix) = match &replayed {
            Replayed::Flows(file) => (file.columns == Some(FlowColumns::Packets), false),
            Replayed::Matrix(_) => (false, true),
        };
        for (name, given, has, of) in [
            ("packet", replay.packet_bytes.is_some(), packets, "flow files of ns3-rdma"),
            ("start_unit", replay.start_unit.is_some(), matrix, "connection matrices of htsim"),
        ] {
            if given && !has {
                let message = format!("`{name}` is for {of}, and `{shown}` is none");
                self.context.fail(&format!("traffic.{at}.{name}"), message, Some("remove it".to_owned()));
                return None;
            }
        }
        let warnings = match &replayed {
            Replayed::Flows(file) => &file.warnings,
            Replayed::Matrix(matrix) => &matrix.warnings,
        };
        // With persistent connections, several messages of a pair of hosts use one connection: then do not warn that
        // each message becomes a flow.
        let alone = !plan.transport.as_ref().map_or(self.transport, |own| &own.1).has_connections();
        let warns = |warning: &&FlowWarning| alone || !matches!(warning, FlowWarning::Messages { .. });
        warnings.iter().filter(warns).for_each(|warning| self.context.warn(&key, format!("{shown}: {warning}")));
        if let Replayed::Flows(file) = &replayed
            && let Some(Start::At(first)) = file.flows.first().map(|flow| flow.start)
            && first >= self.duration
        {
            let message = format!("the first flow starts at {first}, but the run ends at {}", self.duration);
            let help = format!("write time_origin = \"{}\" to make that instant 0", first + replay.time_origin);
            self.context.fail(&key, message, Some(help));
            return None;
        }
        let paths = self.paths_of(at, replay, &replayed, &shown)?;
        let made = match replayed {
            Replayed::Flows(file) => traffic::replay(file, builder),
            Replayed::Matrix(matrix) => traffic::replay_connection_matrix(matrix, builder),
        };
        match made {
            Ok(()) => Some(FlowOptions { paths, ..FlowOptions::default() }),
            Err(error) => {
                self.traffic_error(error, &format!("traffic.{at}"), "file");
                None
            }
        }
    }

    /// Returns the path of each flow in the order of start times; empty if flows are routed.
    fn paths_of(&self, at: usize, replay: &ReplayPlan, replayed: &Replayed, shown: &str) -> Option<Vec<u32>> {
        let Some(names) = &replay.paths else { return Some(Vec::new()) };
        let key = format!("traffic.{at}.paths");
        let Replayed::Flows(file) = replayed else {
            self.context.fail(&key, "flows of a connection matrix cannot have paths", Some("remove it".to_owned()));
            return None;
        };
        let (paths, flows) = (names.len(), file.flows.len());
        if paths != flows {
            let message = format!("{paths} paths for {flows} flows of {shown}");
            self.context.fail(&key, message, Some("write one for each flow".to_owned()));
            return None;
        }
        let paths = names.iter().enumerate().map(|(index, name)| self.path(name, &format!("{key}.{index}")));
        paths.collect::<Vec<_>>().into_iter().collect()
    }

    /// Reports a file in another format than expected.
    pub(crate) fn refuse_known(&self, path: String, key: &str, known: KnownFormat, wanted: &str) {
        let (key, message) = (key.to_owned(), format!("this is {known}, not {wanted}"));
        self.context.push(ScenarioError { path, line: 1, column: 0, span: 0..0, key, message, help: None });
    }
}

#[cfg(test)]
#[path = "replay_tests.rs"]
mod tests;
