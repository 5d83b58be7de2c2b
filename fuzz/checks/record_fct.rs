//! `fct.txt`: any text in either format is an error that names its line, or lines that are preserved when written and
//! read again.

use record::flows::{FctFormat, FctLine, read_fct};

/// Fails on a text that violates the property.
pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = FctFormat::detect(text);
    for format in [FctFormat::Hpcc, FctFormat::Conweave] {
        match read_fct(text, format) {
            Ok(lines) => {
                assert!(lines.len() <= text.lines().count());
                assert!(lines.iter().all(|line| line.slowdown().is_none_or(|slowdown| slowdown >= 1.0)));
                let written: String = lines.iter().map(|line| write(line, format)).collect();
                assert_eq!(read_fct(&written, format).expect("what was written can be read"), lines);
            }
            Err(error) => assert!(error.to_string().starts_with("line "), "{error}"),
        }
    }
}

fn write(line: &FctLine, format: FctFormat) -> String {
    let host = |host: u32| match format {
        FctFormat::Hpcc => format!("{:08x}", 0x0b00_0001 + (host << 8)),
        FctFormat::Conweave => host.to_string(),
    };
    let FctLine { src_host, dst_host, src_port, dst_port, size_bytes, start_ns, fct_ns, standalone_ns } = *line;
    let (src, dst) = (host(src_host), host(dst_host));
    format!("{src} {dst} {src_port} {dst_port} {size_bytes} {start_ns} {fct_ns} {standalone_ns}\n")
}
