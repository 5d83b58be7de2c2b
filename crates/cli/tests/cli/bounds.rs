//! Every file that a command reads: input without an end, and input that is not text, must be rejected.

use crate::common::{SMALL, Scratch, run};

/// Returns commands that read an input file, written as `FILE`; all their other inputs are valid.
fn readers(scratch: &Scratch) -> Vec<Vec<String>> {
    let clos = [
        "clos",
        "--pods",
        "2",
        "--tors-per-pod",
        "2",
        "--leaves-per-pod",
        "2",
        "--spines",
        "2",
        "--hosts-per-tor",
        "1",
    ];
    let clos = [clos.as_slice(), &["--rate", "40Gbps", "--delay", "1us"]].concat();
    let rules = scratch.path("rules.json");
    let made =
        run(&[["tagger", "rules"].as_slice(), &clos, &["--paths", "up-down", "--quiet", "--out", &rules]].concat());
    assert_eq!(made.code, Some(0), "{}", made.err);
    let on_clos = |command: &[&str]| {
        let fabric = [["--fabric"].as_slice(), &clos].concat();
        [command, &fabric].concat().into_iter().map(str::to_owned).collect::<Vec<String>>()
    };
    let plain = |command: &[&str]| command.iter().map(|&word| word.to_owned()).collect::<Vec<String>>();
    let paths = |text: &str| plain(&[["tagger", "rules"].as_slice(), &clos, &["--paths", text, "--quiet"]].concat());
    vec![
        plain(&["run", "FILE"]),
        plain(&["sweep", "FILE"]),
        plain(&["fabric", "show", "FILE"]),
        plain(&["fabric", "show", "FILE", "--rate", "1Gbps", "--delay", "1us"]),
        plain(&["fabric", "convert", "FILE", "out.json", "--from", "containerlab"]),
        plain(&[["fabric", "check"].as_slice(), &clos, &["--pfc", "--paths", "FILE"]].concat()),
        paths("file:FILE"),
        paths("routes:FILE"),
        on_clos(&["tagger", "verify", "FILE"]),
        on_clos(&["tagger", "verify", &rules, "--paths", "FILE"]),
        on_clos(&["tagger", "explain", "FILE", "H1", "T1", "L1", "T2", "H2"]),
    ]
}

fn refused(command: &[String], file: &str, said: &[&str]) {
    let words: Vec<String> = command.iter().map(|word| word.replace("FILE", file)).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let ran = run(&words);
    assert_eq!(ran.code, Some(2), "{words:?}: {}{}", ran.out, ran.err);
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
    for part in said {
        assert!(ran.err.contains(part), "{words:?}: `{part}` is missing in\n{}", ran.err);
    }
}

#[test]
fn a_file_without_an_end_is_refused_by_every_command() {
    let scratch = Scratch::new("endless");
    for command in readers(&scratch) {
        refused(&command, "/dev/zero", &["/dev/zero"]);
    }
    let replay = SMALL.split("[[traffic]]").next().unwrap().to_owned() + "[[traffic]]\nkind = \"replay\"\n";
    let fabric = "fabric={ kind = \"file\", file = \"/dev/zero\" }";
    for (text, set) in [(SMALL, fabric), (&replay, "traffic.0.file=/dev/zero")] {
        let scenario = scratch.file("endless.toml", text);
        let ran = run(&["run", &scenario, "--set", set, "--out", &scratch.path("out")]);
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        assert!(ran.err.contains("cannot read `/dev/zero`: it is a device"), "{}", ran.err);
    }
}

#[test]
fn invalid_utf_8_is_reported_with_file_and_line_by_every_command() {
    let scratch = Scratch::new("utf8");
    let file = scratch.path("latin.txt");
    std::fs::write(&file, b"# a\n# b\n# caf\xe9\n").unwrap();
    for command in readers(&scratch) {
        refused(&command, &file, &["latin.txt:3", "UTF-8"]);
    }
    let folder = scratch.path("sonic");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(format!("{folder}/leaf1.json"), b"{\n\"a\": \"\xff\"}\n").unwrap();
    let ran = run(&["fabric", "show", &folder]);
    assert!(ran.code == Some(2) && ran.err.contains("leaf1.json:2: not UTF-8 text"), "{}", ran.err);
}

#[test]
fn a_folder_in_place_of_a_file_is_reported() {
    let scratch = Scratch::new("folder");
    let folder = scratch.path("empty");
    std::fs::create_dir(&folder).unwrap();
    for command in readers(&scratch) {
        refused(&command, &folder, &["empty", "folder"]);
    }
}

/// The writer of a named pipe writes without an end: the command must stop reading at its limit of 16 MiB.
#[test]
fn a_pipe_without_an_end_is_read_up_to_its_bound() {
    let scratch = Scratch::new("fifo");
    let fifo = scratch.path("endless.toml");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("skipped: there is no mkfifo here");
        return;
    }
    let writer = std::thread::spawn({
        let fifo = fifo.clone();
        move || {
            let mut file = std::fs::OpenOptions::new().write(true).open(fifo).unwrap();
            while std::io::Write::write_all(&mut file, &[b'#'; 65_536]).is_ok() {}
        }
    });
    refused(&["run".to_owned(), "FILE".to_owned()], &fifo, &["endless.toml", "longer than 16.777216MB"]);
    writer.join().unwrap();
}
