//! Values of `--paths` of `tidegate tagger`: sources of the expected lossless paths.

use crate::failure::Failure;
use fabric::Fabric;
use record::file::AtomicFile;
use std::fmt;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use tagger::paths::ExpectedPaths;

/// A source of expected paths, as given on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathChoice {
    Shortest,
    Bounces(u8),
    NShortest(u32),
    Trees,
    ServerTrees,
    Random(u32),
    File(PathBuf),
    Routes(PathBuf),
    Fdbs(PathBuf),
}

impl fmt::Display for PathChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PathChoice::Shortest => f.write_str("shortest"),
            PathChoice::Bounces(0) => f.write_str("up-down"),
            PathChoice::Bounces(bounces) => write!(f, "bounces={bounces}"),
            PathChoice::NShortest(paths) => write!(f, "n-shortest={paths}"),
            PathChoice::Trees => f.write_str("trees"),
            PathChoice::ServerTrees => f.write_str("trees=servers"),
            PathChoice::Random(count) => write!(f, "random={count}"),
            PathChoice::File(path) => write!(f, "file:{}", path.display()),
            PathChoice::Routes(path) => write!(f, "routes:{}", path.display()),
            PathChoice::Fdbs(path) => write!(f, "fdbs:{}", path.display()),
        }
    }
}

/// Parses a value of `--paths` of `tagger rules`.
///
/// # Errors
/// If the value is invalid; the message lists valid values.
pub fn parse_paths(text: &str) -> Result<PathChoice, String> {
    let (name, value) = match text.split_once(['=', ':']) {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    };
    let number = |what: &str| {
        let number = value.and_then(|value| value.parse::<u32>().ok()).filter(|&number| number > 0);
        number.ok_or_else(|| format!("write {name}={what}, {what} from 1"))
    };
    match (name, value) {
        ("shortest", None) => Ok(PathChoice::Shortest),
        ("up-down", None) => Ok(PathChoice::Bounces(0)),
        ("bounces", Some(value)) => {
            value.parse().map(PathChoice::Bounces).map_err(|_| "write bounces=K, K from 0 to 255".to_owned())
        }
        ("n-shortest", _) => number("N").map(PathChoice::NShortest),
        ("trees", None) => Ok(PathChoice::Trees),
        ("trees", Some("switches")) => Ok(PathChoice::Trees),
        ("trees", Some("servers")) => Ok(PathChoice::ServerTrees),
        ("random", _) => number("N").map(PathChoice::Random),
        ("file", Some(path)) if !path.is_empty() => Ok(PathChoice::File(path.into())),
        ("routes", Some(path)) if !path.is_empty() => Ok(PathChoice::Routes(path.into())),
        ("fdbs", Some(path)) if !path.is_empty() => Ok(PathChoice::Fdbs(path.into())),
        _ => Err("one of shortest, up-down, bounces=K, n-shortest=N, trees, trees=servers, random=N, file:FILE, \
            routes:FILE, fdbs:FILE"
            .to_owned()),
    }
}

/// Parses a value of `--paths` of `tagger verify`, where a file name needs no prefix `file:`.
///
/// # Errors
/// If the value is invalid, or a source that only the rule generator can list; the message lists valid values.
pub fn parse_paths_or_file(text: &str) -> Result<PathChoice, String> {
    let name = text.split(['=', ':']).next().unwrap_or_default();
    let known = ["shortest", "up-down", "bounces", "n-shortest", "trees", "random", "file", "routes", "fdbs"];
    if !known.contains(&name) && !text.is_empty() {
        return Ok(PathChoice::File(text.into()));
    }
    match parse_paths(text)? {
        PathChoice::NShortest(_) | PathChoice::Random(_) | PathChoice::Routes(_) | PathChoice::Fdbs(_) => Err(format!(
            "the verifier makes paths of its own, and {name} does not say which: have them written by `tidegate tagger \
             rules --paths {text} --paths-out FILE` and give that file"
        )),
        expected => Ok(expected),
    }
}

/// Writes a file with one line per path: node names, each with its egress port.
///
/// # Errors
/// If the file cannot be written, or a path does not fit the fabric.
pub fn write_list(fabric: &Fabric, paths: &ExpectedPaths, path: &Path, force: bool) -> Result<(), Failure> {
    let mut out = AtomicFile::create(path)?;
    let mut failed = None;
    let shown = paths.visit(fabric, &mut |one| {
        let mut line = String::new();
        let nodes = one.nodes(fabric);
        for (&node, port) in nodes.iter().zip(one.out_ports) {
            line += &format!("{}:{port} ", fabric.name(node));
        }
        let last = nodes.last().map_or("", |&node| fabric.name(node));
        match out.print(format_args!("{line}{last}\n")) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        }
    });
    shown.map_err(|error| Failure::Input { message: error.to_string(), help: None })?;
    failed.map_or_else(|| out.commit_over(force), Err).map_err(Failure::of_output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_read_as_written() {
        assert_eq!(parse_paths("bounces=1"), Ok(PathChoice::Bounces(1)));
        assert_eq!(parse_paths("up-down"), Ok(PathChoice::Bounces(0)));
        assert_eq!(parse_paths("trees=servers"), Ok(PathChoice::ServerTrees));
        assert_eq!(parse_paths("file:a=b:c"), Ok(PathChoice::File("a=b:c".into())));
        for wrong in
            ["", "short", "bounces", "bounces=300", "n-shortest", "n-shortest=0", "file:", "trees=x", "up-down=1"]
        {
            assert!(parse_paths(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_file_may_stand_for_itself_where_rules_are_verified() {
        assert_eq!(parse_paths_or_file("paths.txt"), Ok(PathChoice::File("paths.txt".into())));
        assert_eq!(parse_paths_or_file("file:trees"), Ok(PathChoice::File("trees".into())));
        assert_eq!(parse_paths_or_file("./trees"), Ok(PathChoice::File("./trees".into())));
        assert_eq!(parse_paths_or_file("trees=servers"), Ok(PathChoice::ServerTrees));
        for wrong in ["", "trees=x", "bounces", "random=3", "routes:r.json"] {
            assert!(parse_paths_or_file(wrong).is_err(), "{wrong}");
        }
    }
}
