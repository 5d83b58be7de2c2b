//! `fct.txt` in the format of the HPCC fork of ns-3 and its descendants, one completed flow per line:
//! `<src> <dst> <source port> <destination port> <size bytes> <start ns> <fct ns> <standalone fct ns>`.

use std::path::Path;

use super::FlowRecord;
use crate::error::RecordError;
use crate::file::AtomicFile;

/// Format of host names in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FctFormat {
    /// IPv4 addresses as 8 hex digits, with host = (address >> 8) & 0xffff (HPCC).
    Hpcc,
    /// Host numbers in decimal (conweave).
    Conweave,
}

impl FctFormat {
    /// Detects the format from a line: HPCC pads addresses to 8 hex digits, from 0b000001; a host number has no leading
    /// zero.
    pub fn detect(line: &str) -> FctFormat {
        match line.split_whitespace().next() {
            Some(first) if first.len() == 8 && first.starts_with('0') => FctFormat::Hpcc,
            _ => FctFormat::Conweave,
        }
    }
}

/// One line of an `fct.txt`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FctLine {
    /// Sending host.
    pub src_host: u32,
    /// Receiving host.
    pub dst_host: u32,
    /// Port at the sender.
    pub src_port: u16,
    /// Port at the receiver.
    pub dst_port: u16,
    /// Payload, in bytes.
    pub size_bytes: u64,
    /// Start, in ns.
    pub start_ns: u64,
    /// FCT at the sender (start to last acknowledgement), in ns.
    pub fct_ns: u64,
    /// FCT in an idle network, in ns.
    pub standalone_ns: u64,
}

impl FctLine {
    /// Returns the slowdown max(1, fct / standalone); `None` if the standalone FCT is 0.
    pub fn slowdown(&self) -> Option<f64> {
        (self.standalone_ns > 0).then(|| (self.fct_ns as f64 / self.standalone_ns as f64).max(1.0))
    }
}

/// Streams an `fct.txt`.
pub struct FctWriter {
    format: FctFormat,
    file: AtomicFile,
}

impl FctWriter {
    /// Starts the file at `path`.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn create(path: &Path, format: FctFormat) -> Result<Self, RecordError> {
        Ok(FctWriter { format, file: AtomicFile::create(path)? })
    }

    /// Appends a flow. Its FCT ends when the sender receives the last acknowledgement, as in the HPCC fork; a flow that
    /// is not delivered or not acknowledged at the end of the run is left out. For flows without acknowledgements
    /// (datagrams), the FCT ends at delivery. Times are rounded down to ns.
    ///
    /// # Errors
    /// [`RecordError::HostNumber`] for a host above 65,535 in the HPCC format, [`RecordError::Unwritable`].
    pub fn push(&mut self, flow: &FlowRecord) -> Result<(), RecordError> {
        let Some(end_ps) = flow.acked_ps.or(flow.delivered_ps.filter(|_| !flow.awaits_ack)) else {
            return Ok(());
        };
        let (src, dst) = (self.host(flow.src_host)?, self.host(flow.dst_host)?);
        let (start_ns, fct_ns) = (flow.start_ps / 1000, end_ps.saturating_sub(flow.start_ps) / 1000);
        let (src_port, dst_port, size) = (flow.src_port, flow.dst_port, flow.size_bytes);
        let alone_ns = flow.fct_txt_standalone_ns;
        self.file.print(format_args!("{src} {dst} {src_port} {dst_port} {size} {start_ns} {fct_ns} {alone_ns}\n"))
    }

    /// Completes the file and renames it to its path.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn close(self) -> Result<(), RecordError> {
        self.file.commit()
    }

    fn host(&self, host: u32) -> Result<String, RecordError> {
        match self.format {
            FctFormat::Conweave => Ok(host.to_string()),
            // Address 11.x.y.1, where x and y are the two bytes of the host number.
            FctFormat::Hpcc if host <= 0xffff => Ok(format!("{:08x}", 0x0b00_0001 + (host << 8))),
            FctFormat::Hpcc => Err(RecordError::HostNumber { host }),
        }
    }
}

/// Parses the lines of an `fct.txt`; empty lines are skipped.
///
/// # Errors
/// [`RecordError::Line`] with the number of the first line that violates the format.
pub fn read_fct(text: &str, format: FctFormat) -> Result<Vec<FctLine>, RecordError> {
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let parsed = parse_line(line, format);
        lines.push(parsed.map_err(|what| RecordError::Line { path: None, line: index + 1, what })?);
    }
    Ok(lines)
}

fn parse_line(line: &str, format: FctFormat) -> Result<FctLine, String> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let &[src, dst, src_port, dst_port, size, start, fct, standalone] = fields.as_slice() else {
        return Err(format!(
            "{} fields; expected 8: source, destination, source port, destination port, size in bytes, start, \
             completion time and standalone time in ns",
            fields.len()
        ));
    };
    Ok(FctLine {
        src_host: parse_host(src, format)?,
        dst_host: parse_host(dst, format)?,
        src_port: parse(src_port, "a port, 0 to 65535")?,
        dst_port: parse(dst_port, "a port, 0 to 65535")?,
        size_bytes: parse(size, "a size in bytes")?,
        start_ns: parse(start, "a start in ns")?,
        fct_ns: parse(fct, "a completion time in ns")?,
        standalone_ns: parse(standalone, "a standalone time in ns")?,
    })
}

fn parse<T: std::str::FromStr>(field: &str, expected: &str) -> Result<T, String> {
    field.parse().map_err(|_| format!("{field:?} is not {expected}"))
}

fn parse_host(field: &str, format: FctFormat) -> Result<u32, String> {
    match format {
        FctFormat::Conweave => parse(field, "a host number"),
        FctFormat::Hpcc => {
            let digits = field.len() == 8 && field.bytes().all(|byte| byte.is_ascii_hexdigit());
            let address = digits.then(|| u32::from_str_radix(field, 16).ok()).flatten();
            let address = address.ok_or_else(|| format!("{field:?} is not an address of 8 hex digits"))?;
            Ok((address >> 8) & 0xffff)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::any_flow;
    use super::*;
    use crate::file::tests::Scratch;
    use proptest::prelude::*;

    fn written(flows: &[FlowRecord], format: FctFormat) -> String {
        let scratch = Scratch::new("fct");
        let path = scratch.0.join("fct.txt");
        let mut writer = FctWriter::create(&path, format).unwrap();
        flows.iter().for_each(|flow| writer.push(flow).unwrap());
        writer.close().unwrap();
        std::fs::read_to_string(&path).unwrap()
    }

    fn flow() -> FlowRecord {
        FlowRecord {
            src_host: 300,
            dst_host: 2,
            src_port: 10000,
            dst_port: 100,
            size_bytes: 1_000_000,
            start_ps: 2_000_000_000_999,
            delivered_ps: Some(2_000_090_000_000),
            acked_ps: Some(2_000_091_500_000),
            fct_txt_standalone_ns: 84_768,
            ..FlowRecord::default()
        }
    }

    #[test]
    fn known_lines_of_both_formats() {
        let text = written(&[flow()], FctFormat::Hpcc);
        assert_eq!(text, "0b012c01 0b000201 10000 100 1000000 2000000000 91499 84768\n");
        assert_eq!(FctFormat::detect(&text), FctFormat::Hpcc);
        let text = written(&[flow()], FctFormat::Conweave);
        assert_eq!(text, "300 2 10000 100 1000000 2000000000 91499 84768\n");
        assert_eq!(FctFormat::detect(&text), FctFormat::Conweave);
        assert_eq!(FctFormat::detect("10000000 2 1 1 1 1 1 1"), FctFormat::Conweave);
    }

    #[test]
    fn a_sender_without_acknowledgement_ends_at_the_delivery_and_an_open_flow_has_no_line() {
        let unacked = FlowRecord { acked_ps: None, ..flow() };
        assert_eq!(read_fct(&written(&[unacked], FctFormat::Hpcc), FctFormat::Hpcc).unwrap()[0].fct_ns, 89_999);
        let open = FlowRecord { acked_ps: None, delivered_ps: None, ..flow() };
        let awaiting = FlowRecord { acked_ps: None, awaits_ack: true, ..flow() };
        assert_eq!(written(&[open, awaiting], FctFormat::Hpcc), "");
    }

    #[test]
    fn a_host_that_hpcc_cannot_name_is_an_error() {
        let scratch = Scratch::new("fct-host");
        let large = FlowRecord { src_host: 65_536, ..flow() };
        let mut writer = FctWriter::create(&scratch.0.join("fct.txt"), FctFormat::Hpcc).unwrap();
        assert!(matches!(writer.push(&large), Err(RecordError::HostNumber { host: 65_536 })));
        assert!(written(&[large], FctFormat::Conweave).starts_with("65536 2 "));
    }

    #[test]
    fn malformed_lines_are_named() {
        let good = "0b000001 0b000101 1 2 3 4 5 6\n\n";
        let cases = [
            ("0b000001 0b000101 1 2 3 4 5\n", "line 3: 7 fields; expected 8: "),
            ("0b000001 0b00010 1 2 3 4 5 6\n", "line 3: \"0b00010\" is not an address of 8 hex digits"),
            ("0b000001 +b000101 1 2 3 4 5 6\n", "line 3: \"+b000101\" is not an address of 8 hex digits"),
            ("0b000001 0b000101 65536 2 3 4 5 6\n", "line 3: \"65536\" is not a port, 0 to 65535"),
            ("0b000001 0b000101 1 2 -3 4 5 6\n", "line 3: \"-3\" is not a size in bytes"),
            ("0b000001 0b000101 1 2 3 4 5 6.5\n", "line 3: \"6.5\" is not a standalone time in ns"),
        ];
        for (bad, expected) in cases {
            let error = read_fct(&format!("{good}{bad}"), FctFormat::Hpcc).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        let error = read_fct("0b 2 1 2 3 4 5 6", FctFormat::Conweave).unwrap_err().to_string();
        assert_eq!(error, "line 1: \"0b\" is not a host number");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn lines_come_back(flows in prop::collection::vec(any_flow(), 0..20), hpcc in any::<bool>()) {
            let format = if hpcc { FctFormat::Hpcc } else { FctFormat::Conweave };
            let lines = read_fct(&written(&flows, format), format).unwrap();
            let complete: Vec<_> = flows.iter().filter(|flow| flow.delivered_ps.is_some()).collect();
            prop_assert_eq!(lines.len(), complete.len());
            for (line, flow) in lines.iter().zip(complete) {
                prop_assert_eq!((line.src_host, line.dst_host), (flow.src_host, flow.dst_host));
                prop_assert_eq!((line.src_port, line.dst_port), (flow.src_port, flow.dst_port));
                prop_assert_eq!((line.size_bytes, line.start_ns), (flow.size_bytes, flow.start_ps / 1000));
                prop_assert_eq!(line.standalone_ns, flow.fct_txt_standalone_ns);
            }
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".{0,80}", hpcc in any::<bool>()) {
            let _ = read_fct(&text, if hpcc { FctFormat::Hpcc } else { FctFormat::Conweave });
        }
    }
}
