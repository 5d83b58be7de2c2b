//! Tests the example files for clusters and containers; a command that prints its arguments replaces `tidegate`.
//! `python/tests/test_cluster_files.py` runs these files with the real command.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs one Slurm array task of `examples/sweep/slurm.sh`; returns exit code, standard output and standard error.
fn task(arguments: &[&str], variables: &[(&str, &str)]) -> (i32, String, String) {
    let output = Command::new("bash")
        .arg(root().join("examples/sweep/slurm.sh"))
        .args(arguments)
        .env_remove("SLURM_ARRAY_TASK_ID")
        .env("TIDEGATE", "echo")
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_slurm_task_does_the_part_of_its_index_whatever_else_was_submitted() {
    let sweep = ["s.toml", "out"];
    // Task ids and task counts that Slurm sets for `sbatch --array=1-4` (tasks 1 and 4), `--array=3` and `--array=2,4`:
    // the number of shards must remain 4.
    for (id, count) in [("1", "4"), ("4", "4"), ("3", "1"), ("2", "2"), ("4", "2")] {
        let (code, out, _) = task(&sweep, &[("SLURM_ARRAY_TASK_ID", id), ("SLURM_ARRAY_TASK_COUNT", count)]);
        assert_eq!((code, out), (0, format!("sweep s.toml --out out --quiet --jobs 1 --shard {id}/4\n")));
    }
    let variables = [("SLURM_ARRAY_TASK_ID", "9"), ("SLURM_ARRAY_TASK_COUNT", "1"), ("SLURM_CPUS_PER_TASK", "8")];
    let (code, out, _) = task(&["s.toml", "out", "16"], &variables);
    assert_eq!((code, out.as_str()), (0, "sweep s.toml --out out --quiet --jobs 8 --shard 9/16\n"));
}

#[test]
fn a_slurm_task_beyond_the_parts_is_refused() {
    for (id, parts) in [("5", "4"), ("0", "4"), ("3", "two"), ("17", "16")] {
        let (code, out, err) = task(&["s.toml", "out", parts], &[("SLURM_ARRAY_TASK_ID", id)]);
        assert_eq!((code, out.as_str()), (2, ""));
        assert!(
            err.starts_with(&format!("task {id} of the array (SLURM_ARRAY_TASK_ID) is none of the parts")),
            "{err}"
        );
    }
    assert_eq!(task(&["s.toml", "out"], &[]).0, 2, "outside of an array");
    assert_eq!(task(&["s.toml"], &[("SLURM_ARRAY_TASK_ID", "1")]).0, 2);
}

/// The array size in the header of the Slurm script equals the number of shards in the script.
#[test]
fn the_slurm_array_has_as_many_tasks_as_the_script_has_parts() {
    let script = fs::read_to_string(root().join("examples/sweep/slurm.sh")).unwrap();
    assert!(script.contains("\n#SBATCH --array=1-4\n") && script.contains("\nparts=${3:-4}\n"));
}

/// Returns the shell script of the Kubernetes pod (the block after `args:`), with `tidegate` replaced by another
/// command.
fn pod(tidegate: &str) -> Command {
    let yaml = fs::read_to_string(root().join("examples/sweep/kubernetes.yaml")).unwrap();
    let (_, block) = yaml.split_once("\n          args:\n            - |\n").expect("the arguments of the container");
    let indent = " ".repeat(14);
    let lines: Vec<&str> = block.lines().map_while(|line| line.strip_prefix(&indent)).collect();
    assert!(lines.len() > 5, "{lines:?}");
    let mut command = Command::new("sh");
    let script = format!("tidegate() {{ {tidegate}; }}\n{}", lines.join("\n"));
    command.args(["-c", &script]).env("PARTS", "4").env("JOB_COMPLETION_INDEX", "2");
    command
}

#[test]
fn a_pod_succeeds_once_its_part_is_complete_and_keeps_other_exit_codes() {
    for (code, of_pod) in [(0, 0), (1, 0), (2, 2), (3, 3), (101, 101), (130, 130), (137, 137)] {
        let output = pod(&format!("echo \"$@\"; exit {code}")).output().unwrap();
        assert_eq!(output.status.code(), Some(of_pod), "of {code}");
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(said, "sweep /sweep/sweep.toml --out /sweep/out --quiet --jobs 8 --shard 3/4\n");
    }
}

#[test]
fn a_signal_to_a_pod_reaches_the_sweep() {
    // A shell runs a trap only after the current command, so the sleeps must be short.
    let endless = "trap 'exit 130' TERM; echo begun; for _ in $(seq 200); do sleep 0.1; done";
    let mut pod = pod(endless).stdout(Stdio::piped()).spawn().unwrap();
    let mut begun = [0; 6];
    std::io::Read::read_exact(pod.stdout.as_mut().unwrap(), &mut begun).unwrap();
    assert!(Command::new("kill").arg(pod.id().to_string()).status().unwrap().success());
    // Without the signal, the command would exit after 20 s with another exit code.
    let status = pod.wait().unwrap();
    assert_eq!(status.code(), Some(130));
}

/// `.dockerignore`, which Docker reads, and `.containerignore`, which Podman prefers, must be equal.
#[test]
fn docker_and_podman_leave_the_same_out() {
    let [docker, podman] =
        [".dockerignore", ".containerignore"].map(|name| fs::read_to_string(root().join(name)).unwrap());
    assert_eq!(docker, podman);
    for name in [".git", "target", "python/target"] {
        assert!(podman.lines().any(|line| line == name), "{name}");
    }
}
