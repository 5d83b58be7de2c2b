//! The output of `--help` is stored in `crates/cli/tests/help.txt`, so that code reviews show changes of the command
//! line. `UPDATE_HELP=1 cargo test -p tidegate --test cli help` rewrites it.

use crate::common::run;
use std::path::Path;

#[test]
fn help_is_what_it_was() {
    // The help of the subcommands of `fabric` is excluded: it is generated from the scenario keys, which other tests
    // cover.
    let commands: [&[&str]; 17] = [
        &[],
        &["run"],
        &["compare"],
        &["sweep"],
        &["report"],
        &["table"],
        &["why"],
        &["fluid"],
        &["fabric"],
        &["fabric", "convert"],
        &["mechanisms"],
        &["new"],
        &["import", "hpcc"],
        &["tagger"],
        &["schedule"],
        &["schedule", "verify"],
        &["schedule", "worst-case"],
    ];
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/help.txt");
    let mut all = String::new();
    for command in commands {
        let ran = run(&[command, &["-h"]].concat());
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
        let line = [&["$ tidegate"], command, &["-h"]].concat().join(" ");
        all += &format!("{line}\n{}\n", ran.out);
    }
    if std::env::var_os("UPDATE_HELP").is_some() {
        std::fs::write(&path, &all).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == all, "run this test with UPDATE_HELP=1\n{all}");
}

#[test]
fn wrong_arguments_are_exit_code_2_and_the_version_is_printed() {
    assert_eq!(run(&["--version"]).out, format!("tidegate {}\n", env!("CARGO_PKG_VERSION")));
    for wrong in [[].as_slice(), &["rum"], &["run"], &["run", "x.toml", "--sed", "1"], &["compare", "x.toml"]] {
        let ran = run(wrong);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{wrong:?}");
        assert!(ran.err.contains("Usage") || ran.err.contains("error"), "{}", ran.err);
    }
    assert!(run(&["rum"]).err.contains("run"), "a misspelt command gets a suggestion");
}
