//! Checks of result files, a module for each fuzz target.

pub mod record_fct {
    //! `fct.txt`: any text in either format is an error that names its line, or lines that are preserved when written
    //! and read again.

    use record::flows::{FctFormat, FctLine, read_fct};

    /// Panics if the text violates the property in the module documentation.
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
}

pub mod record_tables {
    //! Parquet: any bytes are an error or a table, and flows, ports and traces that were read can be written and read
    //! again.

    use record::RecordError;
    use record::flows::{FlowTable, read_flows};
    use record::summary::ScenarioIdentity;
    use record::table::read_table;
    use record::trace::{PortTable, TraceTable, read_ports, read_trace};
    use std::path::{Path, PathBuf};
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Panics if the bytes violate the property in the module documentation.
    pub fn check(bytes: &[u8]) {
        let (scratch, again, run) = (Scratch::new(), Scratch::new(), ScenarioIdentity::default());
        std::fs::write(&scratch.0, bytes).expect("a temporary file");
        let _ = said(read_table(&scratch.0));
        if let Some(flows) = said(read_flows(&scratch.0)) {
            let mut table = FlowTable::create(&again.0, &run).expect("a table");
            flows.iter().for_each(|flow| table.push("a label", flow).expect("a row"));
            table.close().expect("what was read can be written");
            assert_eq!(read_flows(&again.0).expect("what was written can be read"), flows);
        }
        if let Some(ports) = said(read_ports(&scratch.0)) {
            let mut table = PortTable::create(&again.0, &run).expect("a table");
            ports.iter().for_each(|port| table.push(port).expect("a row"));
            table.close().expect("what was read can be written");
            assert_eq!(read_ports(&again.0).expect("what was written can be read"), ports);
        }
        if let Some(trace) = said(read_trace(&scratch.0)) {
            let mut table = TraceTable::create(&again.0, &run).expect("a table");
            trace.iter().for_each(|row| table.push(row).expect("a row"));
            table.close().expect("what was read can be written");
            assert_eq!(read_trace(&again.0).expect("what was written can be read"), trace);
        }
    }

    fn said<T>(read: Result<T, RecordError>) -> Option<T> {
        read.map_err(|error| assert!(!error.to_string().is_empty())).ok()
    }

    /// Temporary file of this process; it is deleted when the value is dropped.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new() -> Scratch {
            static COUNT: AtomicU64 = AtomicU64::new(0);
            let memory = Path::new("/dev/shm");
            let folder = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            Scratch(folder.join(format!("tidegate-fuzz-{}-{number}.parquet", std::process::id())))
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }
}
