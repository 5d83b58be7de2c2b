//! Shortest paths: all ports whose link reduces the distance to the destination by one, in ascending order (ECMP).

use super::distances::{Search, UNREACHABLE};
use super::error::RoutingError;
use super::net::{NONE, RouterGraph, Rows};
use super::table::{Table, TableBuilder};

/// Builds the table of all rows for which `wanted` returns `true`; the other rows are empty.
pub(crate) fn build(net: &RouterGraph, rows: &Rows, wanted: impl Fn(usize) -> bool) -> Result<Table, RoutingError> {
    let mut table = TableBuilder::new(net.len(), rows.len())?;
    let mut search = Search::new(net);
    let mut ports = Vec::new();
    for (row, target) in rows.target.iter().enumerate().filter(|&(row, _)| wanted(row)) {
        let target = net.slot[target.index()];
        search.run(net, target, |_, _| true);
        for slot in 0..net.len() as u32 {
            let links = search.links[slot as usize];
            if slot == target && rows.row_switch[row] != NONE {
                table.leave_open(slot);
            }
            if links == UNREACHABLE || slot == target {
                continue;
            }
            ports.clear();
            ports.extend(
                net.edges(slot)
                    .iter()
                    .filter(|edge| search.links[edge.peer as usize] == links - 1)
                    .filter(|edge| edge.peer == target || net.forwards[edge.peer as usize])
                    .map(|edge| edge.port),
            );
            table.set(slot, &ports);
        }
        table.end_row(row)?;
    }
    Ok(table.finish(net))
}
