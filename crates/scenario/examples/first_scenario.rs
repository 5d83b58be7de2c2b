//! Lowers a scenario and prints every value with its origin.
//!
//! ```text
//! text --parse--> each value checked by itself --lower--> all values checked together
//! ```
const TEXT: &str = r#"
duration = "1ms"
fabric = { kind = "fat-tree", k = 4, link = { rate = "100Gbps", delay = "500ns" } }
traffic = [{ kind = "incast", fan_in = 8, size = "1MB" }]
"#;

pub(crate) fn main() -> Result<(), scenario::ScenarioErrors> {
    let read = |text: &str| scenario::Scenario::parse(text, "first.toml", "".as_ref(), &[], None);
    let lowered = read(TEXT)?.lower()?;
    lowered.explain.iter().for_each(|value| println!("{} = {}", value.key, value.value));
    assert_eq!(lowered.setup.traffic.flows.len(), 8);
    let wrong = read(&TEXT.replace("k = 4", "k = 7")).and_then(|scenario| scenario.lower()).unwrap_err();
    println!("{wrong}");
    Ok(())
}
