//! Command-line options for the marks (DSCP and priority) of tags.

use super::profile::Profile;
use crate::failure::Failure;
use tagger::export::{ExportError, Kept, Lossy, Mark, Marks};
use tagger::rules::{RuleTable, Tag};

/// Help text for a table with more lossless tags than PFC has priorities.
pub const FEWER_TAGS: &str = "the Clos rule needs bounces + classes tags, so use fewer of them; for other paths, fewer \
    hops or --algorithm fewest";

/// Tags that a host may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Trusted {
    /// The first tags of classes
    First,
    /// Any tag of the rules
    Any,
}

/// Parses `TAG=DSCP:PRIORITY` or `TAG=DSCP:PRIORITY:HOSTTAG`.
pub fn parse_tag(text: &str) -> Result<Mark, String> {
    let form = || "write TAG=DSCP:PRIORITY, as in 2=34:4, or TAG=DSCP:PRIORITY:TAG-AT-HOSTS".to_owned();
    let (tag, rest) = text.split_once('=').ok_or_else(form)?;
    let tag = tag.trim().parse::<Tag>().map_err(|_| form())?;
    let numbers: Vec<u8> =
        rest.split(':').map(|part| part.trim().parse()).collect::<Result<_, _>>().map_err(|_| form())?;
    match numbers[..] {
        [dscp, priority] => Ok(Mark { tag, dscp, priority, at_host: None }),
        [dscp, priority, at_host] => Ok(Mark { tag, dscp, priority, at_host: Some(at_host) }),
        _ => Err(form()),
    }
}

/// Parses `DSCP:QUEUE`.
fn parse_pair(text: &str) -> Result<(u8, u8), String> {
    let pair = text.split_once(':').and_then(|(dscp, queue)| Some((dscp.parse().ok()?, queue.parse().ok()?)));
    pair.ok_or_else(|| "write DSCP:QUEUE, as in 48:7".to_owned())
}

/// Marks of packets.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Marks")]
pub struct MarkArgs {
    /// Mark of a lossless tag: its DSCP and priority (PFC, ingress group and queue); then optionally the tag that hosts
    /// receive in its place. Without any, tags have the priorities 3, 4, 5, 6, 2, 1 and the DSCPs 26, 34 ...
    #[arg(long = "tag", value_name = "TAG=DSCP:PRIORITY", value_parser = parse_tag)]
    pub tags: Vec<Mark>,
    /// DSCP and queue of packets that are or become lossy.
    #[arg(long, value_name = "DSCP:QUEUE", value_parser = parse_pair, default_value = "0:0")]
    pub lossy: (u8, u8),
    /// Untagged traffic that keeps its DSCP, in its own traffic class and queue: 48:7 for routing protocols.
    #[arg(long, value_name = "DSCP:QUEUE", value_parser = parse_pair)]
    pub keep: Vec<(u8, u8)>,
    /// Traffic classes of the ASIC, 1 to 16 [default: those of --profile, or 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=16))]
    pub traffic_classes: Option<u8>,
}

impl MarkArgs {
    /// Returns the mark of every lossless tag of a table.
    ///
    /// # Errors
    /// If numbers are out of range, ambiguous or missing.
    pub fn marks(&self, table: &RuleTable, profile: Option<&Profile>) -> Result<Marks, Failure> {
        let of_profile = profile.and_then(|profile| profile.limits.traffic_classes);
        let of_profile = of_profile.map(|classes| u8::try_from(classes).unwrap_or(u8::MAX));
        let classes = self.traffic_classes.or(of_profile).unwrap_or(8);
        let lossy = Lossy { dscp: self.lossy.0, queue: self.lossy.1 };
        let kept = self.keep.iter().map(|&(dscp, queue)| Kept { dscp, queue }).collect();
        let tags = &table.lossless_tags;
        let lossless = match self.tags.as_slice() {
            [] => Marks::usual(tags).map(|marks| marks.lossless().to_vec()),
            given => Ok(given.to_vec()),
        };
        lossless.and_then(|lossless| Marks::new(tags, lossless, lossy, kept, classes)).map_err(|error| {
            let help = match &error {
                ExportError::TooManyTags { .. } => FEWER_TAGS,
                ExportError::NoneForControl { .. } => {
                    "state every tag with --tag TAG=DSCP:PRIORITY, priorities 1 to 7, or use fewer bounces or classes"
                }
                _ => "state every tag with --tag TAG=DSCP:PRIORITY, and lossy traffic with --lossy DSCP:QUEUE",
            };
            Failure::input(error.to_string(), help)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_written_as_numbers() {
        assert_eq!(parse_tag("2=34:4"), Ok(Mark { tag: 2, dscp: 34, priority: 4, at_host: None }));
        assert_eq!(parse_tag("3=2:2:1"), Ok(Mark { tag: 3, dscp: 2, priority: 2, at_host: Some(1) }));
        assert_eq!(parse_pair("48:7"), Ok((48, 7)));
        for wrong in ["", "2", "2=34", "2=34:4:1:1", "x=1:2", "300=1:2"] {
            assert!(parse_tag(wrong).unwrap_err().contains("2=34:4"), "{wrong}");
        }
        assert!(parse_pair("48").unwrap_err().contains("48:7"));
    }
}
