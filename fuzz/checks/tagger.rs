//! Checks of paths, profiles and exported rules, a module for each fuzz target.

pub mod tagger_export {
    //! Export of rule files to switches: any text is rejected with the name of its invalid element, or is a rule table
    //! that can be written and read again without a difference. Each switch dialect can express the table, or the
    //! export is rejected with the name of the switch.

    use fabric::LinkSpec;
    use fabric::generate::{TierLinks, leaf_spine};
    use tagger::export::sonic::{Settings, Watchdog};
    use tagger::export::{
        Cable, Dialect, Interfaces, Marks, QueueBinding, SwitchView, acl, eos, listing, nftables, sonic,
    };
    use tagger::operate::budget::Needs;
    use tagger::operate::diff::{Side, diff};
    use tagger::rules::{LOSSY_TAG, RuleTable, fabric_hash};
    use units::{Rate, Time};

    /// Placeholder for the fabric's hash in inputs, because a fuzzer cannot guess a hash.
    const HASH: &str = "@HASH@";

    /// Panics if the text violates the property in the module documentation.
    pub fn check(bytes: &[u8]) {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        let links = TierLinks::uniform(LinkSpec::new(Rate::from_gbps(10), Time::from_ns(1)));
        let fabric = leaf_spine(3, 2, 1, 1, links).expect("a fabric");
        let table = match RuleTable::read(&fabric, &text.replace(HASH, &fabric_hash(&fabric))) {
            Ok(table) => table,
            Err(error) => return assert!(!error.to_string().is_empty()),
        };
        let written = table.write(&fabric);
        let again = RuleTable::read(&fabric, &written).expect("what was written can be read");
        assert_eq!(again, table);
        assert!(
            diff(Side { fabric: &fabric, table: &table }, Side { fabric: &fabric, table: &again }).is_empty(),
            "rules differ from themselves"
        );
        let names = Interfaces::of_fabric(Dialect::Listing);
        let marks = Marks::usual(&table.lossless_tags);
        let settings = Settings {
            binding: QueueBinding::Egress,
            watchdog: Watchdog::All,
            first_tags: table.classes.iter().map(|class| class.first_tag).collect(),
            detection_ms: 200,
            restoration_ms: 200,
            xon_bytes: 18_432,
            dynamic_th: 0,
        };
        let cable = |link: &fabric::Link| Cable { rate: link.rate, delay: link.delay, headroom_bytes: 50_000 };
        for view in SwitchView::all(&fabric, &table, &names, cable) {
            let view = view.expect("names of ports differ");
            let (mut table, mut csv, mut json) = (String::new(), String::new(), String::new());
            listing::table(&mut table, &view, LOSSY_TAG);
            assert!(table.contains(view.name()));
            listing::csv(&mut csv, &view);
            assert_eq!(csv.lines().count(), view.rule_count());
            listing::json(&mut json, &view);
            assert_eq!(json.lines().count(), view.rule_count() + view.ports().len() + 7, "{json}");
        }
        let Ok(marks) = &marks else { return };
        // The fabric has no port names: use the usual port names of each dialect.
        for dialect in [Dialect::Sonic, Dialect::Eos, Dialect::Linux] {
            let names = Interfaces::of_fabric(dialect).with_pattern(dialect.usual_pattern()).expect("a pattern");
            for view in SwitchView::all(&fabric, &table, &names, cable) {
                let view = view.expect("names of ports differ");
                let trusting = view.clone().trusting_hosts_with(&settings.first_tags);
                for view in [&view, &trusting] {
                    said_or_refused(view, marks, &settings, dialect);
                }
            }
        }
    }

    /// Checks that the exported configuration is well formed, or that the error names the switch.
    fn said_or_refused(view: &SwitchView, marks: &Marks, settings: &Settings, dialect: Dialect) {
        let misfit = |error: &dyn std::fmt::Display| assert!(error.to_string().contains(view.name()));
        match dialect {
            Dialect::Sonic => {
                for binding in [QueueBinding::Egress, QueueBinding::Ingress] {
                    let settings = Settings { binding, ..settings.clone() };
                    let buffers = sonic::PlatformBuffers::default();
                    let made = sonic::fragment(view, marks, &settings, &buffers).map_err(|error| misfit(&error));
                    let notes = sonic::notes(view, marks, &settings).map_err(|error| misfit(&error));
                    assert_eq!(made.is_ok(), notes.is_ok());
                }
                let acl = acl::config_db(view, marks).map_err(|error| misfit(&error));
                assert!(acl.is_err() || acl.is_ok_and(|acl| acl.is_object()));
            }
            Dialect::Eos => drop(eos::config(view, marks).map_err(|error| misfit(&error))),
            _ => {
                for family in [nftables::Family::Inet, nftables::Family::Bridge] {
                    let rules = nftables::ruleset(view, marks, family).map_err(|error| misfit(&error));
                    assert!(rules.is_err() || rules.is_ok_and(|rules| rules.ends_with("}\n")));
                }
                let queues = nftables::queues(view, marks).map_err(|error| misfit(&error));
                assert!(queues.is_err() || queues.is_ok_and(|queues| !queues.is_empty()));
            }
        }
        assert!(Needs::of(view, marks).tcam_entries >= marks.lossless().len() as u64);
    }
}

pub mod tagger_paths {
    //! Inputs of expected paths: JSON routes, the forwarding tables and node names of an OpenSM subnet, and lists of
    //! paths. Any text is rejected with a reason, or yields loop-free host-to-host paths for which rules can be
    //! generated.

    use fabric::generate::{TierLinks, leaf_spine};
    use fabric::{Fabric, LinkSpec};
    use std::ops::ControlFlow;
    use tagger::paths::{ExpectedPaths, PathError, PathList, PathSource, Routes, SubnetNames};
    use tagger::{Request, generate};
    use units::{Rate, Time};

    /// Separator between the node names of a subnet and its forwarding tables in one input.
    const BETWEEN: &str = "\n%%\n";

    /// Panics if the text violates the property in the module documentation.
    pub fn check(bytes: &[u8]) {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        let links = TierLinks::uniform(LinkSpec::new(Rate::from_gbps(10), Time::from_ns(1)));
        let fabric = leaf_spine(3, 2, 1, 2, links).expect("a fabric");
        let source = match text.split_once(BETWEEN) {
            Some((subnet, tables)) => SubnetNames::read_ibnetdiscover(&fabric, subnet)
                .and_then(|names| Routes::read_fdbs(&fabric, tables, &names))
                .map(PathSource::Tables),
            None if text.trim_start().starts_with('{') => Routes::read_json(&fabric, text).map(PathSource::Tables),
            None => PathList::read(&fabric, text).map(PathSource::List),
        };
        match source {
            Err(error) => assert!(!error.to_string().is_empty()),
            Ok(source) => follow(&fabric, source),
        }
    }

    fn follow(fabric: &Fabric, source: PathSource) {
        let expected: ExpectedPaths = source.clone().into();
        let mut count = 0;
        let visited: Result<(), PathError> = expected.visit(fabric, &mut |path| {
            let nodes = path.nodes(fabric);
            let ends = [nodes.first(), nodes.last()];
            assert!(
                ends.iter().all(|end| end.is_some_and(|&end| fabric.host_index(end).is_some())),
                "from host to host"
            );
            assert!(nodes.iter().enumerate().all(|(at, node)| !nodes[..at].contains(node)), "without a loop");
            count += 1;
            if count < 1000 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        match generate(fabric, &Request::new(source)) {
            Ok(generated) => assert!(visited.is_ok() && generated.report.tags > 0 || count == 0),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

pub mod tagger_profile {
    //! Profiles of ASICs: any text is rejected with a reason and a line, or states limits that are all above zero.

    use tagger::operate::profile::Profile;

    /// Panics if the text violates the property in the module documentation.
    pub fn check(bytes: &[u8]) {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        match Profile::parse(text) {
            Err(error) => {
                assert!(!error.message.is_empty());
                assert!(error.line.is_none_or(|line| line >= 1 && line <= text.matches('\n').count() + 1), "{error:?}");
            }
            Ok(profile) => {
                let limits = profile.limits;
                let counts = [limits.lossless_priorities, limits.tcam_entries, limits.traffic_classes, limits.ports];
                assert!(counts.into_iter().flatten().all(|limit| limit > 0));
            }
        }
    }
}
