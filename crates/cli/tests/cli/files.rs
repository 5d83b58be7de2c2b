//! User files are preserved: tests what each command does if its output already exists, and if writing fails.

use crate::common::{Ran, SMALL, Scratch, example, run, tidegate};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const BUILD: [&str; 7] =
    ["fabric", "build", "leaf-spine", "--leaves=2", "--spines=2", "--hosts-per-leaf=2", "--rate=100Gbps"];

/// Returns the arguments of `fabric build` with a link delay and further arguments.
fn build<'a>(delay: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&BUILD, ["--delay", delay].as_slice(), more].concat()
}

fn refused(arguments: &[&str], said: &[&str]) {
    let ran = run(arguments);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{arguments:?}: {}", ran.err);
    said.iter().for_each(|part| assert!(ran.err.contains(part), "`{part}` is missing in {}", ran.err));
}

fn done(arguments: &[&str]) -> Ran {
    let ran = run(arguments);
    assert_eq!(ran.code, Some(0), "{arguments:?}: {}{}", ran.out, ran.err);
    ran
}

#[test]
fn a_rerun_keeps_the_thesis_that_lies_in_the_result_folder() {
    let scratch = Scratch::new("files-thesis");
    let scenario = scratch.file("small.toml", SMALL);
    let (out, page) = (scratch.path("out"), scratch.path("page.html"));
    done(&["run", &scenario, "-q", "--out", &out]);
    fs::create_dir(scratch.0.join("out/figures")).unwrap();
    scratch.file("out/thesis.tex", "years");
    scratch.file("out/figures/one.svg", "months");
    for seed in ["2", "3"] {
        done(&["run", &scenario, "-q", "--seed", seed, "--out", &out]);
        assert_eq!(fs::read_to_string(scratch.0.join("out/thesis.tex")).unwrap(), "years");
        assert_eq!(fs::read_to_string(scratch.0.join("out/figures/one.svg")).unwrap(), "months");
    }
    // The result folder has a complete result, and its manifest lists only the result's files, not the user's.
    done(&["report", &out, "-q", "--out", &page]);
    let sums = Command::new("sha256sum").args(["-c", "--quiet", "tidegate.sha256"]).current_dir(&out).output();
    match sums {
        Ok(sums) => assert!(sums.status.success(), "{sums:?}"),
        Err(_) => eprintln!("SKIPPED: there is no sha256sum here"),
    }
    let text = fs::read_to_string(scratch.0.join("out/summary.json")).unwrap();
    assert!(text.contains("\"seed\": 3"), "{text}");
    assert_eq!(scratch.names(""), ["out", "page.html", "small.toml"]);
}

#[test]
fn a_result_file_that_the_user_edited_stops_a_rerun() {
    let scratch = Scratch::new("files-edited");
    let scenario = scratch.file("small.toml", SMALL);
    let out = scratch.path("out");
    done(&["run", &scenario, "-q", "--out", &out]);
    let edited = SMALL.replace("200us", "100us");
    scratch.file("out/scenario.toml", &edited);
    refused(&["run", &scenario, "-q", "--out", &out], &["out/scenario.toml was modified since Tidegate wrote it"]);
    assert_eq!(fs::read_to_string(scratch.0.join("out/scenario.toml")).unwrap(), edited);
    // The folder has a user file with the name of a file (`queues.parquet`) that the new result has, too.
    let out = scratch.path("other");
    done(&["run", &scenario, "-q", "--set", "record.queues=false", "--out", &out]);
    scratch.file("other/queues.parquet", "mine");
    refused(&["run", &scenario, "-q", "--out", &out], &["other/queues.parquet exists and was not written by Tidegate"]);
    assert_eq!(fs::read_to_string(scratch.0.join("other/queues.parquet")).unwrap(), "mine");
}

#[test]
fn an_interrupted_run_does_not_replace_a_whole_result() {
    let scratch = Scratch::new("files-interrupted");
    let (scenario, endless) =
        (scratch.file("small.toml", SMALL), scratch.file("endless.toml", &crate::common::endless()));
    let out = scratch.path("out");
    done(&["run", &scenario, "-q", "--out", &out]);
    let before = scratch.result("out");
    let mut command = tidegate();
    command.args(["run", &endless, "--out", &out]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let ran = crate::common::interrupt(command.spawn().unwrap(), &scratch.0.join("out.partial"));
    assert_eq!(ran.code, Some(130), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("holds a whole result and stays") && ran.err.contains("out.interrupted"), "{}", ran.err);
    assert!(scratch.result("out") == before, "the whole result is as it was");
    assert_eq!(scratch.names(""), ["endless.toml", "out", "out.interrupted", "small.toml"]);
    let text = fs::read_to_string(scratch.0.join("out.interrupted/summary.json")).unwrap();
    assert!(text.contains("\"partial\": true"), "{text}");
}

#[test]
fn two_runs_at_once_do_not_share_a_folder() {
    let scratch = Scratch::new("files-twice");
    let scenario = scratch.file("endless.toml", &crate::common::endless());
    let out = scratch.path("out");
    let mut command = tidegate();
    command.args(["run", &scenario, "-q", "--out", &out]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    while !scratch.0.join("out.partial/.tidegate-partial").exists() {
        assert!(child.try_wait().unwrap().is_none());
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    std::thread::sleep(std::time::Duration::from_millis(100));
    refused(&["run", &scenario, "-q", "--out", &out], &["another process is writing", "out"]);
    child.kill().unwrap();
    child.wait().unwrap();
    // The next run removes the incomplete files of the killed run, but not the user's file in the same folder.
    scratch.file("out.partial/notes.txt", "mine");
    let small = scratch.file("small.toml", SMALL);
    done(&["run", &small, "-q", "--out", &out]);
    assert_eq!(scratch.names("out.partial"), ["notes.txt"]);
}

#[test]
fn paths_that_cannot_hold_a_result_are_reported_before_anything_runs() {
    let scratch = Scratch::new("files-locations");
    let scenario = scratch.file("small.toml", SMALL);
    scratch.file("plain", "years");
    let at = |name: &str| scratch.path(name);
    refused(&["run", &scenario, "--out", &at("plain")], &["plain exists and is not a Tidegate result"]);
    refused(&["run", &scenario, "--out", &at("plain/run")], &["plain"]);
    // The folder of the scenario is not accepted as output folder, whether given as an absolute or as a relative path.
    refused(&["run", &scenario, "--out", &at("")], &["exists and is not a Tidegate result"]);
    for here in [".", "./", "..", "/"] {
        let ran: Ran =
            tidegate().args(["run", "small.toml", "--out", here]).current_dir(&scratch.0).output().unwrap().into();
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        assert!(ran.err.contains("cannot be a result folder: name a folder"), "{}", ran.err);
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(at("elsewhere"), at("link")).unwrap();
        refused(&["run", &scenario, "--out", &at("link")], &["link is a symbolic link"]);
        fs::remove_file(at("link")).unwrap();
    }
    // In /proc not even root can create folders.
    if Path::new("/proc/self").exists() {
        refused(&["run", &scenario, "--out", "/proc/tidegate"], &["cannot create /proc/tidegate"]);
        refused(&build("1us", &["--out", "/proc/tidegate.txt"]), &["cannot create /proc/tidegate.txt"]);
        refused(&["sweep", &scenario, "--seeds", "1,2", "--out", "/proc/tidegate"], &["cannot create /proc/tidegate"]);
        refused(&["new", "incast", "--out", "/proc/new.toml"], &["cannot create /proc/new.toml"]);
    }
    assert_eq!(scratch.names(""), ["plain", "small.toml"], "nothing is left behind");
    assert_eq!(fs::read_to_string(at("plain")).unwrap(), "years");
    // The scenario in a result folder can be run, with the same folder as output.
    done(&["run", &scenario, "-q", "--out", &at("out")]);
    done(&["run", &at("out/scenario.toml"), "-q", "--out", &at("out")]);
    assert_eq!(fs::read_to_string(at("out/scenario.toml")).unwrap(), SMALL);
}

#[test]
fn temporary_names_do_not_hit_a_file_of_the_user() {
    let scratch = Scratch::new("files-temporary");
    let scenario = scratch.file("small.toml", SMALL);
    let names = ["out.partial", "t.txt.partial", ".tidegate-0.tmp", "out.replaced", "out.interrupted"];
    names.iter().for_each(|name| drop(scratch.file(name, "mine")));
    for _ in 0..2 {
        done(&["run", &scenario, "-q", "--out", &scratch.path("out")]);
        done(&build("1us", &["--out", &scratch.path("t.txt")]));
    }
    for name in names {
        assert_eq!(fs::read_to_string(scratch.0.join(name)).unwrap(), "mine", "{name}");
    }
    assert_eq!(scratch.names("").len(), names.len() + 3, "{:?}", scratch.names(""));
}

#[test]
fn report_replaces_only_its_own_page() {
    let scratch = Scratch::new("files-report");
    let scenario = scratch.file("small.toml", SMALL);
    let [out, page] = ["out", "page.html"].map(|name| scratch.path(name));
    done(&["run", &scenario, "-q", "--out", &out]);
    fs::write(&page, "<html>mine</html>").unwrap();
    let report = ["report", &out, "-q", "--out", &page];
    refused(&report, &["page.html exists with other content, and has no mark of Tidegate", "--force"]);
    assert_eq!(fs::read_to_string(&page).unwrap(), "<html>mine</html>");
    done(&[&report, ["--force"].as_slice()].concat());
    done(&[&report, ["--title", "second"].as_slice()].concat());
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.contains("<title>second"), "a page of ours is replaced");
    fs::write(&page, text.replace("second", "by hand")).unwrap();
    refused(&report, &["page.html was modified since Tidegate wrote it", "--force"]);
    refused(&["report", &out, "--out", &scratch.path("out")], &["is a directory"]);
    // The next run preserves a report in the result's folder, like a file of the user.
    let within = scratch.path("out/report.html");
    done(&["report", &out, "-q", "--out", &within]);
    done(&["run", &scenario, "-q", "--out", &out]);
    done(&["report", &out, "-q", "--out", &within]);
}

#[test]
fn fabric_build_show_and_convert_overwrite_with_force_only() {
    let scratch = Scratch::new("files-fabric");
    let at = |name: &str| scratch.path(name);
    let (topology, drawing) = (at("t.txt"), at("t.svg"));
    let build_it = |delay: &'static str, more: &[&'static str]| {
        let arguments: Vec<String> = build(delay, more).iter().map(ToString::to_string).collect();
        [arguments, vec!["--out".to_owned(), topology.clone()]].concat()
    };
    let words = |arguments: &[String]| run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(words(&build_it("1us", &[])).code, Some(0));
    assert_eq!(words(&build_it("1us", &[])).code, Some(0), "the same bytes are no loss");
    let text = fs::read_to_string(&topology).unwrap();
    let ran = words(&build_it("2us", &[]));
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains("t.txt exists") && ran.err.contains("--force"), "{}", ran.err);
    assert_eq!(fs::read_to_string(&topology).unwrap(), text);

    refused(&["fabric", "convert", &topology, &topology], &["t.txt is the input itself"]);
    refused(&["fabric", "convert", &topology, &topology, "--force", "--to", "node-link"], &["is the input itself"]);
    refused(&["fabric", "show", &topology, "--svg", &topology, "--force"], &["is the input itself"]);
    scratch.file("mine.json", "{}");
    refused(&["fabric", "convert", &topology, &at("mine.json")], &["mine.json exists", "--force"]);
    done(&["fabric", "convert", &topology, &at("mine.json"), "--force"]);

    scratch.file("t.svg", "<svg>mine</svg>");
    refused(&["fabric", "show", &topology, "--svg", &drawing], &["t.svg exists", "--force"]);
    done(&["fabric", "show", &topology, "--svg", &drawing, "--force"]);
    assert_eq!(words(&build_it("2us", &["--force"])).code, Some(0));
    assert_ne!(fs::read_to_string(&topology).unwrap(), text);
    done(&[
        "fabric",
        "show",
        "line",
        "--switches=3",
        "--hosts-per-switch=1",
        "--rate=1Gbps",
        "--delay=1us",
        "--svg",
        &drawing,
    ]);

    // Writing to the device /dev/null succeeds, and does not replace the device by a file.
    done(&build("1us", &["--out", "/dev/null"]));
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}

#[test]
fn a_folder_of_config_db_is_one_fabric_and_keeps_what_the_user_put_there() {
    let scratch = Scratch::new("files-config-db");
    let folder = scratch.path("cfg");
    let three = [
        "fabric",
        "build",
        "line",
        "--switches=3",
        "--hosts-per-switch=1",
        "--rate=100Gbps",
        "--delay=1us",
        "--format=config-db",
        "--out",
        &folder,
    ];
    let two = three.map(|word| if word == "--switches=3" { "--switches=2" } else { word });
    done(&three);
    let switches = scratch.names("cfg");
    assert_eq!(switches.len(), 4, "{switches:?}");
    scratch.file("cfg/README", "mine");
    done(&two);
    assert_eq!(scratch.names("cfg").len(), 4, "a switch less, and the README: {:?}", scratch.names("cfg"));
    assert_eq!(fs::read_to_string(scratch.0.join("cfg/README")).unwrap(), "mine");
    let first = format!("cfg/{}", switches[0]);
    let edited = fs::read_to_string(scratch.0.join(&first)).unwrap().replace("100000", "40000");
    scratch.file(&first, &edited);
    refused(&three, &[&first, "was modified since Tidegate wrote it", "--force"]);
    assert_eq!(fs::read_to_string(scratch.0.join(&first)).unwrap(), edited);
    done(&[three.as_slice(), &["--force"]].concat());
    scratch.file("plain", "years");
    let plain = scratch.path("plain");
    let onto_a_file = three.map(|word| if word == folder { plain.as_str() } else { word });
    refused(&onto_a_file, &["plain"]);
}

#[test]
fn tagger_and_trim_exports_overwrite_with_force_only() {
    let scratch = Scratch::new("files-exports");
    let at = |name: &str| scratch.path(name);
    let (topology, rules, out) = (at("t.txt"), at("rules.json"), at("sonic"));
    done(&build("1us", &["--out", &topology]));
    let make = ["tagger", "rules", &topology, "--paths", "shortest", "-q", "--out", &rules];
    done(&make);
    done(&make);
    let more = [["--paths", "n-shortest=2"].as_slice(), &make[5..]].concat();
    let other = [["tagger", "rules", topology.as_str()].as_slice(), &more].concat();
    refused(&other, &["rules.json exists", "--force"]);
    refused(
        &["tagger", "rules", &topology, "--paths", "shortest", "--out", &topology, "--force"],
        &["is the input itself"],
    );
    scratch.file("paths.txt", "mine");
    let paths = ["--paths-out".to_owned(), at("paths.txt")];
    refused(&[&make[..], &[&paths[0], &paths[1]]].concat(), &["paths.txt exists", "--force"]);
    assert_eq!(fs::read_to_string(at("paths.txt")).unwrap(), "mine");

    let csv = ["tagger", "export", &rules, "--fabric", &topology, "-q", "--to", "csv", "--out", &out];
    let table = csv.map(|word| if word == "csv" { "table" } else { word });
    done(&csv);
    done(&csv);
    scratch.file("sonic/runbook.md", "mine");
    refused(&table, &["tagger export --to csv", "is a Tidegate folder of kind", "--force"]);
    let names = scratch.names("sonic");
    let first = format!("sonic/{}", names.iter().find(|name| name.ends_with(".csv")).unwrap());
    scratch.file(&first, "by hand");
    refused(&csv, &[&first, "was modified since", "--force"]);
    done(&[csv.as_slice(), &["--force"]].concat());
    assert_eq!(fs::read_to_string(at("sonic/runbook.md")).unwrap(), "mine");
    assert_eq!(scratch.names("sonic"), names);

    let (trim, folder) = (example("trim-shared-buffer.toml"), at("trim"));
    let export = ["trim", "export", &trim, "--to", "nvue", "--interface", "swp{port+1}", "--out", &folder];
    done(&export);
    let name = scratch.names("trim").into_iter().find(|name| name.ends_with(".nv")).unwrap();
    scratch.file(&format!("trim/{name}"), "by hand");
    refused(&export, &[&name, "was modified since Tidegate wrote it", "--force"]);
    done(&[export.as_slice(), &["--force"]].concat());
    assert!(fs::read_to_string(scratch.0.join("trim").join(&name)).unwrap().contains("nv set"));
}

#[test]
fn compare_sweep_new_and_man_leave_the_user_s_files() {
    let scratch = Scratch::new("files-others");
    let scenario = scratch.file("small.toml", SMALL);
    let out = scratch.path("out");
    let compare = ["compare", &scenario, "--vary", "switch.flow_control.xoff=20KB,50KB", "-q", "--out", &out];
    fs::create_dir(&out).unwrap();
    scratch.file("out/compare.csv", "mine");
    refused(&compare, &["compare.csv exists and was not written by Tidegate"]);
    assert_eq!(scratch.names("out"), ["compare.csv"], "refused before the first run");
    fs::rename(scratch.0.join("out/compare.csv"), scratch.0.join("out/mine.csv")).unwrap();
    done(&compare);
    done(&compare);
    assert_eq!(fs::read_to_string(scratch.0.join("out/mine.csv")).unwrap(), "mine");

    refused(&["sweep", &scenario, "--seeds", "1,2", "--out", &out], &["is not the folder of a sweep"]);
    let sweep = scratch.path("sweep");
    done(&["sweep", &scenario, "--seeds", "1,2", "-q", "--out", &sweep]);
    scratch.file("sweep/thesis.tex", "years");
    let run_name = scratch.names("sweep/runs")[0].clone();
    scratch.file(&format!("sweep/runs/{run_name}/notes.txt"), "mine");
    let ran = done(&["sweep", &scenario, "--seeds", "1..3", "--resume", "--out", &sweep]);
    assert!(
        ran.out.contains("3: 3 complete, 2 of them from an earlier command"),
        "a foreign file changes nothing: {}",
        ran.out
    );
    assert_eq!(fs::read_to_string(scratch.0.join(format!("sweep/runs/{run_name}/notes.txt"))).unwrap(), "mine");
    assert_eq!(fs::read_to_string(scratch.0.join("sweep/thesis.tex")).unwrap(), "years");

    let pages = scratch.path("man");
    fs::create_dir(&pages).unwrap();
    scratch.file("man/tidegate-run.1", "mine");
    refused(&["man", &pages], &["tidegate-run.1 exists", "--force"]);
    done(&["man", &pages, "--force"]);
    done(&["man", &pages]);
    let names = scratch.names("man");
    for page in ["tidegate.1", "tidegate-run.1", "tidegate-fabric-convert.1", "tidegate-tagger-export.1"] {
        assert!(names.iter().any(|name| name == page), "{page} in {names:?}");
    }
    scratch.file("flow.txt", "mine");
    refused(
        &["new", "replay", "--out", &scratch.path("new.toml")],
        &["flow.txt exists with other content, and nothing was written"],
    );
    assert!(!scratch.0.join("new.toml").exists());
}

/// Runs the command with a file size limit of `blocks` blocks of 512 bytes (`ulimit -f`), which makes writes fail.
fn limited(blocks: u32, arguments: &[&str]) -> Ran {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    Command::new("sh").args(["-c", &script, env!("CARGO_BIN_EXE_tidegate")]).args(arguments).output().unwrap().into()
}

#[test]
fn a_disk_that_fails_is_exit_code_3_for_every_command_and_leaves_nothing() {
    let scratch = Scratch::new("files-disk");
    let scenario = scratch.file("small.toml", SMALL);
    let at = |name: &str| scratch.path(name);
    let (topology, rules, out) = (at("t.txt"), at("rules.json"), at("out"));
    done(&build("1us", &["--out", &topology]));
    done(&["tagger", "rules", &topology, "--paths", "shortest", "-q", "--out", &rules]);
    done(&["run", &scenario, "-q", "--out", &out]);
    let before = scratch.names("");
    let new = at("new");
    let commands: [Vec<&str>; 13] = [
        vec!["run", &scenario, "-q", "--out", &new],
        vec!["compare", &scenario, "--vary", "seed=1,2", "-q", "--out", &new],
        vec!["report", &out, "--out", &new],
        build("1us", &["--out", &new]),
        vec!["fabric", "convert", &topology, &new, "--to", "graphml"],
        vec!["fabric", "convert", &topology, &new, "--to", "config-db"],
        vec!["table", &out, "--out", &new],
        vec!["fabric", "show", &topology, "--svg", &new],
        vec!["tagger", "rules", &topology, "--paths", "shortest", "--out", &new],
        vec!["tagger", "rules", &topology, "--paths", "shortest", "--paths-out", &new],
        vec!["tagger", "export", &rules, "--fabric", &topology, "--to", "table", "--out", &new],
        vec!["new", "replay", "--out", &new],
        vec!["man", &new],
    ];
    for command in &commands {
        let ran = limited(0, command);
        assert_eq!(ran.code, Some(3), "{command:?}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains("cannot "), "{command:?}: {}", ran.err);
        let left: Vec<String> = scratch.names("").into_iter().filter(|name| !before.contains(name)).collect();
        // An empty output folder that the command created may remain.
        assert!(left.iter().all(|name| name == "new" && scratch.names(name).is_empty()), "{command:?}: {left:?}");
        let _ = fs::remove_dir(&new);
    }
    // If rerunning into the folder of a complete result fails, the old result is unchanged.
    let result = scratch.result("out");
    assert_eq!(limited(16, &["run", &scenario, "-q", "--out", &out]).code, Some(3));
    assert!(scratch.result("out") == result);
    if Path::new("/dev/full").exists() {
        let ran = run(&build("1us", &["--out", "/dev/full"]));
        assert_eq!(ran.code, Some(3), "{}", ran.err);
        assert!(ran.err.contains("cannot write /dev/full"), "{}", ran.err);
    }
}

#[test]
fn a_full_file_system_is_exit_code_3() {
    let scratch = Scratch::new("files-full");
    let scenario = scratch.file("small.toml", SMALL);
    let full = scratch.path("full");
    fs::create_dir(&full).unwrap();
    // Mount a tmpfs of 32 KiB, which is too small for a result, in a mount namespace of its own.
    let mount = format!("mount -t tmpfs -o size=32k tmpfs {full}");
    let probe = Command::new("unshare").args(["-m", "sh", "-c", &mount]).output();
    if !probe.is_ok_and(|probe| probe.status.success()) {
        eprintln!("SKIPPED: mounting a small file system needs root");
        return;
    }
    let script = format!("{mount} && \"$0\" run {scenario} -q --out {full}/run; code=$?; ls -A {full}; exit $code");
    let ran: Ran = Command::new("unshare")
        .args(["-m", "sh", "-c", &script, env!("CARGO_BIN_EXE_tidegate")])
        .output()
        .unwrap()
        .into();
    assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""), "{}", ran.err);
    assert!(ran.err.contains("No space left on device"), "{}", ran.err);
}

#[test]
fn memory_that_runs_out_is_exit_code_3() {
    let script = "ulimit -v 80000; exec \"$0\" \"$@\"";
    let fabric = ["fabric", "build", "fat-tree", "--k=64", "--rate=100Gbps", "--delay=1us", "--format=node-link"];
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_tidegate")]).args(fabric);
    let ran: Ran = command.output().unwrap().into();
    assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""), "{}", ran.err);
    assert!(ran.err.contains("error: no memory left"), "{}", ran.err);
}

#[test]
fn a_reader_that_leaves_is_no_failure_of_any_command() {
    let scratch = Scratch::new("files-pipe");
    let scenario = scratch.file("small.toml", SMALL);
    for command in [
        vec!["run", &scenario, "--json"],
        vec!["run", &scenario],
        build("1us", &[]),
        vec!["mechanisms"],
        vec!["man"],
        vec!["completions", "bash"],
        vec!["--help"],
    ] {
        let mut child = tidegate().args(&command).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let ran: Ran = child.wait_with_output().unwrap().into();
        assert_eq!(ran.code, Some(0), "{command:?}: {}", ran.err);
        assert!(!ran.err.contains("panicked"), "{command:?}: {}", ran.err);
    }
}

#[test]
fn what_belongs_to_another_command_gets_an_answer_that_helps() {
    let scratch = Scratch::new("files-mixed");
    let scenario = scratch.file("small.toml", SMALL);
    let at = |name: &str| scratch.path(name);
    let (topology, rules, out, sweeps) = (at("t.txt"), at("rules.json"), at("out"), at("sweeps"));
    done(&build("1us", &["--out", &topology]));
    done(&["tagger", "rules", &topology, "--paths", "shortest", "-q", "--out", &rules]);
    done(&["run", &scenario, "-q", "--out", &out]);
    let sweep = scratch.file("sweep.toml", "scenario = \"small.toml\"\nseeds = [1, 2]\n");
    done(&["sweep", &sweep, "-q", "--out", &sweeps]);
    refused(&["run", &out], &["out is the folder of a result, not a scenario", "tidegate report", "out/scenario.toml"]);
    refused(&["run", &sweeps], &["is the folder of a sweep", "--resume --out"]);
    refused(&["run", &at("")], &["is a folder, not a scenario"]);
    refused(&["run", &topology], &["t.txt is a topology, not a scenario", "kind = \"file\"", "tidegate fabric show"]);
    refused(&["run", &sweep], &["sweep.toml is a sweep, not a scenario", "tidegate sweep "]);
    refused(&["run", &rules], &["rules.json is a file of Tagger's rules", "tidegate tagger verify"]);
    refused(&["run", &at("out/summary.json")], &["a file of a result, not a scenario"]);
    refused(&["run", &at("out/flows.parquet")], &["a file of a result, not a scenario"]);
    refused(&["compare", &topology, "--vary", "fabric.k=2,4"], &["is a topology, not a scenario"]);
    refused(&["sweep", &out, "--seeds", "1,2"], &["is the folder of a result, not a scenario"]);
    refused(&["sweep", &topology, "--seeds", "1,2"], &["is a topology, not a scenario"]);
    refused(
        &["report", &scenario],
        &["small.toml is a scenario, not the folder", "tidegate run ", "--out results/small"],
    );
    refused(&["report", &sweep], &["is a sweep, not the folder of a result", "tidegate sweep "]);
    refused(&["report", &at("out/flows.parquet")], &["a file of a result", "name its folder"]);
    refused(&["why", &scenario, "--flow", "0"], &["is a scenario, not the folder of a result", "tidegate run "]);
    refused(&["why", &sweeps, "--flow", "0"], &["the folder of a sweep", "/runs"]);
    refused(&["why", &topology, "--flow", "0"], &["is a topology", "tidegate fabric show"]);
    // An invalid scenario is reported with its line number, not as a file of the wrong kind.
    refused(&["run", &scratch.file("wrong.toml", &SMALL.replace("leaves", "leafs"))], &["wrong.toml:6:1", "leafs"]);
}
