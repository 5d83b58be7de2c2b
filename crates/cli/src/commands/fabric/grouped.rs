//! Groups of findings that differ only in names and numbers: a wrong template has one finding for each port and queue.

use running::{Finding, FindingKind};
use std::collections::{BTreeMap, BTreeSet};
use text::numbers::counted;

/// Upper bound of the further places that a group names.
const MOST_PLACES: usize = 3;
/// Number of findings up to which a group is not shortened: each has numbers of its own.
const MOST_SEPARATE: usize = 3;

/// Findings of one kind and form.
pub struct FindingGroup<'f>(Vec<&'f Finding>);

impl<'f> FindingGroup<'f> {
    /// Returns the first finding of the group.
    pub fn first(&self) -> &'f Finding {
        self.0[0]
    }

    /// Returns lines about the further findings of the group: their number and the first places.
    pub fn others(&self) -> Option<String> {
        let others = self.0.get(1..).filter(|others| !others.is_empty())?;
        let places: Vec<String> =
            others.iter().take(MOST_PLACES).map(|it| format!("{}: {}", it.file, it.key)).collect();
        let count = counted(others.len() as u64, "finding");
        let more = if others.len() > places.len() { " ... (all with --json)" } else { "" };
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

/// Returns the findings in groups, ordered by file, key and kind of the first of each, like findings.
pub fn groups(findings: &[Finding]) -> Vec<FindingGroup<'_>> {
    let stems = findings.iter().map(|finding| finding.file.split('.').next().unwrap_or_default());
    let names: BTreeSet<&str> = stems.collect();
    let mut known: BTreeMap<(FindingKind, [String; 3]), usize> = BTreeMap::new();
    let mut groups: Vec<FindingGroup<'_>> = Vec::new();
    for finding in findings {
        // Findings at one key are one with the number of the others: `... (and 3 more)`.
        let why = finding.why.rsplit_once(" (and ").filter(|(_, more)| more.ends_with("more)"));
        let why = why.map_or(finding.why.as_str(), |(why, _)| why);
        let forms = [finding.key.as_str(), why, &finding.instead].map(|text| form(text, &names));
        let at = *known.entry((finding.kind, forms)).or_insert_with(|| {
            groups.push(FindingGroup(Vec::new()));
            groups.len() - 1
        });
        groups[at].0.push(finding);
    }
    let mut all: Vec<FindingGroup<'_>> = groups.into_iter().flat_map(separate).collect();
    all.sort_by(|one, other| place(one.first()).cmp(&place(other.first())));
    all
}

fn place(finding: &Finding) -> (&str, &str, FindingKind) {
    (&finding.file, &finding.key, finding.kind)
}

/// Returns the findings of a small group one by one.
fn separate(group: FindingGroup<'_>) -> Vec<FindingGroup<'_>> {
    match group.0.len() <= MOST_SEPARATE {
        true => group.0.into_iter().map(|finding| FindingGroup(vec![finding])).collect(),
        false => vec![group],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(kind: FindingKind, file: &str, key: &str, why: &str) -> Finding {
        Finding { kind, file: file.to_owned(), key: key.to_owned(), why: why.to_owned(), instead: String::new() }
    }

    #[test]
    fn findings_of_one_form_are_one_group_with_the_first_places() {
        let of = |file: &str, port: u32, queue: u32| {
            let key = format!("QUEUE|Ethernet{port}|{queue}.scheduler");
            let more = if port == 5 { " (and 2 more)" } else { "" };
            let why = format!("queue {queue} has no scheduler: nothing says that group {queue} drains{more}");
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
