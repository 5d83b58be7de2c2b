use super::*;
use crate::file::tests::Scratch;
use crate::manifest::Manifest;

/// Finishes a result with one file, which contains the number of events.
fn finish(folder: ResultFolder, events: u64, partial: bool) -> Result<PathBuf, RecordError> {
    folder.write("flows.txt", events.to_string().as_bytes())?;
    folder.finish(&mut Summary { events, partial, ..Summary::default() }, &Timing::default())
}

fn finished(target: &Path, events: u64) {
    assert_eq!(finish(ResultFolder::create(target).unwrap(), events, false).unwrap(), target);
}

fn events(target: &Path) -> u64 {
    read_verified(target).unwrap().events
}

fn names(folder: &Path) -> Vec<String> {
    earlier::names(folder).unwrap().into_iter().collect()
}

const FILES: [&str; 4] = ["flows.txt", "summary.json", MANIFEST_FILE, "timing.json"];

#[test]
fn a_result_appears_at_the_end_and_replaces_an_earlier_one_whole() {
    let scratch = Scratch::new("folder");
    let target = scratch.0.join("deep/run");
    let folder = ResultFolder::create(&target).unwrap();
    folder.write("only-in-first.txt", b"1").unwrap();
    assert!(!target.exists());
    finish(folder, 1, false).unwrap();
    assert!(is_result(&target) && target.join("only-in-first.txt").exists());

    finished(&target, 2);
    let mut sorted = FILES.to_vec();
    sorted.sort_unstable();
    assert!(Manifest::read(&target).unwrap().unwrap().names().into_iter().eq(["flows.txt", "summary.json"]));
    assert_eq!((names(&target), events(&target)), (sorted.iter().map(ToString::to_string).collect(), 2));
    assert_eq!(names(target.parent().unwrap()), ["run"]);
}

#[test]
fn a_dropped_folder_leaves_nothing_and_keeps_the_old_result() {
    let scratch = Scratch::new("folder-drop");
    let target = scratch.0.join("run/");
    drop(ResultFolder::create(&target).unwrap());
    assert!(scratch.names().is_empty());
    finished(&scratch.0.join("run"), 1);
    let folder = ResultFolder::create(&target).unwrap();
    let mut file = folder.file("flows.txt").unwrap();
    file.print(format_args!("half")).unwrap();
    drop(folder);
    assert_eq!((scratch.names(), events(&target)), (vec!["run".to_owned()], 1));
}

#[test]
fn a_killed_writer_leaves_nothing_at_the_target_and_the_next_one_clears_up() {
    let scratch = Scratch::new("folder-killed");
    let target = scratch.0.join("run");
    // State after a killed writer: the temporary folder and its marker exist, and the lock was released.
    let partial = scratch.0.join("run.partial");
    fs::create_dir_all(&partial).unwrap();
    fs::write(partial.join(MARKER), b"queues.parquet\nsummary.json\nnever-begun\n").unwrap();
    fs::write(partial.join(".tidegate-0123456789abcdef.tmp"), b"PAR1 half").unwrap();
    fs::write(partial.join("queues.parquet"), b"PAR1 half").unwrap();
    assert!(!target.exists());
    finished(&target, 1);
    assert_eq!((names(&target).len(), events(&target)), (FILES.len(), 1));
    assert_eq!(scratch.names(), ["run"]);
}

const VICTIM: &str = "TIDEGATE_RECORD_TEST_VICTIM";

/// Not a test itself, but the child process of the next test, which is killed while it writes.
#[test]
fn victim() {
    let Some(target) = std::env::var_os(VICTIM) else {
        return;
    };
    let folder = ResultFolder::create(Path::new(&target)).unwrap();
    folder.write(SUMMARY_FILE, b"{}").unwrap();
    let mut file = folder.file("flows.txt").unwrap();
    file.print(format_args!("half a li")).unwrap();
    std::process::abort();
}

#[test]
fn a_process_that_dies_leaves_the_earlier_result_as_it_was() {
    let scratch = Scratch::new("folder-dies");
    let target = scratch.0.join("run");
    finished(&target, 1);
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    let output = command.args(["--exact", "folder::tests::victim"]).env(VICTIM, &target).output().unwrap();
    assert!(!output.status.success());
    assert_eq!(scratch.names(), ["run", "run.partial"], "it died while writing");
    assert_eq!(events(&target), 1);
    // The lock was released when its process ended: the next writer succeeds.
    finished(&target, 2);
    assert_eq!((scratch.names(), events(&target)), (vec!["run".to_owned()], 2));
}

#[test]
fn a_rerun_keeps_what_the_user_put_into_the_folder() {
    let scratch = Scratch::new("folder-thesis");
    let target = scratch.0.join("run");
    finished(&target, 1);
    fs::create_dir(target.join("thesis")).unwrap();
    fs::write(target.join("thesis/chapter1.tex"), b"years").unwrap();
    fs::write(target.join(".notes"), b"mine").unwrap();
    assert_eq!(events(&target), 1, "foreign files do not make a result less whole");
    for events_now in [2, 3] {
        finished(&target, events_now);
        assert_eq!(events(&target), events_now);
        assert_eq!(fs::read(target.join("thesis/chapter1.tex")).unwrap(), b"years");
        assert_eq!(fs::read(target.join(".notes")).unwrap(), b"mine");
    }
    // A run that is dropped or killed does not remove files of the user either.
    drop(ResultFolder::create(&target).unwrap());
    assert_eq!(fs::read(target.join("thesis/chapter1.tex")).unwrap(), b"years");
    assert_eq!(scratch.names(), ["run"]);
}

#[test]
fn a_foreign_file_that_comes_during_the_run_stays_too() {
    let scratch = Scratch::new("folder-during");
    let target = scratch.0.join("run");
    finished(&target, 1);
    let folder = ResultFolder::create(&target).unwrap();
    fs::write(target.join("came.txt"), b"mine").unwrap();
    fs::write(folder.path().join("grew.txt"), b"mine, too").unwrap();
    finish(folder, 2, false).unwrap();
    assert_eq!(events(&target), 2);
    assert_eq!(fs::read(target.join("came.txt")).unwrap(), b"mine");
    assert_eq!(fs::read(target.join("grew.txt")).unwrap(), b"mine, too");
    assert!(!Manifest::read(&target).unwrap().unwrap().lists("grew.txt"));
    finished(&target, 3);
    assert_eq!(fs::read(target.join("grew.txt")).unwrap(), b"mine, too");
}

#[test]
fn a_result_needs_no_name_that_a_foreign_file_has() {
    let scratch = Scratch::new("folder-collide");
    let target = scratch.0.join("run");
    finished(&target, 1);
    fs::write(target.join("trace.parquet"), b"mine").unwrap();
    let folder = ResultFolder::create(&target).unwrap();
    let error = folder.write("trace.parquet", b"new").unwrap_err();
    assert!(error.to_string().ends_with("run/trace.parquet exists and was not written by Tidegate"), "{error}");
    drop(folder);
    // The user creates a file in the target during the run.
    let folder = ResultFolder::create(&target).unwrap();
    folder.write("late.txt", b"new").unwrap();
    fs::write(target.join("late.txt"), b"mine").unwrap();
    let error = finish(folder, 2, false).unwrap_err();
    assert!(matches!(&error, RecordError::Kept { .. }), "{error}");
    assert!(error.to_string().contains("late.txt exists") && error.to_string().contains("run.partial"), "{error}");
    assert_eq!((events(&target), events(&scratch.0.join("run.partial"))), (1, 2));
    assert_eq!(fs::read(target.join("late.txt")).unwrap(), b"mine");
    // A file of the user is unchanged by the next run.
    fs::remove_file(target.join("late.txt")).unwrap();
    finished(&target, 3);
    assert_eq!((events(&target), events(&scratch.0.join("run.partial"))), (3, 2));
}

#[test]
fn an_edited_result_is_not_replaced() {
    let scratch = Scratch::new("folder-edited");
    let target = scratch.0.join("run");
    for name in FILES {
        finished(&target, 1);
        let whole = fs::read(target.join(name)).unwrap();
        if ![MANIFEST_FILE, TIMING_FILE].contains(&name) {
            fs::write(target.join(name), [b"# a note\n", whole.as_slice()].concat()).unwrap();
            let error = ResultFolder::create(&target).unwrap_err();
            assert!(matches!(error, RecordError::NotOurs { .. }) && error.to_string().contains(name), "{error}");
        }
        // A missing file does not prevent replacement.
        fs::remove_file(target.join(name)).unwrap();
        match ResultFolder::create(&target) {
            Ok(folder) => finish(folder, 2, false).map(|_| ()).unwrap(),
            // Without the manifest, the files are not recognised.
            Err(error) => assert!(name == MANIFEST_FILE && matches!(error, RecordError::Occupied { .. }), "{error}"),
        }
        fs::remove_dir_all(&target).unwrap();
    }
    assert!(scratch.names().is_empty());
}

#[test]
fn an_interrupted_result_does_not_replace_a_whole_one() {
    let scratch = Scratch::new("folder-interrupted");
    let (target, beside) = (scratch.0.join("run"), scratch.0.join("run.interrupted"));
    let interrupted = |events| finish(ResultFolder::create(&target).unwrap(), events, true).unwrap();
    assert_eq!(interrupted(1), target, "there is none yet");
    assert_eq!(interrupted(2), target, "it replaces its like");
    finished(&target, 3);
    assert_eq!((interrupted(4), events(&target), events(&beside)), (beside.clone(), 3, 4));
    assert_eq!((interrupted(5), events(&target), events(&beside)), (beside.clone(), 3, 5));
    // A user's file of that name is kept.
    fs::remove_dir_all(&beside).unwrap();
    fs::create_dir(&beside).unwrap();
    fs::write(beside.join("thesis"), b"years").unwrap();
    assert_eq!(interrupted(6), scratch.0.join("run.interrupted-2"));
    finished(&scratch.0.join("run.interrupted-3"), 7);
    fs::remove_dir_all(scratch.0.join("run.interrupted-2")).unwrap();
    fs::rename(scratch.0.join("run.interrupted-3"), scratch.0.join("run.interrupted-2")).unwrap();
    assert_eq!(interrupted(8), scratch.0.join("run.interrupted-3"), "a whole result stands at the second name");
    finished(&target, 9);
    assert_eq!((events(&target), fs::read(beside.join("thesis")).unwrap()), (9, b"years".to_vec()));
}

#[test]
fn a_writer_killed_between_its_renames_gives_the_old_result_back() {
    let scratch = Scratch::new("folder-between");
    let target = scratch.0.join("run");
    finished(&target, 1);
    fs::write(target.join("thesis.txt"), b"years").unwrap();
    let aside = earlier::candidates(&target, "replaced").next().unwrap();
    let marker = ".tidegate-replaced";
    fs::write(target.join(marker), b"").unwrap();
    fs::rename(&target, &aside).unwrap();
    drop(ResultFolder::create(&target).unwrap());
    assert_eq!((scratch.names(), events(&target)), (vec!["run".to_owned()], 1));
    assert!(target.join("thesis.txt").exists() && !target.join(marker).exists());

    // The writer was killed after the second rename, with the user's file still in the old folder.
    fs::write(target.join(marker), b"").unwrap();
    fs::rename(&target, &aside).unwrap();
    finished(&scratch.0.join("other"), 2);
    fs::rename(scratch.0.join("other"), &target).unwrap();
    drop(ResultFolder::create(&target).unwrap());
    assert_eq!((scratch.names(), events(&target)), (vec!["run".to_owned()], 2));
    assert_eq!(fs::read(target.join("thesis.txt")).unwrap(), b"years");
}

#[test]
fn what_is_not_ours_is_never_touched() {
    let scratch = Scratch::new("folder-occupied");
    let at = |name: &str| scratch.0.join(name);
    fs::create_dir(at("thesis")).unwrap();
    drop(ResultFolder::create(&at("thesis")).unwrap()); // empty: fine
    fs::write(at("thesis").join(SUMMARY_FILE), b"{\"chapters\": 7, \"results_hash\": \"\"}").unwrap();
    let error = ResultFolder::create(&at("thesis")).unwrap_err();
    assert!(matches!(error, RecordError::Occupied { .. }) && !error.is_machine_failure(), "{error}");
    assert_eq!(scratch.names(), ["thesis"]);

    fs::write(at("plain"), b"").unwrap();
    assert!(matches!(ResultFolder::create(&at("plain")), Err(RecordError::Occupied { .. })));
    for path in ["..", ".", "/", ""] {
        assert!(matches!(ResultFolder::create(Path::new(path)), Err(RecordError::BadTarget { .. })), "{path}");
    }
    // A folder with a manifest of another kind is not replaced.
    crate::files::write_files(&at("export"), "export", &[("a", b"1")], crate::files::PreviousFiles::Kept, false)
        .unwrap();
    assert!(matches!(ResultFolder::create(&at("export")), Err(RecordError::Occupied { .. })));
    // Files outside the folder that a manifest lists are not removed.
    finished(&at("hostile"), 1);
    let list = at("hostile").join(MANIFEST_FILE);
    let text = fs::read_to_string(&list).unwrap() + &format!("{}  ../plain\n", crate::manifest::hash_bytes(b""));
    fs::write(&list, text).unwrap();
    assert!(matches!(ResultFolder::create(&at("hostile")), Err(RecordError::Line { .. })));
    assert_eq!(scratch.names(), ["export", "hostile", "plain", "thesis"]);
}

#[test]
fn names_beside_the_target_that_a_user_has_are_left_alone() {
    let scratch = Scratch::new("folder-names");
    let at = |name: &str| scratch.0.join(name);
    for folder in ["run.partial", "run.replaced"] {
        fs::create_dir(at(folder)).unwrap();
        fs::write(at(folder).join("mine.txt"), b"mine").unwrap();
    }
    // The user's copy of a result, with a name that is a candidate for replaced results.
    finished(&at("run.replaced-2"), 7);
    fs::write(at("run.partial-2"), b"a file").unwrap();
    // Folder of a killed run that contains notes of the user.
    fs::create_dir(at("run.partial-3")).unwrap();
    fs::write(at("run.partial-3").join(MARKER), b"flows.txt\n").unwrap();
    fs::write(at("run.partial-3/flows.txt"), b"half").unwrap();
    fs::write(at("run.partial-3/notes.txt"), b"mine").unwrap();
    let before = scratch.names();
    for number in [1, 2, 3] {
        finished(&at("run"), number);
        assert_eq!(events(&at("run")), number);
    }
    assert_eq!(scratch.names(), [vec!["run".to_owned()], before].concat());
    assert_eq!(events(&at("run.replaced-2")), 7);
    for file in ["run.partial/mine.txt", "run.replaced/mine.txt", "run.partial-3/notes.txt"] {
        assert_eq!(fs::read(at(file)).unwrap(), b"mine");
    }
    assert_eq!(names(&at("run.partial-3")), ["notes.txt"]);
}

#[cfg(unix)]
#[test]
fn a_link_is_not_replaced_and_not_followed() {
    use std::os::unix::fs::symlink;
    let scratch = Scratch::new("folder-link");
    let at = |name: &str| scratch.0.join(name);
    finished(&at("run"), 1);
    symlink(at("run"), at("link")).unwrap();
    symlink(at("nowhere"), at("dangling")).unwrap();
    for name in ["link", "dangling"] {
        let error = ResultFolder::create(&at(name)).unwrap_err();
        assert!(error.to_string().contains("is a symbolic link: name its target"), "{error}");
    }
    // A symbolic link in place of a temporary folder, and one among the files of a result.
    symlink(at("run"), at("run.partial")).unwrap();
    fs::write(at("elsewhere"), fs::read(at("run/flows.txt")).unwrap()).unwrap();
    fs::remove_file(at("run/flows.txt")).unwrap();
    symlink(at("elsewhere"), at("run/flows.txt")).unwrap();
    assert!(matches!(ResultFolder::create(&at("run")), Err(RecordError::NotOurs { .. })));
    fs::remove_file(at("run/flows.txt")).unwrap();
    finished(&at("run"), 2);
    assert!(at("run.partial").is_symlink() && at("elsewhere").exists());
    assert_eq!(events(&at("run")), 2);
}

#[test]
fn two_writers_of_one_target_are_distinguished() {
    let scratch = Scratch::new("folder-busy");
    let target = scratch.0.join("run");
    let first = ResultFolder::create(&target).unwrap();
    first.write("a", b"a").unwrap();
    assert!(matches!(ResultFolder::create(&target), Err(RecordError::Busy { .. })));
    fs::create_dir(&target).unwrap();
    fs::write(target.join("theirs.txt"), b"came meanwhile").unwrap();
    let error = finish(first, 1, false).unwrap_err();
    let RecordError::Kept { path, error } = error else { panic!("{error}") };
    assert!(matches!(*error, RecordError::Occupied { .. }), "{error}");
    assert_eq!(
        (path.as_path(), events(&path)),
        (scratch.0.join("run.partial").as_path(), 1),
        "the finished work stays"
    );
    fs::remove_dir_all(&target).unwrap();
    fs::remove_dir_all(scratch.0.join("run.partial")).unwrap();
    finished(&target, 2);
}

#[test]
fn many_writers_of_one_target_leave_one_whole_result() {
    let scratch = Scratch::new("folder-race");
    let target = scratch.0.join("run");
    let wins: usize = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..4u64)
            .map(|writer| {
                let target = &target;
                scope.spawn(move || {
                    (0..25)
                        .filter(|round| match ResultFolder::create(target) {
                            Ok(folder) => finish(folder, 100 * writer + round, false).map(|_| ()).is_ok(),
                            Err(error) => {
                                assert!(
                                    matches!(error, RecordError::Busy { .. } | RecordError::Unreadable { .. }),
                                    "{error}"
                                );
                                false
                            }
                        })
                        .count()
                })
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).sum()
    });
    assert!(wins > 0);
    read_verified(&target).unwrap();
    assert_eq!(scratch.names(), ["run"]);
}

#[test]
fn a_writer_killed_before_its_marker_is_gone_leaves_a_whole_result() {
    let scratch = Scratch::new("folder-marked");
    let target = scratch.0.join("run");
    finished(&target, 1);
    fs::write(target.join(MARKER), b"").unwrap();
    read_verified(&target).unwrap();
    assert!(!target.join(MARKER).exists());
}

#[test]
fn an_incomplete_result_is_distinguished_from_a_complete_one() {
    let scratch = Scratch::new("folder-half");
    let target = scratch.0.join("run");
    finished(&target, 3);
    let damaged = |said: &str| {
        let error = read_verified(&target).unwrap_err();
        assert!(matches!(error, RecordError::Damaged { .. }) && error.to_string().contains(said), "{said}: {error}");
    };
    fs::write(target.join("flows.txt"), b"33").unwrap();
    damaged("do not match the results_hash of its summary.json: flows.txt was modified");
    fs::remove_file(target.join("flows.txt")).unwrap();
    damaged("flows.txt is missing");
    let list = fs::read_to_string(target.join(MANIFEST_FILE)).unwrap();
    let shorter: String =
        list.lines().filter(|line| !line.ends_with("flows.txt")).map(|line| format!("{line}\n")).collect();
    fs::write(target.join(MANIFEST_FILE), shorter).unwrap();
    damaged("removed from their list");
    fs::remove_file(target.join(MANIFEST_FILE)).unwrap();
    damaged("it has no tidegate.sha256");
    fs::remove_file(target.join(SUMMARY_FILE)).unwrap();
    damaged("it has no summary.json");
}

#[test]
fn only_what_killed_writers_left_is_cleared() {
    let scratch = Scratch::new("folder-leftovers");
    let at = |name: &str| scratch.0.join(name);
    let living = ResultFolder::create(&at("living")).unwrap();
    for name in ["killed.partial", "just-begun.partial", "foreign.partial", "foreign.replaced"] {
        fs::create_dir(at(name)).unwrap();
    }
    fs::write(at("killed.partial").join(MARKER), b"flows.txt\n").unwrap();
    fs::write(at("killed.partial/flows.txt"), b"half").unwrap();
    fs::write(at("foreign.partial/mine.txt"), b"mine").unwrap();
    finished(&at("old"), 1);
    fs::write(at("old").join(".tidegate-replaced"), b"").unwrap();
    fs::rename(at("old"), at("old.replaced")).unwrap();
    clear_leftovers(&scratch.0).unwrap();
    assert_eq!(scratch.names(), ["foreign.partial", "foreign.replaced", "living.partial", "old"]);
    drop(living);
}

#[test]
fn a_place_that_cannot_be_is_the_user_s_mistake() {
    let error = ResultFolder::create(Path::new("/dev/null/run")).unwrap_err();
    assert!(!error.is_machine_failure(), "{error}");
}

/// The ways to replace an earlier result: by an exchange, by two renames where the system has no exchange, and not at
/// all if the exchange fails.
#[test]
fn a_result_is_replaced_with_and_without_an_exchange() {
    use std::io::{Error, ErrorKind};
    let scratch = Scratch::new("folder-exchange");
    let (target, new) = (scratch.0.join("run"), scratch.0.join("run.partial"));
    let replace = |exchange: &dyn Fn(&Path, &Path) -> std::io::Result<()>| {
        finished(&target, 1);
        fs::write(target.join(MARKER), b"").unwrap();
        finished(&scratch.0.join("new"), 2);
        fs::rename(scratch.0.join("new"), &new).unwrap();
        earlier::replace_by(exchange, &new, &target)
    };
    replace(&|_, _| Err(ErrorKind::Unsupported.into())).unwrap();
    assert_eq!((events(&target), scratch.names()), (2, vec!["run".to_owned()]));
    let error = replace(&|_, _| Err(Error::from_raw_os_error(5))).unwrap_err();
    assert!(error.is_machine_failure(), "{error}");
    assert_eq!((events(&target), scratch.names()), (1, vec!["run".to_owned(), "run.partial".to_owned()]));
    assert!(!names(&target).iter().any(|name| name == ".tidegate-replaced"));
    fs::remove_dir_all(&new).unwrap();
    let swapped = |one: &Path, other: &Path| {
        let aside = one.with_extension("aside");
        fs::rename(one, &aside)?;
        fs::rename(other, one)?;
        fs::rename(&aside, other)
    };
    replace(&swapped).unwrap();
    assert_eq!((events(&target), scratch.names()), (2, vec!["run".to_owned()]));
}

#[test]
fn concurrent_writers_of_one_target_are_refused_or_complete() {
    let scratch = Scratch::new("folder-concurrent");
    let target = scratch.0.join("run");
    let complete = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..8u64)
            .map(|writer| {
                let target = &target;
                scope.spawn(move || {
                    let mut complete = 0;
                    for round in 0..40 {
                        match ResultFolder::create(target) {
                            Ok(folder) => {
                                finish(folder, 1 + writer * 100 + round, false).unwrap();
                                complete += 1;
                            }
                            Err(RecordError::Busy { .. }) => {}
                            Err(error) => panic!("{error}"),
                        }
                    }
                    complete
                })
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).sum::<u32>()
    });
    assert!(complete > 0 && events(&target) > 0);
    assert_eq!(scratch.names(), ["run"]);
}
