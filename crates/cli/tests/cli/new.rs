//! Tests `tidegate new`, and that help, manual page and completions list all commands.

use crate::common::{Scratch, example, run, tidegate};
use scenario::{TEMPLATES, Template};
use serde_json::Value;

#[test]
fn every_kind_runs_as_it_is_and_is_its_example() {
    let scratch = Scratch::new("new");
    let listed = run(&["new"]);
    assert_eq!((listed.code, listed.err.as_str()), (Some(0), ""));
    assert_eq!(listed.out.lines().count(), TEMPLATES.len() + 3, "{}", listed.out);
    for Template { name: kind, origin, .. } in TEMPLATES {
        assert!(listed.out.lines().any(|line| line.starts_with(kind)), "{kind} in {}", listed.out);
        let written = tidegate().args(["new", kind]).current_dir(&scratch.0).output().unwrap();
        assert!(written.status.success(), "{written:?}");
        let file = scratch.path(&format!("{kind}.toml"));
        let text = std::fs::read_to_string(&file).unwrap();
        let comments = text.lines().filter(|line| line.starts_with('#')).count();
        assert!(!text.contains("examples/"), "{kind} names a file that is not there");
        assert!(comments > 20, "{kind} has {comments} comments");
        let hash = |path: &str| {
            let explained = run(&["run", path, "--explain", "--json"]);
            let value: Value = serde_json::from_str(&explained.out).unwrap_or_else(|_| panic!("{}", explained.err));
            value["scenario"]["hash"].as_str().unwrap().to_owned()
        };
        assert_eq!(hash(&file), hash(&example(origin)), "{kind}");
        let ran = run(&["run", &file, "--quiet"]);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{kind}");
    }
}

#[test]
fn existing_files_are_not_overwritten_and_an_unknown_kind_is_reported() {
    let scratch = Scratch::new("new-exists");
    let mine = scratch.file("flow.txt", "years");
    let ran = run(&["new", "replay", "--out", &scratch.path("mine.toml")]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    assert!(ran.err.contains("flow.txt exists with other content, and nothing was written"), "{}", ran.err);
    assert_eq!(
        (scratch.names(""), std::fs::read_to_string(mine).unwrap()),
        (vec!["flow.txt".to_owned()], "years".to_owned())
    );
    let ran = run(&["new", "incats"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("incast"), "{}", ran.err);
    let printed = run(&["new", "tcp", "--print"]);
    assert!(printed.out.contains("\nname = \"TCP over a dumbbell\"\n"), "{}", printed.out);
    assert_eq!(scratch.names("").len(), 1);
}

#[test]
fn every_command_has_a_page_and_completions() {
    let help = run(&["--help"]).out;
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let commands: Vec<&str> = commands.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(["run", "compare", "sweep", "new"].iter().all(|name| commands.contains(name)), "{commands:?}");
    let scratch = Scratch::new("man");
    assert_eq!(run(&["man", &scratch.path("pages")]).code, Some(0));
    let pages = scratch.names("pages");
    for command in commands.iter().filter(|command| **command != "help") {
        assert!(pages.contains(&format!("tidegate-{command}.1")), "{command} in {pages:?}");
    }
    let sweep = std::fs::read_to_string(scratch.0.join("pages/tidegate-sweep.1")).unwrap();
    for part in ["\\-\\-shard", "\\-\\-resume", "Exit codes"] {
        assert!(sweep.contains(part), "{part} in {sweep}");
    }
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = run(&["completions", shell]);
        assert_eq!(script.code, Some(0));
        assert!(script.out.contains("sweep") && script.out.contains("shard"), "{shell}");
    }
}

/// Every page has the sections EXIT STATUS, EXAMPLES and SEE ALSO, and the pages in SEE ALSO exist.
/// A unit test of the program parses the examples.
#[test]
fn pages_have_exit_codes_examples_and_related_pages() {
    let scratch = Scratch::new("manual");
    assert_eq!(run(&["man", &scratch.path("pages")]).code, Some(0));
    let pages = scratch.names("pages");
    for name in &pages {
        let page = std::fs::read_to_string(scratch.0.join("pages").join(name)).unwrap().replace("\\-", "-");
        let section = |title: &str| {
            let after = |head: String| page.split_once(&head).map(|(_, after)| after);
            let from = after(format!(".SH \"{title}\"\n")).or_else(|| after(format!(".SH {title}\n")));
            from.unwrap_or_else(|| panic!("{name}: no {title}")).split("\n.SH ").next().unwrap().to_owned()
        };
        assert!(
            ["0", "1", "2", "3", "130"].iter().all(|code| section("EXIT STATUS").contains(&format!("fB{code}\\fR")))
        );
        let examples = section("EXAMPLES");
        let examples: Vec<&str> = examples.lines().filter(|line| line.starts_with("tidegate ")).collect();
        assert!(!examples.is_empty(), "{name}");
        for related in section("SEE ALSO").trim().split(", ") {
            let page = related.strip_suffix("(1)").unwrap_or_else(|| panic!("{name}: {related}"));
            assert!(pages.contains(&format!("{page}.1")), "{name}: {related}");
        }
    }
}

/// Completions contain the names of mechanisms and experiments, and the keys of scenarios, which remain free arguments.
/// Those of fish complete no positional arguments.
#[test]
fn completions_contain_names_and_keys() {
    for shell in ["bash", "zsh", "fish"] {
        let script = run(&["completions", shell]).out;
        for value in ["bg/fig1.3", "pabo/table1", "congestion-point", "switch.flow_control.upper=", "fabric.k="] {
            let positional = !value.ends_with('=');
            assert!(script.contains(value) || positional && shell == "fish", "{shell}: {value}");
        }
    }
    assert_eq!(run(&["mechanisms", "dcqn"]).code, Some(2));
    assert!(run(&["mechanisms", "dcqn"]).err.contains("did you mean `dcqcn`"));
}
