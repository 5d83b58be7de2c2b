use super::*;
use proptest::prelude::*;

fn options() -> FlowFileOptions {
    FlowFileOptions { hosts: 320, traffic: 2, ..FlowFileOptions::default() }
}
fn read(text: &str) -> Result<FlowFile, String> {
    read_flow_file(text.as_bytes(), "flow.txt", &options()).map_err(|error| error.to_string())
}

/// In HPCC's own topology.txt, the switch has the lowest id, so that ids count all nodes.
#[test]
fn ids_count_nodes_where_switches_stand_among_hosts() {
    let options = FlowFileOptions { hosts: 4, switches: vec![0, 3], ..options() };
    let read = |line: &str| read_flow_file(format!("1\n{line} 3 100 5 2.0\n").as_bytes(), "f", &options);
    let ends = |line: &str| read(line).map(|file| (file.flows[0].src, file.flows[0].dst)).unwrap();
    assert_eq!([ends("1 2"), ends("4 5"), ends("2 4")], [(0, 1), (2, 3), (1, 2)]);
    let message = |line: &str| read(line).unwrap_err().to_string();
    assert_eq!(message("1 3"), "f:2: node 3 is a switch: flows go from host to host (hpcc flow file)");
    assert_eq!(message("0 1"), "f:2: node 0 is a switch: flows go from host to host (hpcc flow file)");
    assert_eq!(
        message("1 6"),
        "f:2: node 6 does not exist: there are 4 hosts and 2 switches, counted from 0 (hpcc flow file)"
    );
}

#[test]
fn hpcc_and_conweave_say_the_same() {
    let hpcc = read("2\n11 7 3 100 21256546 2.000000807\n191 70 3 100 29748 2.000002126\n").unwrap();
    let first = &hpcc.flows[0];
    assert_eq!((first.src, first.dst, first.class, first.dst_port), (11, 7, 3, 100));
    assert_eq!((first.size_bytes, first.traffic), (21_256_546, 2));
    assert_eq!(first.start, Start::At(Time::from_ps(2_000_000_807_000)));
    assert_eq!(hpcc.warnings, []);
    let conweave = read("2\n11 7 3 21256546 2.000000807\n191 70 3 29748 2.000002126\n").unwrap();
    assert_eq!(conweave.flows, hpcc.flows);
    assert_eq!((hpcc.columns, conweave.columns), (Some(FlowColumns::Six), Some(FlowColumns::Five)));
    assert_eq!(read("0\n").unwrap().columns, None);
}

#[test]
fn the_origin_is_subtracted_on_request() {
    let options = FlowFileOptions { time_origin: Time::from_s(2), ..options() };
    let read = |text: &str| read_flow_file(text.as_bytes(), "f", &options);
    let file = read("1\n0 1 3 100 5 2.0\n").unwrap();
    assert_eq!(file.flows[0].start, Start::At(Time::ZERO));
    let error = read("1\n0 1 3 100 5 1.9\n").unwrap_err().to_string();
    assert!(error.starts_with("f:2: the flow starts before the time origin 2s"), "{error}");
}

#[test]
fn unusual_files_are_read_with_a_warning() {
    let file =
        read("4\n0 1 3 7 5 2.5\n0 2 3 7 5 2.0\n0 3 3 7 5 2.5\n0 4 3 7 5 2.00000000000049\n0 4 3 7 5 3\n").unwrap();
    let order: Vec<u32> = file.flows.iter().map(|flow| flow.dst).collect();
    assert_eq!(order, [2, 4, 1, 3], "stable");
    let expected =
        [FlowWarning::Unsorted { line: 3 }, FlowWarning::Rounded { line: 5 }, FlowWarning::Surplus { line: 6 }];
    assert_eq!(file.warnings, expected);
    assert!(file.warnings.iter().all(|warning| warning.to_string().contains("line")));
}

#[test]
fn each_error_names_the_line_and_what_would_be_right() {
    let fails = |text: &str, at: &str, what: &str| {
        let error = read(text).unwrap_err();
        assert!(error.starts_with(&format!("flow.txt:{at}: ")) && error.contains(what), "{error}");
    };
    fails("", "1", "the file is empty: expected the number of flows");
    fails("many\n", "1", "`many` is not the number of flows");
    fails("-3\n", "1", "not the number of flows");
    fails("0 1 3 100 5 2.0\n", "1", "6 columns: expected the number of flows");
    fails("3\n0 1 3 100 5 2.0\n0 1 3 100 5 2.0\n", "3", "ends after 2 flows, but its first line states 3");
    fails("99999999999\n", "1", "more than the 67108864");
    fails("67108864\n0 1 3 100 5 2.0\n", "2", "ends after 1 flows");
    fails("1\n320 1 3 100 5 2.0\n", "2", "host 320 does not exist: there are 320 hosts, 0 to 319");
    fails("1\n0 99999999999 3 100 5 2.0\n", "2", "host 99999999999 does not exist");
    fails("1\n7 7 3 100 5 2.0\n", "2", "host 7 sends to itself");
    fails("1\n0 1 8 100 5 2.0\n", "2", "`8` is not a priority group");
    fails("1\n0 1 3 65536 5 2.0\n", "2", "not a port");
    fails("1\n0 1 3 100 0 0\n", "2", "at least 1 byte");
    fails("1\n0 1 3 100 5.5 2.0\n", "2", "not a size");
    fails("1\n0 1 3 100 5 soon\n", "2", "`soon` is not a start");
    fails("1\n0 1 3 100 5 -2.0\n", "2", "not a start");
    fails("1\n0 1 3 100 5 1e9\n", "2", "213 days");
    fails("0\n10000 15\n", "2", "2 columns: expected no flow, as the first line states");
    fails("1\n0 1 3 5\n", "2", "4 columns");
    fails("1\n0 1 3 100 5 2.0 9\n", "2", "7 columns");
    fails("2\n0 1 3 100 5 2.0\n0 1 3 5 2.0\n", "3", "as many as in the flows above");
}

/// A file in the style of ns3-rdma's own flow file, with text after the last flow.
#[test]
fn files_of_ns3_rdma_are_recognised_by_content_or_name() {
    let words = "\nFirst line: flow #\nsrc dst priority packet# start_time end_time\n";
    let text = format!("2\n2 1 3 1000 2.0 9.5\n3 1 3 500 2.0 9.5\n{words}");
    let file = read(&text).unwrap();
    let flows: Vec<_> = file.flows.iter().map(|flow| (flow.src, flow.size_bytes, flow.start)).collect();
    let start = Start::At(Time::from_s(2));
    assert_eq!(flows, [(2, 1_000_000, start), (3, 500_000, start)]);
    assert_eq!(file.columns, Some(FlowColumns::Packets));
    let (packets, ends) = (FlowWarning::Packets { line: 2, packet_bytes: 1000 }, FlowWarning::Ends { line: 2 });
    assert_eq!(file.warnings, [packets, ends], "words are no flows");
    // A packet count above the maximum port number (70000) identifies the format, also for earlier lines.
    assert_eq!(read("2\n2 1 3 1000 2 9\n3 1 3 70000 2 9\n").unwrap().flows[0].size_bytes, 1_000_000);
    assert_eq!(read("2\n2 1 3 1000 2 9\n3 1 3 100 5000 9\n").unwrap().flows[0].size_bytes, 2);
    let ambiguous = format!("2\n2 1 3 1000 2 9\n3 1 3 500 2 9\n{words}");
    let error = read(&ambiguous).unwrap_err();
    assert!(error.starts_with("flow.txt:2: reads as a flow of 2 bytes at 9 s (hpcc), or as 1000 packets"), "{error}");
    let of = |columns| {
        let options = FlowFileOptions { columns: Some(columns), packet_bytes: 500, ..options() };
        read_flow_file(ambiguous.as_bytes(), "f", &options).unwrap()
    };
    assert_eq!(of(FlowColumns::Packets).flows[0].size_bytes, 500_000);
    assert_eq!(of(FlowColumns::Packets).warnings, [ends]);
    assert_eq!((of(FlowColumns::Six).flows[0].size_bytes, of(FlowColumns::Six).warnings.len()), (2, 0));
    // Lines of both formats in one file are refused.
    for (text, expected) in [
        ("2\n2 1 3 1000 2.0 9.5\n3 1 3 100 5000 2.0\n", "flow.txt:3: `2.0` is not an end after the start (ns3-rdma"),
        ("2\n3 1 3 100 5000 2.0\n2 1 3 1000 2.0 9.5\n", "flow.txt:3: `2.0` is not a size in bytes (hpcc flow file)"),
        ("2\n3 1 3 5000 2.0\n2 1 3 1000 2.0 9.5\n", "as many as in the flows above (conweave flow file)"),
    ] {
        assert!(read(text).unwrap_err().contains(expected), "{}", read(text).unwrap_err());
    }
    let written = write_flow_file(&file.flows, io::sink(), FlowColumns::Packets, Time::ZERO);
    assert_eq!(written.unwrap_err().kind(), io::ErrorKind::InvalidInput);
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_number() {
    let text = "1\r\n0 1 3 100 5 2.0\r\n";
    assert_eq!(read(&format!("\u{feff}{text}")), read(text));
}

#[test]
fn writing_refuses_what_the_format_cannot_say() {
    let mut flow = read("1\n0 1 3 100 5 2.0\n").unwrap().flows.remove(0);
    let mut out = Vec::new();
    write_flow_file(std::slice::from_ref(&flow), &mut out, FlowColumns::Six, Time::ZERO).unwrap();
    assert_eq!(out, b"1\n0 1 3 100 5 2.000000000\n");
    flow.size_bytes = ENDLESS;
    let mut untouched = Vec::new();
    let refused = write_flow_file(&[flow.clone()], &mut untouched, FlowColumns::Six, Time::ZERO);
    assert!(refused.unwrap_err().to_string().contains("flow 0 is endless"));
    flow.size_bytes = 1;
    flow.start = Start::After { waits_for: 1, delay: Time::ZERO };
    assert!(write_flow_file(&[flow], &mut untouched, FlowColumns::Six, Time::ZERO).is_err());
    assert!(untouched.is_empty());
}

proptest! {
    #[test]
    fn what_is_written_reads_back(
        rows in prop::collection::vec((0u32..300, 1u32..20, 0u8..8, 0u16.., 1u64..u64::MAX, 0u64..1 << 60), 0..30),
        origin_s in 0u64..3,
        six in prop::bool::ANY,
    ) {
        let columns = if six { FlowColumns::Six } else { FlowColumns::Five };
        let time_origin = Time::from_s(origin_s);
        let mut flows: Vec<Flow> = rows
            .into_iter()
            .map(|(src, offset, class, dst_port, size_bytes, ps)| Flow {
                src,
                dst: src + offset,
                size_bytes,
                start: Start::At(Time::from_ps(ps)),
                class,
                traffic: 2,
                dst_port: if six { dst_port } else { 100 },
                path: None,
                load: Load::Transport,
            })
            .collect();
        flows.sort_by_key(|flow| match flow.start {
            Start::At(at) => at,
            Start::After { .. } => Time::MAX,
        });
        let mut text = Vec::new();
        write_flow_file(&flows, &mut text, columns, time_origin).unwrap();
        let options = FlowFileOptions { time_origin, columns: Some(columns), ..options() };
        let file = read_flow_file(&text[..], "f", &options).unwrap();
        prop_assert_eq!(file.flows, flows);
        prop_assert_eq!(file.warnings, vec![]);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(prop::num::u8::ANY, 0..300)) {
        drop(read_flow_file(&bytes[..], "f", &options()));
    }

    #[test]
    fn any_columns_are_read_or_refused(text in "[0-9]{1,3}\n([0-9]{1,4} ([0-9.e]{1,6} ){3,5}[0-9.e]{1,8}\n){0,6}") {
        drop(read_flow_file(text.as_bytes(), "f", &options()));
    }
}
