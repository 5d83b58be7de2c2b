//! A permutation: each of sixteen hosts sends 1 MB to one other host, and receives from one other host.
//!
//! ```text
//!  h0  h1  h2  ...  h15
//!    \/  \ |   ...  /        no host sends to itself, each receives from one
//!    /\   \|   ... /
//!  h7  h0  h4  ...  h2
//! ```
use traffic::{Entry, Pairs, Pattern, PlanBuilder, Sizes, Workload};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hosts: Vec<u32> = (0..16).collect();
    let mut builder = PlanBuilder::new();
    let pairs = Pairs { pattern: Pattern::Permutation, workload: Workload::Bulk(Sizes::Fixed(1_000_000)) };
    traffic::pairs(&pairs, &hosts, &Entry::new(1, 0), &mut builder)?;
    let plan = builder.build(16)?;
    let mut heard: Vec<u32> = plan.flows.iter().map(|flow| flow.dst).collect();
    plan.flows.iter().for_each(|flow| println!("h{} -> h{}: {} B", flow.src, flow.dst, flow.size_bytes));
    heard.sort_unstable();
    assert_eq!(heard, hosts);
    Ok(())
}
