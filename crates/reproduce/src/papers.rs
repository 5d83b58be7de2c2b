//! List of all experiments, by paper.

use super::registry::Experiment;
use super::search::Space;
use super::{bg, deadlock, dtscoe, equations, florax, pabo, physics, rates, tagger, trim};

/// Experiments by paper, in run order.
static PAPERS: [&[Experiment]; 10] = [
    bg::EXPERIMENTS,
    pabo::EXPERIMENTS,
    physics::EXPERIMENTS,
    deadlock::EXPERIMENTS,
    tagger::EXPERIMENTS,
    trim::EXPERIMENTS,
    florax::EXPERIMENTS,
    equations::EXPERIMENTS,
    rates::EXPERIMENTS,
    dtscoe::EXPERIMENTS,
];

/// Parameter spaces that `reproduce --search` can search.
pub static SPACES: &[&Space] = &[&rates::ECCP_SPACE];

/// Returns all experiments in run order.
pub fn experiments() -> impl Iterator<Item = &'static Experiment> {
    PAPERS.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::load;

    #[test]
    fn ids_are_unique_and_choices_name_keys_of_their_scenarios() {
        for (at, experiment) in experiments().enumerate() {
            assert!(experiment.id.split_once('/').is_some());
            assert!(experiments().skip(at + 1).all(|other| other.id != experiment.id));
            assert!(experiment.quick_seconds <= experiment.seconds);
            for choice in experiment.choices {
                for value in choice.alternatives {
                    let overrides = [(choice.key.to_owned(), (*value).to_owned())];
                    let (text, name, load) = (choice.source.text, choice.source.name, Box::new(load));
                    let read = scenario::Scenario::parse_with(text, name, "".as_ref(), &overrides, None, load);
                    assert!(read.is_ok(), "{} = {value}: {}", choice.key, read.unwrap_err());
                }
            }
        }
    }
}
