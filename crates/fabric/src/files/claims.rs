//! Check of the entries of a file that each connect two ports: an entry of the other end confirms one.

use super::error::FileError;
use super::plain::{ParsedEnd, fail};
use std::collections::BTreeMap;

/// An entry: a port, the port that it leads to, and its location.
struct Claim {
    location: String,
    from: ParsedEnd,
    to: ParsedEnd,
}

/// The entries of a file.
#[derive(Default)]
pub(super) struct Claims(Vec<Claim>);

impl Claims {
    pub fn add(&mut self, location: String, from: &ParsedEnd, to: &ParsedEnd) {
        self.0.push(Claim { location, from: from.clone(), to: to.clone() });
    }

    /// Checks that each port has one other end.
    ///
    /// # Errors
    /// Two entries that connect one port to two others. The error is at the entry without an entry of the other end, if
    /// the other entry has one, and otherwise at the second; it has both locations.
    pub fn check(&self) -> Result<(), FileError> {
        let mut leading: BTreeMap<(&ParsedEnd, &ParsedEnd), usize> = BTreeMap::new();
        let mut first: BTreeMap<&ParsedEnd, (&ParsedEnd, usize)> = BTreeMap::new();
        for (at, claim) in self.0.iter().enumerate() {
            leading.entry((&claim.from, &claim.to)).or_insert(at);
        }
        let confirming = |claim: &Claim| leading.get(&(&claim.to, &claim.from)).copied();
        for (at, claim) in self.0.iter().enumerate() {
            for (port, peer) in [(&claim.from, &claim.to), (&claim.to, &claim.from)] {
                let (other_peer, other) = *first.entry(port).or_insert((peer, at));
                if other_peer != peer {
                    let (own, other) = (claim, &self.0[other]);
                    let [wrong, right] = match (confirming(own), confirming(other)) {
                        (Some(_), None) => [other, own],
                        _ => [own, other],
                    };
                    return fail(
                        &wrong.location,
                        conflict(port, wrong, right, confirming(wrong), |claim| {
                            confirming(claim).map(|by| self.0[by].location.as_str())
                        }),
                    );
                }
            }
        }
        Ok(())
    }
}

/// Returns the text about two entries for one port.
fn conflict<'c>(
    port: &ParsedEnd,
    wrong: &Claim,
    right: &'c Claim,
    confirmed: Option<usize>,
    by: impl Fn(&'c Claim) -> Option<&'c str>,
) -> String {
    let text = |end: &ParsedEnd| format!("{} {}", end.0, end.1);
    let (one, other) = (text(&wrong.from), text(&right.from));
    let ends = format!(
        "connects {one} to {}, and {} connects {other} to {}: {} has two other ends",
        text(&wrong.to),
        right.location,
        text(&right.to),
        text(port)
    );
    match by(right).filter(|_| confirmed.is_none()) {
        Some(by) if by != right.location => format!("{ends}; {by} confirms the second, and no entry the first"),
        _ => ends,
    }
}
