//! Checks of configurations of running switches, a module for each fuzz target.

pub mod running_config {
    //! A list of `config_db.json` objects: any bytes are faults with file and key, or a configuration that is analysed
    //! without a panic.

    use fabric::LinkSpec;
    use fabric::files::{Options as FileOptions, read_config_db};
    use running::{Binding, Options, PathSet, QueueBinding};
    use units::{Rate, Time};

    /// Panics if the bytes violate the property in the module documentation.
    pub fn check(bytes: &[u8]) {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        let configs = match running::read(&[("input.json".to_owned(), text.to_owned())]) {
            Ok(configs) => configs,
            Err(faults) => {
                assert!(
                    faults.iter().all(|fault| !fault.key.is_empty() && !fault.message.is_empty()) && !faults.is_empty()
                );
                return;
            }
        };
        let link = LinkSpec::new(Rate::from_gbps(100), Time::from_ns(25));
        let Ok(fabric) = read_config_db(text, &FileOptions::new(link)) else { return };
        for (binding, paths) in [
            (QueueBinding::Egress, PathSet::Shortest),
            (QueueBinding::Ingress, PathSet::Bounces(1)),
            (QueueBinding::Egress, PathSet::Any),
        ] {
            let headroom = |conditions: &running::Conditions| 3 * conditions.mtu;
            let options = Options { binding, paths, headroom: &headroom, asic: None, accepted_strict: 0 };
            let Ok(report) = running::judge(&fabric, &configs, &options) else { return };
            assert_eq!(report.safe(), report.findings.is_empty());
            // A report with a cyclic buffer dependency must not be called safe: the cycle must be among the findings.
            assert!(!(report.safe() && report.can_deadlock()));
        }
        if let Ok(binding) = Binding::new(&fabric, &configs, QueueBinding::Egress) {
            let _ = binding.rules();
        }
    }
}
