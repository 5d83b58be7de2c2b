//! The link table of sonic-mgmt: `StartDevice,StartPort,EndDevice,EndPort,BandWidth,VlanID,VlanMode`.
//!
//! Each line is one cable with the device and port at each end; the bandwidth is in Mbps. Columns are identified by the
//! header, so columns after `EndPort` are optional and in any order. The table states neither delays nor device kinds;
//! see [`files`](super) for the rules that determine hosts.

use super::error::FileError;
use super::plain::{Options, ParsedTopology, counted, fail_line as fail, port_label};
use super::text::{lines, shown};
use crate::{Fabric, Subject};
use std::fmt::Write as _;
use units::Rate;

const HEADER: &str = "StartDevice,StartPort,EndDevice,EndPort,BandWidth,VlanID,VlanMode";

/// Returns `true` if a line is the header of a link table.
pub(crate) fn is_header(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    line.starts_with("startdevice,") && line.contains("enddevice")
}

/// Reads a table.
///
/// # Errors
/// [`FileError::Line`] with the line that has too few columns, an empty name or an invalid bandwidth;
/// [`FileError::Fabric`] if it is not a network.
pub fn read_link_csv(content: &str, options: &Options) -> Result<Fabric, FileError> {
    let mut lines = lines(content);
    let Some((line, header)) = lines.next().filter(|(_, header)| is_header(header)) else {
        return fail(1, format!("the first line must be `{HEADER}`"));
    };
    let columns: Vec<String> = header.split(',').map(|name| name.trim().to_ascii_lowercase()).collect();
    let column = |name: &str| columns.iter().position(|column| *column == name.to_ascii_lowercase());
    let needed = |name: &str| column(name).map_or_else(|| fail(line, format!("there is no column `{name}`")), Ok);
    let locations = [needed("StartDevice")?, needed("StartPort")?, needed("EndDevice")?, needed("EndPort")?];
    let bandwidth = column("BandWidth");
    // AutoNeg and FECDisable are also known columns, although the reader ignores these port settings.
    let known = || HEADER.split(',').chain(["AutoNeg", "FECDisable"]);
    let is_known = |column: &&String| known().any(|known| known.eq_ignore_ascii_case(column));
    let unread: Vec<String> = columns.iter().filter(|column| !is_known(column)).cloned().collect();
    let mut plain = ParsedTopology::default();
    for (line, text) in lines {
        let cells: Vec<&str> = text.split(',').map(str::trim).collect();
        let mut names = [""; 4];
        for (name, &location) in names.iter_mut().zip(&locations) {
            *name = cells.get(location).copied().unwrap_or_default();
            if name.is_empty() {
                return fail(line, format!("column {} is empty: expected `{HEADER}`", location + 1));
            }
        }
        let mut spec = options.link;
        if let Some(text) = bandwidth.and_then(|at| cells.get(at)).filter(|text| !text.is_empty()) {
            let mbps = text.parse::<u64>().ok().and_then(|mbps| mbps.checked_mul(1_000_000));
            match mbps.and_then(Rate::from_bps) {
                Some(rate) => spec.rate = rate,
                None => return fail(line, format!("`{}` is no bandwidth in Mbps, like 100000", shown(text))),
            }
        }
        let [a, a_port, b, b_port] = names.map(str::to_owned);
        plain.node_or_new(&a);
        plain.node_or_new(&b);
        let connected = plain.connect(&(a, a_port), &(b, b_port), spec);
        connected.or_else(|id| fail(line, format!("`{id}` is no device")))?;
    }
    plain.decide(Subject::Unread, |count| format!("{} not read", counted(count, "unknown column")), unread);
    plain.assemble(options)
}

/// Writes a table: devices, ports and bandwidths.
///
/// # Errors
/// [`FileError::NotExpressible`] for a name with a comma or a quote, for a name that a spreadsheet would evaluate as a
/// formula, and for a link slower than 1 Mbps.
pub fn write_link_csv(fabric: &Fabric) -> Result<String, FileError> {
    let mut text = format!("{HEADER}\n");
    for link in fabric.links() {
        let mut cells = Vec::with_capacity(4);
        for end in [link.a, link.b] {
            let port = port_label(fabric, end.node, end.port, |port| format!("Ethernet{}", u32::from(port) * 4));
            cells.extend([fabric.name(end.node).to_owned(), port]);
        }
        if let Some(cell) = cells.iter().find(|cell| cell.contains([',', '"'])) {
            return Err(FileError::NotExpressible { what: format!("the name `{cell}`, which has a comma or a quote") });
        }
        if let Some(cell) = cells.iter().find(|cell| cell.starts_with(['=', '+', '-', '@'])) {
            return Err(FileError::NotExpressible {
                what: format!("the name `{cell}`, which a spreadsheet takes for a formula"),
            });
        }
        let mbps = link.rate.as_bps() / 1_000_000;
        if mbps == 0 {
            return Err(FileError::NotExpressible {
                what: format!("{} of the link at `{}`: a bandwidth is a number of Mbps", link.rate, cells[0]),
            });
        }
        let _ = writeln!(text, "{},{mbps},,", cells.join(","));
    }
    Ok(text)
}
