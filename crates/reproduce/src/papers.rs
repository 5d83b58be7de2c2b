//! List of all experiments, by paper.

use super::failure::Failure;
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
pub static SPACES: &[&Space] = &[&rates::ECCP_SPACE, &rates::HETFLOW_SPACE];

/// Returns all experiments in run order.
pub fn experiments() -> impl Iterator<Item = &'static Experiment> {
    PAPERS.into_iter().flatten()
}

/// Returns the experiments with these names (of papers or of single experiments) in run order; all if `names` is empty.
///
/// # Errors
/// [`Failure::Unknown`] for a name that is neither a paper nor an experiment.
pub fn choose(names: &[String]) -> Result<Vec<&'static Experiment>, Failure> {
    let fits = |experiment: &Experiment, name: &str| {
        let name = name.trim_end_matches('/');
        experiment.id == name || experiment.id.split_once('/').is_some_and(|(paper, _)| paper == name)
    };
    for name in names {
        if !experiments().any(|experiment| fits(experiment, name)) {
            return Err(Failure::Unknown { name: name.clone(), known: known(name) });
        }
    }
    let wanted = |experiment: &&Experiment| names.is_empty() || names.iter().any(|name| fits(experiment, name));
    Ok(experiments().filter(wanted).collect())
}

/// Returns the available names as a sentence for the error: the experiments of the paper that `name` begins with, or
/// all papers.
pub(crate) fn known(name: &str) -> String {
    let paper = |id: &'static str| id.split_once('/').map_or(id, |(paper, _)| paper);
    let paper_name = name.split('/').next().unwrap_or_default();
    let of_paper: Vec<&str> =
        experiments().map(|experiment| experiment.id).filter(|id| paper(id) == paper_name).collect();
    if !of_paper.is_empty() {
        return format!("there are {}", of_paper.join(", "));
    }
    let mut papers: Vec<&str> = experiments().map(|experiment| paper(experiment.id)).collect();
    papers.dedup();
    format!("there are {}; `reproduce --list` has their experiments", papers.join(", "))
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
