//! Order in which a search judges settings: the settings of [`Space::starts`], then rounds of a walk over the whole
//! space, followed by one pass of coordinate descent from the best setting.
//!
//! The order of a part depends only on the space, the part and the results of this part, not on the number of threads
//! or on interruptions. A continued search follows the same order, and skips what is judged already.

use super::Space;
use std::collections::{BTreeMap, BTreeSet};

/// Number of groups that the walk visits per round. A pass of the descent judges about as many.
const WALK: usize = 20;

/// Result of a group of settings with common runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupScore {
    /// Most claims that hold at one of its settings.
    pub passes: usize,
    /// Number of its settings that are judged.
    pub points: u64,
}

/// Judges groups. Returns their scores, or `None` after an interruption.
pub type JudgeGroups<'a, E> = dyn FnMut(&[u64]) -> Result<Option<Vec<GroupScore>>, E> + 'a;

/// Search of one part.
struct Search<'a, E> {
    space: &'static Space,
    /// Number of points that this part still has to judge.
    left: u64,
    /// Claims that hold, by judged group.
    passes: BTreeMap<u64, usize>,
    judge: &'a mut JudgeGroups<'a, E>,
}

/// Judges about `points` points in all parts, of which this is part `part` of `parts` (from 1). `judge` returns the
/// scores of the groups, or `None` if the search was interrupted.
///
/// # Errors
/// Those of `judge`.
pub fn follow<E>(
    space: &'static Space,
    (part, parts): (usize, usize),
    points: u64,
    judge: &mut JudgeGroups<'_, E>,
) -> Result<(), E> {
    let (part, parts) = (part as u64, parts as u64);
    let left = (points.min(space.settings()) + parts - part) / parts;
    let mut search = Search { space, left, passes: BTreeMap::new(), judge };
    let mut walk = (part - 1..space.groups()).step_by(parts as usize);
    let given = space.start_groups().into_iter().zip(0..).filter(|(_, number)| number % parts + 1 == part);
    if search.add(given.map(|(group, _)| group).collect())?.is_none() {
        return Ok(());
    }
    let mut starts = BTreeSet::new();
    while search.left > 0 {
        let batch: Vec<u64> = walk.by_ref().filter(|group| !search.passes.contains_key(group)).take(WALK).collect();
        if search.add(batch)?.is_none() {
            return Ok(());
        }
        // A descent starts at the best group from which none has started yet; of several, at the first.
        let open = search.passes.iter().filter(|(group, _)| !starts.contains(*group));
        let Some((&start, _)) = open.rev().max_by_key(|(_, passes)| **passes) else { return Ok(()) };
        starts.insert(start);
        if search.descend(start)?.is_none() {
            return Ok(());
        }
    }
    Ok(())
}

impl<E> Search<'_, E> {
    /// Judges the groups that are not judged yet, at most as many as there are points left. `None` after an
    /// interruption.
    fn add(&mut self, mut batch: Vec<u64>) -> Result<Option<()>, E> {
        batch.retain(|group| !self.passes.contains_key(group));
        batch.truncate(usize::try_from(self.left).unwrap_or(usize::MAX));
        if batch.is_empty() {
            return Ok(Some(()));
        }
        let Some(scores) = (self.judge)(&batch)? else { return Ok(None) };
        for (group, score) in batch.into_iter().zip(scores) {
            self.left = self.left.saturating_sub(score.points);
            self.passes.insert(group, score.passes);
        }
        Ok(Some(()))
    }

    /// Returns the claims that hold at a judged group, else 0.
    fn passes(&self, group: u64) -> usize {
        self.passes.get(&group).copied().unwrap_or(0)
    }

    /// Changes one choice after the other to its best alternative, starting from the group `start`. `None` after an
    /// interruption.
    fn descend(&mut self, start: u64) -> Result<Option<()>, E> {
        let mut at = start;
        for choice in 0..self.space.varied().len() {
            if self.left == 0 {
                break;
            }
            let others = self.space.neighbours(at, choice);
            if self.add(others.clone())?.is_none() {
                return Ok(None);
            }
            // Of several alternatives with equally many claims, the first; the present one if none is better.
            let best = others.into_iter().rev().max_by_key(|&group| self.passes(group));
            at = best.filter(|&group| self.passes(group) > self.passes(at)).unwrap_or(at);
        }
        Ok(Some(()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Alternative, OpenChoice};
    use super::*;

    const fn alternative(label: &'static str) -> Alternative {
        Alternative { label, changes: &[] }
    }

    const DIGITS: &[Alternative] =
        &[alternative("0"), alternative("1"), alternative("2"), alternative("3"), alternative("4"), alternative("5")];

    const fn choice(name: &'static str) -> OpenChoice {
        OpenChoice { name, source: "", alternatives: DIGITS }
    }

    /// 6^6 settings.
    static DIGIT_SPACE: Space = Space {
        paper: "digits",
        choices: &[choice("a"), choice("b"), choice("c"), choice("d"), choice("e"), choice("f")],
        judged_together: None,
        starts: &[],
        revision: 1,
        dismissal: "",
        judge: |_| Ok(Vec::new()),
    };

    /// Follows a search whose setting satisfies as many claims as the sum of its digits. Returns the judged groups in
    /// order; with `stop`, only up to this number of calls.
    fn order(part: (usize, usize), points: u64, stop: usize) -> Vec<u64> {
        let (mut judged, mut calls) = (Vec::new(), 0);
        let mut judge = |groups: &[u64]| {
            calls += 1;
            if calls > stop {
                return Ok(None);
            }
            judged.extend_from_slice(groups);
            let score = |&group: &u64| GroupScore { passes: DIGIT_SPACE.setting(group).chosen.iter().sum(), points: 1 };
            Ok::<_, ()>(Some(groups.iter().map(score).collect()))
        };
        follow(&DIGIT_SPACE, part, points, &mut judge).unwrap();
        judged
    }

    /// A pass of the descent sets each digit to 5: 20 settings of the walk and 6 times 5 neighbours find the best of
    /// 46,656 settings.
    #[test]
    fn a_descent_reaches_the_best_setting_of_a_separable_space() {
        let judged = order((1, 1), 50, usize::MAX);
        assert_eq!(judged.len(), 50);
        assert!(judged.iter().any(|&group| DIGIT_SPACE.setting(group).chosen == [5; 6]), "{judged:?}");
        let walk = order((1, 1), 20, usize::MAX);
        assert_eq!(walk, (0..20).collect::<Vec<u64>>(), "a round begins with the walk");
    }

    #[test]
    fn no_group_is_judged_twice_and_an_interrupted_search_has_the_same_order() {
        let judged = order((2, 3), 600, usize::MAX);
        assert_eq!(judged.len(), 200);
        assert_eq!(judged.iter().collect::<BTreeSet<_>>().len(), 200);
        assert!(judged[..WALK].iter().all(|group| group % 3 == 1), "{judged:?}");
        for stop in [1, 2, 5, 9] {
            let interrupted = order((2, 3), 600, stop);
            assert_eq!(interrupted, judged[..interrupted.len()]);
            assert!(interrupted.len() < judged.len());
        }
    }

    #[test]
    fn a_search_of_more_points_than_settings_ends() {
        let small = &super::super::tests::SMALL;
        let judged = |points: u64| {
            let mut judged = Vec::new();
            let mut judge = |groups: &[u64]| {
                judged.extend_from_slice(groups);
                Ok::<_, ()>(Some(vec![GroupScore { passes: 1, points: 1 }; groups.len()]))
            };
            follow(small, (1, 1), points, &mut judge).unwrap();
            judged.sort_unstable();
            judged
        };
        assert_eq!(judged(1000), (0..6).collect::<Vec<u64>>());
        assert!(judged(0).is_empty(), "no points, nothing judged");
    }
}
