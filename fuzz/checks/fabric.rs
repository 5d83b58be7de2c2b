//! Checks of network files, a module for each fuzz target.

pub mod fabric_export {
    //! Export of fabrics to every format. A format either rejects a valid fabric with a reason, or writes it so that
    //! reading the file gives a fabric of the same size.

    use fabric::files::{Format, Options, detect};
    use fabric::{Fabric, LinkSpec};
    use units::{Rate, Time};

    const LINK: LinkSpec = LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500));

    /// Panics if the text violates the property in the module documentation.
    pub fn check(bytes: &[u8]) {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        let options = Options { hosts_per_switch: 1, ..Options::new(LINK) };
        let Some(Ok(fabric)) = detect("file", text).map(|format| format.read(text, &options)) else { return };
        if fabric.links().len() > 1000 {
            return;
        }
        let size = |fabric: &Fabric| (fabric.links().len(), fabric.hosts().len(), fabric.switches().count());
        for format in Format::ALL {
            let written = match format.write(&fabric) {
                Ok(written) => written,
                Err(error) => {
                    assert!(error.to_string().contains("cannot express"), "{error}");
                    continue;
                }
            };
            let options = Options { hosts_per_switch: 0, ..options.clone() };
            let again = format.read(&written, &options);
            // A link table does not state which nodes are hosts. If the reader recognises no node as a host, the table
            // is not a valid fabric.
            if format == Format::LinkCsv {
                let same = |again: &Fabric| again.links().len() == fabric.links().len();
                assert!(
                    again.as_ref().map_or_else(|error| error.to_string().contains("none is a host"), same),
                    "{again:?}"
                );
                continue;
            }
            let again = again.unwrap_or_else(|error| panic!("{}: {error}\n{written}", format.name()));
            assert_eq!(size(&again), size(&fabric), "{}", format.name());
            // The first reading of an exported file may renumber nodes in file order. A second export and reading must
            // not change the file.
            let second = format.write(&again).expect("what was written once");
            let settled = format.read(&second, &options).expect("what was written can be read");
            assert_eq!(format.write(&settled), Ok(second), "{}: written again it is the same", format.name());
        }
    }
}

pub mod fabric_formats {
    //! Detected topology formats: any text is an error or a fabric. A fabric that was read can be written in each
    //! format without data loss, and reading that file gives a fabric with all links.

    use fabric::LinkSpec;
    use fabric::files::{Format, Options, detect};
    use units::{Rate, Time};

    const LINK: LinkSpec = LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500));

    /// Panics if the text violates the property in the module documentation.
    pub fn check(bytes: &[u8]) {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        let options = Options { hosts_per_switch: 1, ..Options::new(LINK) };
        let Some(format) = detect("file", text) else { return };
        let fabric = match format.read(text, &options) {
            Ok(fabric) => fabric,
            Err(error) => return assert!(!error.to_string().is_empty()),
        };
        fabric.check().expect("what was read is a network");
        // Skip fabrics with unusual names: XML cannot contain every character, and white space around names is lost.
        let plain = |name: &str| name.chars().all(|c| c.is_ascii_graphic()) && !name.is_empty();
        if fabric.links().len() > 1000 || !fabric.nodes().iter().all(|node| plain(&node.name)) {
            return;
        }
        let ports =
            fabric.node_ids().flat_map(|node| (0..fabric.ports(node).len() as u16).map(move |port| (node, port)));
        if !ports.into_iter().all(|(node, port)| fabric.port_name(node, port).is_none_or(plain)) {
            return;
        }
        for format in [Format::NodeLink, Format::GraphMl] {
            let written = format.write(&fabric).expect("it can say everything");
            let again = format.read(&written, &options).expect("what was written can be read");
            assert_eq!(again.links().len(), fabric.links().len());
        }
    }
}

pub mod fabric_hpcc {
    //! `topology.txt`: any text is an error or a fabric, and a fabric that was read can be written and read again.

    use fabric::files::{read_hpcc, write_hpcc};

    /// Panics if the text violates the property in the module documentation.
    pub fn check(bytes: &[u8]) {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        let fabric = match read_hpcc(text) {
            Ok(fabric) => fabric,
            Err(error) => return assert!(!error.to_string().is_empty()),
        };
        fabric.check().expect("what was read is a network");
        let written = write_hpcc(&fabric).expect("what was read can be written");
        let again = read_hpcc(&written).expect("what was written can be read");
        assert_eq!(again.links(), fabric.links());
        assert_eq!(again.nodes(), fabric.nodes());
        assert_eq!(write_hpcc(&again).expect("as before"), written);
    }
}

pub mod fabric_node_link {
    //! Node-link JSON: any text is an error or a fabric, and a fabric that was read can be written and read again.

    use fabric::LinkSpec;
    use fabric::files::{Options, read_node_link, write_node_link};
    use units::{Rate, Time};

    const LINK: LinkSpec = LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500));

    /// Panics if the text violates the property in the module documentation.
    pub fn check(bytes: &[u8]) {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        for hosts_per_switch in [0, 2] {
            check_with(text, Options { hosts_per_switch, ..Options::new(LINK) });
        }
    }

    fn check_with(text: &str, options: Options) {
        let fabric = match read_node_link(text, &options) {
            Ok(fabric) => fabric,
            Err(error) => return assert!(!error.to_string().is_empty()),
        };
        fabric.check().expect("what was read is a network");
        let written = write_node_link(&fabric);
        let again = read_node_link(&written, &options).expect("what was written can be read");
        assert_eq!(again.links(), fabric.links());
        assert_eq!(again.nodes(), fabric.nodes());
        assert_eq!(write_node_link(&again), written);
    }
}
