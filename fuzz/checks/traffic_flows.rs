//! `flow.txt`: any bytes are an error or flows, and flows that were read can be written and read again.

use traffic::{FlowColumns, FlowFileOptions, read_flow_file, write_flow_file};
use units::Time;

/// Fails on bytes that violate the property.
pub fn check(bytes: &[u8]) {
    let options = FlowFileOptions { hosts: 64, ..FlowFileOptions::default() };
    let file = match read_flow_file(bytes, "fuzz", &options) {
        Ok(file) => file,
        Err(error) => return assert!(error.to_string().starts_with("fuzz")),
    };
    assert!(file.flows.iter().all(|flow| flow.src < 64 && flow.dst < 64 && flow.src != flow.dst && flow.class < 8));
    // There is no writer for files of ns3-rdma.
    let columns = file.columns.filter(|&columns| columns != FlowColumns::Packets).unwrap_or(FlowColumns::Six);
    let mut written = Vec::new();
    write_flow_file(&file.flows, &mut written, columns, Time::ZERO).expect("what was read can be written");
    let same = FlowFileOptions { columns: Some(columns), ..options.clone() };
    let again = read_flow_file(written.as_slice(), "again", &same).expect("what was written can be read");
    assert_eq!((again.flows, again.columns), (file.flows, file.columns.map(|_| columns)));
    assert_eq!(again.warnings, [], "what is written is sorted, exact and complete");
    // Another origin shifts every start, or the file is rejected.
    let later = FlowFileOptions { time_origin: Time::from_s(2), ..options };
    let _ = read_flow_file(bytes, "fuzz", &later);
}
