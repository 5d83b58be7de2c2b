//! Checks of stream lists and of networks for schedules, a module for each fuzz target.

pub mod schedule_network {
    //! Networks of tsnkit: any bytes are an error with a message and a line, or a fabric.

    /// Panics if the bytes violate the property in the module documentation.
    pub fn check(bytes: &[u8]) {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        match schedule::tsnkit::network(text) {
            Ok((fabric, _)) => assert!(fabric.links().iter().all(|link| link.delay.as_ps() > 0)),
            Err(error) => assert!(!error.message.is_empty() && error.line <= text.lines().count() + 1, "{error:?}"),
        }
    }
}

pub mod schedule_streams {
    //! Lists of streams, TOML or tsnkit's CSV: any bytes are an error with a message, or streams with slots that an
    //! independent verifier accepts.

    use fabric::{Fabric, FabricBuilder, LinkSpec};
    use schedule::gates::{GateOptions, gates};
    use schedule::offline::{central, first_come};
    use schedule::protocol::WireCost;
    use schedule::streams::{Listed, StreamsError, links, on_fabric, parse};
    use schedule::{Problem, Schedule, SlotStrategy, tsnkit};
    use units::{Rate, Time};

    /// Returns hosts 0 to 3 at one switch, and 4 and 5 at another.
    fn fabric() -> Fabric {
        let mut builder = FabricBuilder::new("fuzz");
        let switches = [builder.add_switch("s0", 1), builder.add_switch("s1", 1)];
        let spec = LinkSpec::new(Rate::from_gbps(10), Time::from_ns(50));
        builder.connect(switches[0], switches[1], spec);
        for host in 0..6 {
            let node = builder.add_host(host.to_string());
            builder.connect(node, switches[usize::from(host > 3)], spec);
        }
        builder.build().expect("a fabric")
    }

    /// Panics if the bytes violate the property in the module documentation.
    pub fn check(bytes: &[u8]) {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        let csv = text.starts_with("stream,");
        let fabric = fabric();
        let listed: Result<Vec<Listed>, StreamsError> = if csv { tsnkit::streams(text) } else { parse(text) };
        let streams = match listed.and_then(|listed| on_fabric(&fabric, &listed)) {
            Ok(streams) if streams.len() <= 12 => streams,
            Ok(_) => return,
            Err(error) => {
                return assert!(!error.message.is_empty() && error.line <= text.lines().count() + 1, "{error:?}");
            }
        };
        let (wire, processing) = (WireCost::Ethernet, Time::from_ns(7));
        let (grid, max_cycle) = (Time::from_ns(1), Time::from_ms(2));
        let problem = Problem { links: links(&fabric), streams, wire, processing, grid, max_cycle };
        if problem.check().is_err() {
            return;
        }
        let judged = |schedule: &Schedule| {
            let lists = gates(&problem, schedule, GateOptions { class: 7, guard_bytes: 0 });
            let file = schedule::file::write(&problem, schedule, &lists, 7);
            let read = verify::gates::Gates::parse(&file).expect("what was written is read");
            let judgement = verify::gates::judge(&read, &fabric);
            assert!(judgement.pass(), "{:?}", judgement.checks);
        };
        let (one, other) = (central(&problem), first_come(&problem, SlotStrategy::Tightest));
        judged(&one);
        judged(&other);
        assert_eq!(one.accepted() + one.rejected.len(), problem.streams.len());
        assert!(!one.most || other.accepted() <= one.accepted());
    }
}
