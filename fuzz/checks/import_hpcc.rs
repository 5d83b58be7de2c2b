//! `config.txt` of HPCC's simulator: any text is rejected with a reason and a line, or converted to a scenario that
//! lowers.

use scenario::Scenario;
use scenario::import::{HpccConfig, Inputs};
use std::io;
use std::path::Path;
use traffic::FlowFileOptions;

const TOPOLOGY: &str = "4 1 3\n3\n0 3 100Gbps 1us 0\n1 3 100Gbps 1us 0\n2 3 25Gbps 1us 0\n";
const FLOWS: &str = "2\n0 2 3 100 20000 2.0\n1 2 1 100 500 2.1\n";

/// Fails on a text that violates the property. A first line `#! KIND` is the transport.
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
    // Unknown keys are rejected, so there are none here.
    assert_eq!(config.unknown().next(), None);
    assert!(imported.notes.iter().all(|note| !note.is_empty()));
    let load = |path: &Path| match path.to_str() {
        Some("t") => Ok(TOPOLOGY.into()),
        Some("f") => Ok(FLOWS.into()),
        _ => Err(io::Error::from(io::ErrorKind::NotFound)),
    };
    let scenario = Scenario::parse_with(&imported.text, "made.toml", Path::new(""), &[], None, Box::new(load));
    match scenario {
        // Values may be out of a scenario's range; the output is a well-formed scenario file in any case.
        Err(errors) => assert!(errors.errors.iter().all(|error| !error.key.is_empty()), "{errors}\n{}", imported.text),
        Ok(scenario) => drop(scenario.lower()),
    }
}

fn refused(errors: &scenario::ScenarioErrors) {
    assert!(!errors.errors.is_empty(), "a refusal says why");
    assert!(errors.errors.iter().all(|error| error.path == "fuzz" && !error.message.is_empty()), "{errors}");
}
