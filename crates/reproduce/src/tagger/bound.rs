//! Section 5: bound of the number of tags by the smallest cycle of the routes, and expansion of a Clos fabric without
//! changes of rules.

use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::trial::Trial;
use fabric::generate::{TierLinks, clos, jellyfish, ring};
use fabric::{Fabric, LinkSpec};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::ControlFlow;
use tagger::paths::{ExpectedPaths, PathSource, TreeRoots};
use tagger::{Algorithm, Compression, Request, clos_rule, generate};
use text::{Layout, table};
use units::{Rate, Time};

const LINK: LinkSpec = LinkSpec::new(Rate::from_gbps(40), Time::from_ns(500));

fn wrong(error: impl std::fmt::Display) -> Failure {
    Failure::input(error.to_string(), "the fabrics and paths of these experiments fit each other".to_owned())
}

/// Dependencies between queues: for each direction of a link (node, egress port), those that packets take next.
type Dependencies = BTreeMap<(u32, u16), BTreeSet<(u32, u16)>>;

fn dependencies(fabric: &Fabric, paths: &ExpectedPaths) -> Result<Dependencies, Failure> {
    let mut found = Dependencies::new();
    let mut visitor = |path: tagger::paths::Path<'_>| {
        let nodes = path.nodes(fabric);
        let hops: Vec<(u32, u16)> = nodes.iter().zip(path.out_ports).map(|(node, &port)| (node.0, port)).collect();
        for pair in hops.windows(2) {
            found.entry(pair[0]).or_default().insert(pair[1]);
        }
        ControlFlow::Continue(())
    };
    paths.visit(fabric, &mut visitor).map_err(wrong)?;
    Ok(found)
}

/// Returns the number of queues in the smallest cycle; `None` without a cycle.
fn smallest_cycle(dependencies: &Dependencies) -> Option<u32> {
    // Searches for cycles through `start` that are shorter than `best`.
    let from = |start: &(u32, u16), best: u32| {
        let (mut seen, mut queue) = (BTreeMap::from([(*start, 0)]), VecDeque::from([*start]));
        while let Some(at) = queue.pop_front() {
            let length = seen[&at] + 1;
            if length >= best {
                return None;
            }
            for next in dependencies.get(&at).into_iter().flatten() {
                if next == start {
                    return Some(length);
                }
                if !seen.contains_key(next) {
                    seen.insert(*next, length);
                    queue.push_back(*next);
                }
            }
        }
        None
    };
    let best = dependencies.keys().fold(u32::MAX, |best, start| from(start, best).unwrap_or(best));
    (best < u32::MAX).then_some(best)
}

/// Tags of one fabric beside the paper's bound.
struct Bounded {
    /// Length of the longest route, T: the tags of Algorithm 1.
    longest: u32,
    cycle: Option<u32>,
    tags: u32,
}

impl Bounded {
    fn of(fabric: &Fabric, paths: &ExpectedPaths) -> Result<Bounded, Failure> {
        let tags = |algorithm| {
            let request = Request { algorithm, compression: Compression::None, ..Request::new(paths.clone()) };
            generate(fabric, &request).map(|generated| u32::from(generated.report.tags)).map_err(wrong)
        };
        let (longest, merged) = (tags(Algorithm::OnePerHop)?, tags(Algorithm::Merge)?);
        Ok(Bounded { longest, cycle: smallest_cycle(&dependencies(fabric, paths)?), tags: merged })
    }

    /// Returns T / l, rounded up, for the largest l that the smallest cycle exceeds; 1 without a cycle.
    fn bound(&self) -> u32 {
        self.cycle.map_or(1, |cycle| self.longest.div_ceil((cycle - 1).max(1)))
    }

    fn row(&self, name: &str) -> Vec<String> {
        let cycle = self.cycle.map_or("none".to_owned(), |cycle| cycle.to_string());
        vec![name.to_owned(), self.longest.to_string(), cycle, self.bound().to_string(), self.tags.to_string()]
    }
}

fn trees() -> ExpectedPaths {
    PathSource::Trees { roots: TreeRoots::Switches, seed: None }.into()
}

/// Runs the experiment `tagger/bound`.
pub fn bound(trial: &mut Trial) -> Result<(), Failure> {
    let seeds = trial.shorten("seeds of random graphs", 10, 3);
    let mut rows = Vec::new();
    for (switches, degree) in [(100, 16), (100, 4), (50, 3)] {
        let (mut above, mut shown) = (0, None);
        for seed in 1..=seeds {
            let fabric = jellyfish(switches, degree, 1, seed, LINK, LINK).map_err(wrong)?;
            let found = Bounded::of(&fabric, &trees())?;
            above += u32::from(found.tags > found.bound());
            let worst =
                |shown: &Bounded| found.tags.saturating_sub(found.bound()) > shown.tags.saturating_sub(shown.bound());
            if shown.as_ref().is_none_or(worst) {
                shown = Some(found);
            }
        }
        let label = format!("{switches} switches, r = {degree}");
        rows.extend(shown.map(|found| found.row(&format!("{label}, the worst of {seeds} graphs"))));
        let name = format!("{label}: random graphs with more tags than T / l, rounded up");
        trial.check(Check::exact(name, "graphs", above.into(), Relation::Equal, 0.0));
    }
    let circle = ring(10, 1, LINK, LINK).map_err(wrong)?;
    let shortest: ExpectedPaths = PathSource::AllShortest { limit: None }.into();
    let found = Bounded::of(&circle, &shortest)?;
    rows.push(found.row("ring of 10 switches"));
    let note = "each queue waits for the next, so one tag closes the cycle of 10, though no route is that long";
    let (tags, most) = (f64::from(found.tags), f64::from(found.bound()));
    trial.check(Check::exact("ring of 10 switches: tags", "tags", tags, Relation::AtMost, most).note(note));
    let fewest = generate(&circle, &Request { algorithm: Algorithm::Fewest, ..Request::new(shortest) });
    let least = f64::from(fewest.map_err(wrong)?.report.lower_bound);
    let name = "ring of 10 switches: lower bound of any rules";
    trial.check(Check::exact(name, "tags", least, Relation::Equal, 2.0).consistency());
    let up_down: ExpectedPaths = PathSource::UpDown { bounces: 0 }.into();
    let found = Bounded::of(&clos(2, 2, 2, 2, 4, TierLinks::uniform(LINK)).map_err(wrong)?, &up_down)?;
    rows.push(found.row("Clos without bounces"));
    let name = "Clos without bounces, no cycle: tags";
    trial.check(Check::exact(name, "tags", found.tags.into(), Relation::AtMost, found.bound().into()));
    trial.show("  longest route (T), smallest cycle of queues, T / l rounded up, tags of Algorithm 2\n");
    trial.show(&table(&["fabric", "T", "cycle", "bound", "tags"], &rows, 1, Layout::Fixed, 2));
    Ok(())
}

/// Returns the older switches, by tier, of which a rule between older ports is another one after the expansion, and the
/// number of older switches without rules for their new ports before it.
fn changed(small: &Fabric, large: &Fabric, bounces: [u8; 2]) -> Result<(u32, u32), Failure> {
    let rules = |fabric: &Fabric, bounces| clos_rule(fabric, bounces, &["default".to_owned()]).map_err(wrong);
    let (before, after) = (rules(small, bounces[0])?, rules(large, bounces[1])?);
    let (old, new) = (before.lookup(small), after.lookup(large));
    let (mut differing, mut grown) = (0, 0);
    for node in small.switches() {
        let same = large.find(small.name(node)).ok_or_else(|| wrong(small.name(node)))?;
        let ports = small.ports(node).len() as u16;
        let differs = |tag: u8, in_port: u16, out_port: u16| {
            old.new_tag(node, tag, in_port, out_port) != new.new_tag(same, tag, in_port, out_port)
        };
        let pairs = || (0..ports).flat_map(|in_port| (0..ports).map(move |out_port| (in_port, out_port)));
        differing += u32::from(before.lossless_tags.iter().any(|&tag| pairs().any(|(i, o)| differs(tag, i, o))));
        grown += u32::from(large.ports(same).len() > usize::from(ports));
    }
    Ok((differing, grown))
}

/// Runs the experiment `tagger/expansion`.
pub fn expansion(trial: &mut Trial) -> Result<(), Failure> {
    let pods = |count| clos(count, 2, 2, 4, 4, TierLinks::uniform(LINK)).map_err(wrong);
    let (small, large) = (pods(4)?, pods(8)?);
    let old = small.switches().count();
    for bounces in 0..=2 {
        let (differing, grown) = changed(&small, &large, [bounces, bounces])?;
        let name = format!("{bounces} bounces, four pods more: of the {old} older switches those with a changed rule");
        let note = "rules among older ports; a spine's rules must include its empty ports beforehand";
        trial.check(Check::exact(name, "switches", differing.into(), Relation::Equal, 0.0).note(note));
        if bounces == 0 {
            let name = "older switches with new ports: the spines";
            trial.check(Check::exact(name, "switches", grown.into(), Relation::Equal, 4.0).consistency());
        }
    }
    let (differing, _) = changed(&small, &large, [0, 1])?;
    let name = "negative control: one bounce more: older switches with a changed rule";
    trial.check(Check::exact(name, "switches", differing.into(), Relation::Above, 0.0).consistency());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_cycle_is_found() {
        let edges = |list: &[(u32, u32)]| {
            let mut found = Dependencies::new();
            for &(from, to) in list {
                found.entry((from, 0)).or_default().insert((to, 0));
            }
            found
        };
        assert_eq!(smallest_cycle(&edges(&[(0, 1), (1, 2), (2, 3)])), None);
        assert_eq!(smallest_cycle(&edges(&[(0, 1), (1, 2), (2, 3), (3, 0), (5, 6), (6, 7), (7, 5)])), Some(3));
        assert_eq!(smallest_cycle(&edges(&[(4, 4), (0, 1), (1, 0)])), Some(1));
    }

    #[test]
    fn the_bound_is_rounded_up() {
        let bound = |longest, cycle| Bounded { longest, cycle, tags: 0 }.bound();
        assert_eq!((bound(5, None), bound(5, Some(3)), bound(6, Some(10)), bound(4, Some(2))), (1, 3, 1, 4));
    }
}
