//! A result folder is written atomically, and its integrity can be checked.
//!
//! ```text
//!  .first-....tmp/ { flows.parquet, summary.json } ---- finish ----> first/
//! ```
use record::flows::{FlowRecord, FlowTable};
use record::folder::{ResultFolder, read_verified};
use record::summary::Summary;
use record::timing::Timing;

pub(crate) fn main() -> Result<(), record::RecordError> {
    let target = std::env::temp_dir().join(format!("tidegate-first-{}", std::process::id()));
    let folder = ResultFolder::create(&target)?;
    let mut summary = Summary::default();
    let mut table = FlowTable::create(&folder.writable_path("flows.parquet")?, &summary.scenario)?;
    let flow = FlowRecord { size_bytes: 1_000_000, delivered_ps: Some(81_000_000), ..FlowRecord::default() };
    table.push("bulk", &flow)?;
    table.close()?;
    let location = folder.finish(&mut summary, &Timing::default())?;
    println!("{} with hash {}", location.display(), summary.results_hash);
    assert_eq!(read_verified(&target)?.results_hash, summary.results_hash);
    let _ = std::fs::remove_dir_all(&target);
    Ok(())
}
