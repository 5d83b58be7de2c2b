//! The defaults of a scenario equal those of a setup constructed in code.

use model::parameters::Setup;
use scenario::Scenario;

const LEAST: &str = r#"
duration = "1ms"
fabric = { kind = "leaf-spine", leaves = 2, spines = 2, hosts_per_leaf = 4, link = {rate = "100Gbps", delay = "500ns"} }
traffic = [{ kind = "permutation", size = "1MB" }]
"#;

#[test]
fn a_setup_of_fabric_and_plan_is_that_of_the_least_scenario() {
    let lowered = || Scenario::parse(LEAST, "least.toml", "".as_ref(), &[], None).unwrap().lower().unwrap().setup;
    let Setup { fabric, traffic, .. } = lowered();
    let by_default = Setup::new(fabric, traffic).unwrap();
    assert_eq!(format!("{by_default:#?}"), format!("{:#?}", lowered()));
}
