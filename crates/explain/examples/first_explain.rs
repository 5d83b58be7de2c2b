//! Explains the delays of the last packet of an incast, from a traced run.
//!
//! ```text
//!  h1 ... h3 ====> S1 ----> h0      result/trace.parquet --Trace::read--> packet --> a story
//! ```
const SCENARIO: &str = r#"
duration = "1ms"
fabric = { kind = "single-switch", hosts = 4, link = { rate = "100Gbps", delay = "500ns" } }
traffic = [{ kind = "incast", fan_in = 3, size = "10KB" }]
record = { trace = {} }
"#;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let target = std::env::temp_dir().join(format!("tidegate-first-explain-{}", std::process::id()));
    let stop = lab::StopFlag::default();
    let run = lab::Run::parse(SCENARIO, "first.toml", &[], None, &stop)?;
    run.produce(Some(lab::folder(&target)?), &mut model::NullWatcher, lab::RunOptions::default(), &stop)?;
    let trace = explain::Trace::read(&target)?;
    let last = trace.rows.iter().filter_map(|row| row.packet).map(|packet| packet.number).max();
    let explanation = explain::packet(&trace, last.unwrap_or_default())?;
    print!("{}", explanation.text(text::ColorMode::Plain));
    assert!(!explanation.lines.is_empty());
    let _ = std::fs::remove_dir_all(&target);
    Ok(())
}
