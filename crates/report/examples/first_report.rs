//! A result as one HTML page.
//!
//! ```text
//!  result/ { summary.json, timing.json } --read_run--> Run --page--> one file for any browser
//! ```
use record::folder::ResultFolder;
use record::summary::Summary;
use record::timing::Timing;

pub(crate) fn main() -> Result<(), report::ReportError> {
    let target = std::env::temp_dir().join(format!("tidegate-first-report-{}", std::process::id()));
    let mut summary = Summary::default();
    summary.scenario.version = env!("CARGO_PKG_VERSION").to_owned();
    ResultFolder::create(&target)?.finish(&mut summary, &Timing::default())?;
    let page = report::page("first", &[report::read_run(&target, "a run")?]);
    println!("a page of {} bytes", page.len());
    assert!(page.contains("<title>first"));
    let _ = std::fs::remove_dir_all(&target);
    Ok(())
}
