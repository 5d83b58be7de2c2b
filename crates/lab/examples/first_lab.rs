//! Seven hosts send to one at once; PAUSE prevents losses, and without it some frames are dropped.
//!
//! ```text
//!  h1 ... h7 ====> s0 ----> h0      100 Gbps each: seven times the capacity
//! ```
const SCENARIO: &str = r#"
duration = "1ms"
fabric = { kind = "single-switch", hosts = 8, link = { rate = "100Gbps", delay = "500ns" } }
switch = { buffer = "1MB" }
[[traffic]]
kind = "incast"
fan_in = 7
size = "500KB"
"#;

pub(crate) fn main() -> Result<(), lab::LabError> {
    let stop = lab::StopFlag::default();
    for flow_control in ["pause", "none"] {
        let change = lab::Override { key: "switch.flow_control".into(), value: flow_control.into() };
        let run = lab::Run::parse(SCENARIO, "first.toml", &[change], None, &stop)?;
        let found = run.produce(None, &mut model::NullWatcher, lab::RunOptions::default(), &stop)?.summary;
        println!("{flow_control}: {} pauses, {} frames lost", found.pauses.count, found.packets.dropped_total());
    }
    Ok(())
}
