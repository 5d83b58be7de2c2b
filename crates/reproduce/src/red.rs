//! Lists of checks with expected failures: `experiments/red.txt` for `--quick` runs, `experiments/red-full.txt` for
//! full runs.
//!
//! ```text
//! experiment: check | class | command or part of the experiment that shows the cause | search: figure
//! ```
//!
//! Both lists are compiled into the program. `scripts/red.sh` verifies that each list is exact. The last field is for
//! checks of a paper with a search over its open choices, and names a figure of the search. Its class follows from the
//! [summary](searched_class) of the search. `open choice` without this field is not backed by a search.

use super::experiments;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::OnceLock;

/// Cause of an expected failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The source contradicts itself, or is physically impossible.
    PapersSlip,
    /// The result depends on a parameter that the source does not specify.
    OpenChoice,
    /// A bug of this project that is not fixed yet.
    OursToFix,
    /// The cause has not been found by experiments yet.
    Unknown,
}

impl Class {
    const ALL: [Class; 4] = [Class::PapersSlip, Class::OpenChoice, Class::OursToFix, Class::Unknown];

    /// Returns the name used in the files and in the output.
    pub const fn name(self) -> &'static str {
        match self {
            Class::PapersSlip => "paper's slip",
            Class::OpenChoice => "open choice",
            Class::OursToFix => "ours to fix",
            Class::Unknown => "unknown",
        }
    }
}

impl Serialize for Class {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// One check with an expected failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Red<'a> {
    /// `paper/experiment`.
    pub experiment: &'a str,
    /// Name of the check in the experiment.
    pub check: &'a str,
    /// Class, and the command or part of the experiment that shows the cause; `None` if the failure is not classified
    /// yet.
    pub because: Option<(Class, &'a str)>,
    /// Figure of the paper's search from whose result the class follows.
    pub search: Option<&'a str>,
}

/// Summaries of searches, by paper: what `reproduce --search PAPER --json` printed.
const SEARCHES: [(&str, &str); 2] = [
    ("eccp", include_str!("../experiments/eccp/search.json")),
    ("hetflow", include_str!("../experiments/hetflow/search.json")),
];

/// The part of a search's summary from which classes follow.
#[derive(Debug, Deserialize)]
struct Summary {
    #[cfg(test)]
    revision: u32,
    figures: Vec<SearchedFigure>,
}

/// Number of judged settings that satisfy all claims of a figure.
#[derive(Debug, Deserialize)]
struct SearchedFigure {
    figure: String,
    whole: usize,
}

/// Returns the class of the failed checks of a figure by the search of its paper: `open choice` if one of the judged
/// settings satisfies all claims of the figure, else `unknown`, also if no setting has been judged on the figure.
/// `None` if the paper has no summary of a search, or `figure` is not the name of a figure, section or equation.
pub fn searched_class(paper: &str, figure: &str) -> Option<Class> {
    static SUMMARIES: OnceLock<Vec<(&str, Summary)>> = OnceLock::new();
    // A unit test ensures that the summaries can be parsed.
    let parse = || {
        let parsed = SEARCHES.map(|(paper, text)| (paper, serde_json::from_str(text).expect("part of the program")));
        parsed.into_iter().collect()
    };
    let (_, summary) = SUMMARIES.get_or_init(parse).iter().find(|(known, _)| *known == paper)?;
    ["figure ", "section ", "equation "].into_iter().find(|kind| figure.starts_with(kind))?;
    let whole = summary.figures.iter().find(|it| it.figure == figure).map_or(0, |it| it.whole);
    Some(if whole > 0 { Class::OpenChoice } else { Class::Unknown })
}

/// Returns the name of the class under which a failed check is counted in the output.
pub const fn class_name(red: &Red) -> &'static str {
    match red.because {
        Some((class, _)) => class.name(),
        None => "unclassified",
    }
}

/// Error in a list file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListError {
    /// Line number, from 1.
    pub line: usize,
    /// Description of the error and how to correct it.
    pub problem: String,
}

impl fmt::Display for ListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.problem)
    }
}

impl std::error::Error for ListError {}

/// Parses a list. Lines that begin with `#` are comments and must precede all entries. Entries must be sorted by bytes.
///
/// # Errors
/// At the first line that is malformed, duplicate or out of order, or that names an unknown class or an experiment for
/// which `exists` returns `false`.
pub fn parse(text: &str, exists: impl Fn(&str) -> bool) -> Result<Vec<Red<'_>>, ListError> {
    let mut list: Vec<Red> = Vec::new();
    let mut before: Option<&str> = None;
    for (index, written) in text.lines().enumerate().filter(|(_, written)| !written.starts_with('#')) {
        let wrong = |problem: String| ListError { line: index + 1, problem };
        let red = line(written).map_err(wrong)?;
        if !exists(red.experiment) {
            return Err(wrong(format!("there is no experiment `{}`; `reproduce --list` has them", red.experiment)));
        }
        if list.iter().any(|other| (other.experiment, other.check) == (red.experiment, red.check)) {
            return Err(wrong(format!("`{}: {}` is in the list already", red.experiment, red.check)));
        }
        if before.is_some_and(|before| before > written) {
            return Err(wrong("this line belongs before the one above it: sort the list with LC_ALL=C".to_owned()));
        }
        before = Some(written);
        list.push(red);
    }
    Ok(list)
}

fn line(written: &str) -> Result<Red<'_>, String> {
    let (key, because) = match written.split_once(" | ") {
        Some((key, because)) => (key, Some(because)),
        None => (written, None),
    };
    // The command may contain ` | `.
    let (because, search) = match because.and_then(|because| because.rsplit_once(" | search: ")) {
        Some((because, figure)) => (Some(because), Some(figure)),
        None => (because, None),
    };
    let Some((experiment, check)) = key.split_once(": ").filter(|(_, check)| !check.trim().is_empty()) else {
        return Err(format!("`{written}` is not `experiment: check | class | command`"));
    };
    let because = because.map(|because| {
        let Some((class, shown_by)) = because.split_once(" | ").filter(|(_, shown_by)| !shown_by.trim().is_empty())
        else {
            return Err(
                "after the class comes ` | ` and the command or place of the experiment that shows it".to_owned()
            );
        };
        match Class::ALL.iter().find(|known| known.name() == class) {
            Some(&class) => Ok((class, shown_by)),
            None => Err(format!("there is no class `{class}`, only {}", Class::ALL.map(Class::name).join(", "))),
        }
    });
    let because = because.transpose()?;
    if let (Some(figure), Some(paper)) = (search, experiment.split('/').next()) {
        let by_search = searched_class(paper, figure)
            .ok_or_else(|| format!("the search of {paper} has no `{figure}`: write `search: ` and a figure of it"))?;
        if let Some((class @ (Class::OpenChoice | Class::Unknown), _)) = because
            && class != by_search
        {
            let (class, by_search) = (class.name(), by_search.name());
            return Err(format!("the search of {paper} makes `{figure}` `{by_search}`, not `{class}`"));
        }
    }
    Ok(Red { experiment, check, because, search })
}

fn built_in(text: &'static str) -> Vec<Red<'static>> {
    let exists = |id: &str| experiments().any(|experiment| experiment.id == id);
    // A unit test ensures that both compiled-in lists can be parsed.
    parse(text, exists).expect("the lists are part of the program")
}

/// Returns the list for quick or full runs.
pub fn known(quick: bool) -> &'static [Red<'static>] {
    static QUICK: OnceLock<Vec<Red>> = OnceLock::new();
    static FULL: OnceLock<Vec<Red>> = OnceLock::new();
    if quick {
        QUICK.get_or_init(|| built_in(include_str!("../experiments/red.txt")))
    } else {
        FULL.get_or_init(|| built_in(include_str!("../experiments/red-full.txt")))
    }
}

/// Returns the list entry of a check, if any.
pub fn find(quick: bool, experiment: &str, check: &str) -> Option<&'static Red<'static>> {
    known(quick).iter().find(|red| red.experiment == experiment && red.check == check)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Red<'_>>, String> {
        parse(text, |id| id == "pabo/drop" || id == "trim/ecmp").map_err(|error| error.to_string())
    }

    #[test]
    fn a_line_has_a_class_and_what_shows_it_or_is_unclassified() {
        let text = "# why\npabo/drop: a: b, c\ntrim/ecmp: d | open choice | tidegate run x.toml | head\n";
        let expected = [
            Red { experiment: "pabo/drop", check: "a: b, c", because: None, search: None },
            Red {
                experiment: "trim/ecmp",
                check: "d",
                because: Some((Class::OpenChoice, "tidegate run x.toml | head")),
                search: None,
            },
        ];
        let list = read(text).unwrap();
        assert_eq!(list, expected);
        assert_eq!([class_name(&list[0]), class_name(&list[1])], ["unclassified", "open choice"]);
        for class in Class::ALL {
            let text = format!("trim/ecmp: d | {} | README.md", class.name());
            assert_eq!(read(&text).unwrap()[0].because, Some((class, "README.md")));
        }
        assert_eq!(read("# nothing fails\n").unwrap(), []);
    }

    /// A new revision of the judgement needs a new search: classes do not follow from one of another revision.
    #[test]
    fn summaries_are_of_the_current_judgement() {
        for (paper, text) in SEARCHES {
            let summary: Summary = serde_json::from_str(text).unwrap();
            let space = crate::papers::SPACES.iter().find(|space| space.paper == paper).unwrap();
            assert_eq!(summary.revision, space.revision, "repeat the search of {paper}: its judgement is another one");
        }
    }

    /// The class of a searched figure is that of the search: nothing else can be written. A slip of the paper needs no
    /// search.
    #[test]
    fn the_class_of_a_searched_figure_follows_from_the_search() {
        let figure = "figure 2.10";
        let by_search = searched_class("eccp", figure).unwrap();
        let other = if by_search == Class::Unknown { Class::OpenChoice } else { Class::Unknown };
        let parsed = |class: Class, figure: &str| {
            let text = format!("eccp/fig2.10: a | {} | tidegate x | head | search: {figure}", class.name());
            let list = parse(&text, |_| true).map_err(|error| error.to_string())?;
            let because = list[0].because.map(|(class, command)| (class.name(), command.to_owned()));
            Ok::<_, String>((because, list[0].search.map(str::to_owned)))
        };
        let expected = (Some((by_search.name(), "tidegate x | head".to_owned())), Some(figure.to_owned()));
        assert_eq!(parsed(by_search, figure), Ok(expected));
        assert!(parsed(Class::PapersSlip, figure).is_ok());
        let error = parsed(other, figure).unwrap_err();
        assert!(error.contains(&format!("`{}`, not `{}`", by_search.name(), other.name())), "{error}");
        assert!(parsed(by_search, "fig2.9").unwrap_err().contains("the search of eccp has no `fig2.9`"));
        assert_eq!(searched_class("eccp", "figure 9"), Some(Class::Unknown), "not judged");
        assert_eq!(searched_class("pabo", "figure 5"), None);
    }

    #[test]
    fn an_unknown_class_is_an_error() {
        let error = read("# why\npabo/drop: a | papers slip | README.md").unwrap_err();
        assert_eq!(
            error,
            "line 2: there is no class `papers slip`, only paper's slip, open choice, ours to fix, unknown"
        );
    }

    #[test]
    fn a_duplicate_is_an_error_also_in_another_class() {
        let error = read("pabo/drop: a | open choice | x\npabo/drop: a | unknown | x").unwrap_err();
        assert_eq!(error, "line 2: `pabo/drop: a` is in the list already");
    }

    #[test]
    fn a_line_of_an_experiment_that_does_not_exist_is_an_error() {
        let error = read("pabo/dropp: a | unknown | x").unwrap_err();
        assert_eq!(error, "line 1: there is no experiment `pabo/dropp`; `reproduce --list` has them");
    }

    #[test]
    fn what_is_no_line_is_an_error() {
        for (text, problem) in [
            ("trim/ecmp\n", "`trim/ecmp` is not"),
            ("\n", "`` is not"),
            ("trim/ecmp: | unknown | x", "is not `experiment: check"),
            ("trim/ecmp: d | unknown", "after the class comes"),
            ("trim/ecmp: d | unknown | ", "after the class comes"),
            ("trim/ecmp: d\npabo/drop: a", "line 2: this line belongs before"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(problem), "{text}: {error}");
        }
    }

    /// `open choice` and `unknown` of a paper with a summary of a search name the figure from whose result they follow.
    /// With `UPDATE_DOCS=1` the test writes the classes that follow from a new summary.
    #[test]
    fn checks_of_a_searched_paper_have_the_class_of_their_figure() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("experiments");
        for name in ["red.txt", "red-full.txt"] {
            let path = folder.join(name);
            let text = std::fs::read_to_string(&path).unwrap();
            if std::env::var_os("UPDATE_DOCS").is_some() {
                std::fs::write(&path, with_searched_classes(&text)).unwrap();
            }
            for written in text.lines() {
                let of_search = SEARCHES.iter().any(|(paper, _)| written.starts_with(&format!("{paper}/")));
                let open = [Class::OpenChoice, Class::Unknown];
                let is_open = open.iter().any(|class| written.contains(&format!(" | {} | ", class.name())));
                assert!(!(of_search && is_open) || written.contains(" | search: "), "{name}: no search: {written}");
            }
            assert_eq!(text, with_searched_classes(&text), "UPDATE_DOCS=1 writes the classes of the search");
        }
    }

    /// Returns the list with the class of the search in each line that names one, except slips of the paper.
    fn with_searched_classes(text: &str) -> String {
        let line = |written: &str| {
            let new = || {
                let figure = written.rsplit_once(" | search: ")?.1;
                let class = searched_class(written.split('/').next()?, figure)?;
                let open = [Class::OpenChoice, Class::Unknown].map(|class| format!(" | {} | ", class.name()));
                let old = open.iter().find(|old| written.contains(*old))?;
                Some(written.replacen(old, &format!(" | {} | ", class.name()), 1))
            };
            new().unwrap_or_else(|| written.to_owned()) + "\n"
        };
        text.lines().map(line).collect()
    }

    #[test]
    fn the_lists_of_the_program_can_be_read() {
        for quick in [true, false] {
            assert!(known(quick).iter().all(|red| find(quick, red.experiment, red.check) == Some(red)));
        }
    }
}
