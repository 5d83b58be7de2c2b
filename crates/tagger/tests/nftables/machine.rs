//! Commands for network namespaces on this machine, and the check of their prerequisites.

use std::io::Write as _;
use std::process::{Command, Stdio};

/// Environment variable: if it is set, a test that could not send packets fails.
const REQUIRED: &str = "TIDEGATE_REQUIRE_NAMESPACES";
/// Environment variable: if it is set, VLAN interfaces may be missing nevertheless. `.ci/run` sets it, and prints that,
/// on a kernel without them.
const WITHOUT_VLAN: &str = "TIDEGATE_WITHOUT_VLAN";

/// Checks that this machine has all prerequisites of the tests.
///
/// # Errors
/// The first missing prerequisite.
pub fn check() -> Result<(), String> {
    let user = Command::new("id").arg("-u").output();
    if !user.is_ok_and(|user| user.stdout.trim_ascii() == b"0") {
        return Err("not root".to_owned());
    }
    for program in [&["ip", "-V"][..], &["tc", "-V"], &["nft", "-v"], &["python3", "-V"], &["bridge", "-V"]] {
        let ran = Command::new(program[0]).arg(program[1]).output();
        if !ran.is_ok_and(|output| output.status.success()) {
            return Err(format!("no {}", program[0]));
        }
    }
    Ok(())
}

/// Returns whether the kernel supports VLAN interfaces (802.1Q). If not, prints that the test sends no packets.
///
/// # Panics
/// If it does not, and the environment requires it.
pub fn has_vlan_interfaces() -> bool {
    let name = format!("tg{}vlan", std::process::id());
    if check().is_err() || run(&["ip", "netns", "add", &name], "").is_err() {
        return true; // The test itself reports the missing prerequisite.
    }
    let script = "ip link add one type veth peer name two && ip link add link one name one.5 type vlan id 5";
    let made = run(&["ip", "netns", "exec", &name, "sh", "-c", script], "");
    let _ = run(&["ip", "netns", "del", &name], "");
    let is_set = |variable: &str| std::env::var_os(variable).is_some();
    vlan_or_skipped(made, is_set(REQUIRED) && !is_set(WITHOUT_VLAN))
}

fn vlan_or_skipped(made: Result<String, String>, required: bool) -> bool {
    if let Err(missing) = &made {
        assert!(!required, "{REQUIRED} is set without {WITHOUT_VLAN}, and there are no VLAN interfaces: {missing}");
        println!("skipped, no packets were sent: no VLAN interfaces: {missing}");
    }
    made.is_ok()
}

#[test]
fn missing_vlan_interfaces_are_a_failure_where_they_are_required() {
    let missing = || Err("Unknown device type".to_owned());
    assert!(vlan_or_skipped(Ok(String::new()), true) && !vlan_or_skipped(missing(), false));
    assert!(std::panic::catch_unwind(|| vlan_or_skipped(missing(), true)).is_err());
}

/// Returns the namespaces of a test, or `None` if they are unavailable and not required.
///
/// # Panics
/// If they are unavailable and the environment variable requires them.
pub fn or_skipped<T>(made: Result<T, String>) -> Option<T> {
    made.map_err(|missing| {
        assert!(std::env::var_os(REQUIRED).is_none(), "{REQUIRED} is set, and no packets can be sent: {missing}");
        println!("skipped, no packets were sent: {missing}");
    })
    .ok()
}

/// Runs a command with `input` on its standard input and returns its output.
///
/// # Errors
/// If the command fails; the error has the command and the first line of its output.
pub fn run(command: &[&str], input: &str) -> Result<String, String> {
    let mut child = Command::new(command[0]);
    child.args(&command[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = child.spawn().map_err(|error| error.to_string())?;
    let mut pipe = child.stdin.take().expect("a pipe");
    let input = input.to_owned();
    let writer = std::thread::spawn(move || pipe.write_all(input.as_bytes()));
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let _ = writer.join();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("{}: {}", command.join(" "), error.lines().next().unwrap_or_default())),
    }
}
