//! Programs other than `tc` that scripts may call: those without effect on gates. All other programs are refused.

use super::file::GateFileError;
use super::shell::{Word, at};
use super::shell_variables::FOLDERS;

/// Programs that fail only on errors, so that a command after `&&` is assumed to run.
const WITHOUT_EFFECT: [&str; 14] = [
    "ip", "true", ":", "echo", "printf", "logger", "ethtool", "modprobe", "sysctl", "sleep", "cd", "mkdir", "touch",
    "ifconfig",
];
/// Programs whose exit code depends on more than the script, so that a command after `&&` may or may not run.
const DECIDES: [&str; 15] = [
    "test", "grep", "ls", "cat", "date", "uname", "id", "whoami", "hostname", "lsmod", "which", "type", "command",
    "false", "ifdown",
];
/// Programs that are assumed to be installed.
const PRESENT: [&str; 6] = ["tc", "ip", "ethtool", "modprobe", "sysctl", "sudo"];
/// Programs that change frames, or change their priority and so their class.
const CHANGE_FRAMES: [&str; 8] =
    ["iptables", "ip6tables", "iptables-restore", "nft", "ebtables", "arptables", "bpftool", "tcpreplay"];

/// Returns the name of a program without its folder; `None` if the path has a folder that is not a system folder.
pub(super) fn name(program: &str) -> Option<&str> {
    match program.rsplit_once('/') {
        None => Some(program),
        Some((folder, name)) if FOLDERS.contains(&folder) => Some(name),
        Some((folder, "tc")) if folder.starts_with('/') => Some("tc"),
        Some(_) => None,
    }
}

/// Returns `true` if a command fails only on errors, and `false` if its exit code depends on more than the script.
///
/// # Errors
/// A program whose effect on gates is not known, with its line.
pub(super) fn fails_only_on_errors(words: &[Word]) -> Result<bool, GateFileError> {
    let Some(((line, program), arguments)) = words.split_first() else { return Ok(true) };
    let arguments: Vec<&str> = arguments.iter().map(|(_, word)| word.as_str()).collect();
    let shown = fabric::visible(program);
    let name = name(program).unwrap_or_default();
    match (name, arguments.as_slice()) {
        ("printf", [option, ..]) if option.starts_with("-v") => {
            at(*line, "`printf -v` assigns a variable: its effect on variables is not followed")
        }
        ("modprobe", arguments) if arguments.iter().any(|one| one.starts_with("-r") || *one == "--remove") => {
            at(*line, "`modprobe -r` may remove interfaces: it is not followed")
        }
        ("ethtool", arguments) if arguments.iter().any(|one| one.starts_with("-L") || *one == "--set-channels") => {
            at(*line, "`ethtool -L` changes the number of queues, which the gates need: it is not followed")
        }
        ("command", ["-v" | "-V", program]) | ("which" | "type", [program]) => Ok(PRESENT.contains(program)),
        ("command", _) => at(*line, "`command`: the commands that it runs are not followed"),
        ("ip", arguments) => Ok(!arguments.iter().any(|one| ["d", "de", "del", "delete", "flush"].contains(one))),
        (name, _) if WITHOUT_EFFECT.contains(&name) => Ok(true),
        (name, _) if DECIDES.contains(&name) => Ok(false),
        (name, _) if CHANGE_FRAMES.contains(&name) => {
            at(*line, format!("`{shown}`: its effect on frames and their classes is not judged"))
        }
        _ => at(*line, format!("`{shown}`: whether this program changes gates is not known here")),
    }
}
