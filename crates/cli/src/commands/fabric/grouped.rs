//! Groups of findings or errors that differ only in names and numbers: a wrong template has one for each port and
//! queue.

use running::{Fault, Finding, FindingKind};
use std::collections::{BTreeMap, BTreeSet};
use text::numbers::counted;

/// Upper bound of the further places that a group names.
const MOST_PLACES: usize = 3;
/// Number of findings up to which a group is not shortened: each has numbers of its own.
const MOST_SEPARATE: usize = 3;

/// A statement about a key of a file: a finding, or an error.
pub trait Statement {
    /// Noun of the statement.
    const NOUN: &'static str;
    /// Text after the first places of a shortened group.
    const REST: &'static str;
    /// Returns the file and the key.
    fn place(&self) -> (&str, &str);
    /// Returns the kind of a finding.
    fn kind(&self) -> Option<FindingKind>;
    /// Returns the reason and the advice.
    fn texts(&self) -> (&str, &str);
}

impl Statement for Finding {
    const NOUN: &'static str = "finding";
    const REST: &'static str = " ... (all with --json)";
    fn place(&self) -> (&str, &str) {
        (&self.file, &self.key)
    }
    fn kind(&self) -> Option<FindingKind> {
        Some(self.kind)
    }
    fn texts(&self) -> (&str, &str) {
        // Further findings at the key are stated by their number, which differs.
        (self.reason(), &self.instead)
    }
}

impl Statement for Fault {
    const NOUN: &'static str = "error";
    const REST: &'static str = " ...";
    fn place(&self) -> (&str, &str) {
        (&self.file, &self.key)
    }
    fn kind(&self) -> Option<FindingKind> {
        None
    }
    fn texts(&self) -> (&str, &str) {
        (&self.message, &self.help)
    }
}

/// Statements of one kind and form, in their order.
pub struct Group<'f, S>(Vec<&'f S>);

impl<'f, S: Statement> Group<'f, S> {
    /// Returns the first statement of the group.
    pub fn first(&self) -> &'f S {
        self.0[0]
    }

    /// Returns the number of statements.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns a line about the further statements of the group: their number and the first places.
    pub fn others(&self) -> Option<String> {
        let others = self.0.get(1..).filter(|others| !others.is_empty())?;
        let place = |it: &&S| format!("{}: {}", it.place().0, it.place().1);
        let places: Vec<String> = others.iter().take(MOST_PLACES).map(place).collect();
        let count = counted(others.len() as u64, S::NOUN);
        let more = if others.len() > places.len() { S::REST } else { "" };
        Some(format!("and {count} of this form: {}{more}", places.join(", ")))
    }
}

/// Replaces names of files and words with digits, which name ports, queues, switches and bytes.
fn form(text: &str, names: &BTreeSet<&str>) -> String {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '/' | ',');
    let mut form = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c: char| is_part(c) != is_part(first)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let is_name = word.contains(|c: char| c.is_ascii_digit()) || names.contains(word);
        form.push_str(if is_part(first) && is_name { "#" } else { word });
        rest = after;
    }
    form
}

/// Returns the statements in groups, ordered by the first of each.
pub fn groups<S: Statement>(statements: &[S]) -> Vec<Group<'_, S>> {
    let stems = statements.iter().map(|it| it.place().0.split('.').next().unwrap_or_default());
    let names: BTreeSet<&str> = stems.collect();
    let mut known: BTreeMap<(Option<FindingKind>, [String; 3]), usize> = BTreeMap::new();
    let mut groups: Vec<Vec<(usize, &S)>> = Vec::new();
    for (position, statement) in statements.iter().enumerate() {
        let (why, instead) = statement.texts();
        let forms = [statement.place().1, why, instead].map(|text| form(text, &names));
        let at = *known.entry((statement.kind(), forms)).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[at].push((position, statement));
    }
    // The statements of a small group stay separate.
    let separate = |group: Vec<_>| match group.len() <= MOST_SEPARATE {
        true => group.into_iter().map(|one| vec![one]).collect(),
        false => vec![group],
    };
    let mut all: Vec<Vec<(usize, &S)>> = groups.into_iter().flat_map(separate).collect();
    all.sort_by_key(|group| group[0].0);
    all.into_iter().map(|group| Group(group.into_iter().map(|(_, statement)| statement).collect())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(kind: FindingKind, file: &str, key: &str, why: &str) -> Finding {
        Finding::new(kind, file.to_owned(), key.to_owned(), why.to_owned(), String::new())
    }

    #[test]
    fn findings_of_one_form_are_one_group_with_the_first_places() {
        let of = |file: &str, port: u32, queue: u32| {
            let key = format!("QUEUE|Ethernet{port}|{queue}.scheduler");
            let why = format!("queue {queue} has no scheduler: nothing says that group {queue} drains");
            finding(FindingKind::Starvation, file, &key, &why)
        };
        let mut findings: Vec<Finding> = (0..8).map(|port| of("tor-a.json", port, 3)).collect();
        findings.insert(0, finding(FindingKind::Headroom, "tor-a.json", "PORT|Ethernet0.speed", "another"));
        findings.push(of("tor-b.json", 0, 4));
        let groups = groups(&findings);
        assert_eq!(groups.iter().map(|group| group.0.len()).collect::<Vec<_>>(), [1, 9]);
        let places = "and 8 findings of this form: tor-a.json: QUEUE|Ethernet1|3.scheduler, tor-a.json: \
                      QUEUE|Ethernet2|3.scheduler, tor-a.json: QUEUE|Ethernet3|3.scheduler ... (all with --json)";
        assert_eq!(groups[1].others().as_deref(), Some(places));
        assert_eq!((groups[1].first().key.as_str(), groups[0].others()), ("QUEUE|Ethernet0|3.scheduler", None));
    }

    #[test]
    fn other_reasons_and_few_findings_stay_separate() {
        let of = |why: &str| finding(FindingKind::Mismatch, "a.json", "BUFFER_PG|Ethernet0|3.profile", why);
        let findings = [of("it drops"), of("it has no queue"), of("group 3 drops"), of("group 4 drops")];
        assert_eq!(groups(&findings).len(), 4);
    }
}
