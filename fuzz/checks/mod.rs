//! Checks of all fuzz targets, and their committed inputs. The tests and the examples of the command line include this
//! module by its path; each fuzz target includes its own check.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

macro_rules! targets {
    ($($name:ident)*) => {
        $(pub mod $name;)*
        /// Name and check of each target.
        pub const TARGETS: &[(&str, fn(&[u8]))] = &[$((stringify!($name), $name::check)),*];
    };
}

targets! {
    fabric_export
    fabric_formats
    fabric_hpcc
    fabric_node_link
    import_hpcc
    record_fct
    record_tables
    running_config
    scenario_fluid
    scenario_sweep
    scenario_toml
    schedule_network
    schedule_streams
    tagger_export
    tagger_paths
    tagger_profile
    traffic_cdf
    traffic_flows
    traffic_matrix
    units_quantity
    verify_gates
    verify_lists
    verify_paths
    verify_rules
    wire_frame
}

/// Returns the inputs in `fuzz/corpus/<target>.tar` by name.
///
/// # Panics
///
/// If the archive is unreadable or empty.
pub fn inputs(target: &str) -> BTreeMap<String, Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(format!("{target}.tar"));
    let file = std::fs::File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut inputs = BTreeMap::new();
    for entry in tar::Archive::new(file).entries().expect("an archive") {
        let mut entry = entry.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let name = entry.path().expect("a path").to_string_lossy().into_owned();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap_or_else(|error| panic!("{}: {name}: {error}", path.display()));
        inputs.insert(name, bytes);
    }
    assert!(!inputs.is_empty(), "{} has no input", path.display());
    inputs
}
