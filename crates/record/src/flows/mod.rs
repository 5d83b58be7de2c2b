//! Flow records, streamed to `flows.parquet` and to `fct.txt`.

mod fct;
mod parquet;

pub use fct::{FctFormat, FctLine, FctWriter, read_fct};
pub use parquet::{FlowTable, flow_columns, read_flows};
pub use stats::flows::*;

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Maximum value of counts in a table.
    const COUNTS: u64 = (1 << 63) - 1;

    prop_compose! {
        pub(crate) fn any_flow()(
            flow in 0..COUNTS, traffic in 0u32..5, src_host in 0u32..65_536, dst_host in 0u32..65_536,
            ports in any::<(u16, u16)>(), class in 0u8..8, size_bytes in 0..COUNTS, start_ps in 0u64..1 << 50,
            delivered in prop::option::of(1u64..1 << 50), acked in any::<bool>(), retransmitted_bytes in 0..COUNTS,
            timeouts in any::<u32>(), baseline_fct_ps in 0u64..1 << 40,
        ) -> FlowRecord {
            let delivered_ps = delivered.map(|fct| start_ps + fct);
            FlowRecord {
                flow, traffic, src_host, dst_host, src_port: ports.0, dst_port: ports.1, class, size_bytes, start_ps,
                delivered_ps, acked_ps: delivered_ps.filter(|_| acked).map(|at| at + 5), awaits_ack: false,
                retransmitted_bytes, timeouts, baseline_fct_ps, fct_txt_standalone_ns: baseline_fct_ps / 1000,
            }
        }
    }
}
