//! Checks of scenarios, sweeps and imported files, a module for each fuzz target.

pub mod import_hpcc {
    //! `config.txt` of HPCC's simulator: any text is rejected with a reason and a line, or converted to a scenario that
    //! lowers.

    use scenario::Scenario;
    use scenario::import::{HpccConfig, Inputs};
    use std::io;
    use std::path::Path;
    use traffic::FlowFileOptions;

    const TOPOLOGY: &str = "4 1 3\n3\n0 3 100Gbps 1us 0\n1 3 100Gbps 1us 0\n2 3 25Gbps 1us 0\n";
    const FLOWS: &str = "2\n0 2 3 100 20000 2.0\n1 2 1 100 500 2.1\n";

    /// Panics if the text violates the property in the module documentation. A first line `#! KIND` is the transport.
    pub fn check(bytes: &[u8]) {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        let transport = text.lines().next().and_then(|line| line.strip_prefix("#!")).map(str::trim);
        let config = match HpccConfig::parse(text, "fuzz") {
            Ok(config) => config,
            Err(errors) => return refused(&errors),
        };
        let fabric = fabric::files::read_hpcc(TOPOLOGY).expect("a topology");
        let options = FlowFileOptions { hosts: 3, switches: vec![3], ..FlowFileOptions::default() };
        let flows = traffic::read_flow_file(FLOWS.as_bytes(), "flows", &options).expect("flows").flows;
        let inputs = Inputs {
            fabric: &fabric,
            flows: &flows,
            topology_file: "t",
            flow_file: "f",
            transport,
            ignore: &[],
            keeps_paths: true,
        };
        let imported = match config.scenario(inputs) {
            Ok(imported) => imported,
            Err(errors) => return refused(&errors),
        };
        // The import reports an error for unknown keys, so that a successful import has none.
        assert_eq!(config.unknown().next(), None);
        assert!(imported.notes.iter().all(|note| !note.is_empty()));
        let load = |path: &Path| match path.to_str() {
            Some("t") => Ok(TOPOLOGY.into()),
            Some("f") => Ok(FLOWS.into()),
            _ => Err(io::Error::from(io::ErrorKind::NotFound)),
        };
        let scenario = Scenario::parse_with(&imported.text, "made.toml", Path::new(""), &[], None, Box::new(load));
        match scenario {
            // The scenario may have values out of range, but it must be well-formed: each error refers to a key.
            Err(errors) => {
                assert!(errors.errors.iter().all(|error| !error.key.is_empty()), "{errors}\n{}", imported.text)
            }
            Ok(scenario) => drop(scenario.lower()),
        }
    }

    fn refused(errors: &scenario::ScenarioErrors) {
        assert!(!errors.errors.is_empty(), "a refusal says why");
        assert!(errors.errors.iter().all(|error| error.path == "fuzz" && !error.message.is_empty()), "{errors}");
    }
}

pub mod scenario_fluid {
    //! Files of fluid models: any text is rejected with a reason and a location, or yields a model that can be solved.

    use scenario::FluidFile;

    /// Panics if the text violates the property in the module documentation.
    pub fn check(bytes: &[u8]) {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        match FluidFile::parse(text, "fuzz.toml", &[]) {
            Err(errors) => {
                assert!(!errors.errors.is_empty(), "a refusal says why");
                for error in &errors.errors {
                    assert!(!error.message.is_empty() && error.span.end <= text.len(), "{error}");
                }
            }
            Ok(file) => {
                let model = file.model();
                let mut state = vec![0.0; model.variables().len()];
                model.history(0.0, &mut state);
                for (variable, value) in model.variables().iter().zip(state) {
                    assert!(variable.scale > 0.0 && variable.scale.is_finite(), "{variable:?}");
                    assert!((variable.floor..=variable.ceiling).contains(&value), "{variable:?} begins at {value}");
                }
                assert!(model.delays().iter().all(|delay| (0.0..f64::INFINITY).contains(&delay.longest())), "{file:?}");
            }
        }
    }
}

pub mod scenario_sweep {
    //! Sweep files: any text is rejected with a reason and a location, or is a sweep with consistent parts.

    use scenario::SweepFile;
    use std::path::Path;

    /// Panics if the text violates the property in the module documentation.
    pub fn check(bytes: &[u8]) {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        let _ = SweepFile::recognise(text);
        match SweepFile::parse(text, "fuzz.toml", Path::new("")) {
            Err(errors) => {
                assert!(!errors.errors.is_empty(), "a refusal says why");
                for error in &errors.errors {
                    assert!(!error.message.is_empty() && error.span.end <= text.len(), "{error}");
                }
            }
            Ok(sweep) => {
                assert!(sweep.set.iter().all(|choice| choice.values.len() == 1), "a value each");
                assert!(sweep.vary.iter().all(|choice| !choice.values.is_empty()), "a value at least");
                let lengths: Vec<usize> = sweep.runs.iter().map(|choice| choice.values.len()).collect();
                assert!(lengths.windows(2).all(|pair| pair[0] == pair[1]), "each run has a value of each key");
                let mut seeds = sweep.seeds.clone();
                seeds.sort_unstable();
                assert!(seeds.windows(2).all(|pair| pair[0] != pair[1]), "no seed twice");
            }
        }
    }
}

pub mod scenario_toml {
    //! Scenarios: any text is rejected with a reason and a location, or lowers to a network with traffic.

    /// Panics if the text violates the property in the module documentation. A first line `#! key = value` is an
    /// override, like `--set`.
    pub fn check(bytes: &[u8]) {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        let first = text.lines().next().and_then(|line| line.strip_prefix("#!"));
        let over = first.and_then(|line| line.split_once('=')).map(|(key, value)| (key.trim(), value.trim()));
        scenario::fuzz::read_any(text, over);
    }
}
