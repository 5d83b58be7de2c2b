//! Checks of all fuzz targets. The fuzz targets, and the tests and the examples of the command line include this module
//! by its path.

macro_rules! targets {
    ($($file:ident: $($name:ident)*;)*) => {
        $(pub mod $file;)*
        /// Name and check of each target.
        pub const TARGETS: &[(&str, fn(&[u8]))] = &[$($((stringify!($name), $file::$name::check)),*),*];
    };
}

targets! {
    fabric: fabric_export fabric_formats fabric_hpcc fabric_node_link;
    record: record_fct record_tables;
    running: running_config;
    scenario: import_hpcc scenario_fluid scenario_sweep scenario_toml;
    schedule: schedule_network schedule_streams;
    tagger: tagger_export tagger_paths tagger_profile;
    traffic: traffic_cdf traffic_flows traffic_matrix;
    units: units_quantity;
    verify: verify_gates verify_lists verify_paths verify_rules;
    wire: wire_frame;
}
