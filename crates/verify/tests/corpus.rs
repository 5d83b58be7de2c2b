//! What fuzzing found worth keeping, through the same checks.

#[path = "../../../fuzz/checks/replay.rs"]
mod replay;
#[path = "../../../fuzz/checks/verify_gates.rs"]
mod verify_gates;
#[path = "../../../fuzz/checks/verify_lists.rs"]
mod verify_lists;
#[path = "../../../fuzz/checks/verify_paths.rs"]
mod verify_paths;
#[path = "../../../fuzz/checks/verify_rules.rs"]
mod verify_rules;

#[test]
fn verify_rules_corpus() {
    replay::replay("verify_rules", verify_rules::check);
}

#[test]
fn verify_gates_corpus() {
    replay::replay("verify_gates", verify_gates::check);
}

#[test]
fn verify_lists_corpus() {
    replay::replay("verify_lists", verify_lists::check);
}

/// Each line of what is kept, left out, twice, cut or with other numbers: an error or a judgement, never a panic.
#[test]
fn hostile_lines_of_gates_are_told_or_judged() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/verify_lists");
    let mut tried = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for at in 0..lines.len() {
            let line = lines[at];
            let digits = |with: &str| {
                let one = |c: char| if c.is_ascii_digit() { with.to_owned() } else { c.to_string() };
                line.chars().map(one).collect::<String>()
            };
            let mut others = vec![String::new(), format!("{line}\n{line}"), "\u{0}\",,,(".to_owned()];
            others.extend(["0", "9", "-1", "99999999999999999999"].map(digits));
            others.extend((0..line.len()).filter_map(|end| line.get(..end).map(str::to_owned)));
            for other in others {
                let mut with = lines.clone();
                with[at] = &other;
                verify_lists::check((with.join("\n") + "\n").as_bytes());
                tried += 1;
            }
        }
    }
    assert!(tried > 1000, "{tried}");
}

#[test]
fn verify_paths_corpus() {
    replay::replay("verify_paths", verify_paths::check);
}
