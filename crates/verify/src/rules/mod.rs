//! Reader of rule files.

mod quick;

use crate::error::VerifyError;
use fabric::NameFault;
use serde::Deserialize;

/// The value of `format`.
pub const FORMAT: &str = "tidegate-tagger-rules";
/// The supported value of `version`.
pub const VERSION: u32 = 1;

/// A rule file as written; [`crate::Verifier::new`] checks it against a fabric.
///
/// Unknown keys are ignored, except in a rule, because a key in a rule could change its meaning.
#[derive(Clone, Debug, Deserialize)]
pub struct RuleFile {
    /// Name of the format; must equal [`FORMAT`].
    pub format: String,
    /// Version of the format; must equal [`VERSION`].
    pub version: u32,
    /// Description of the fabric for which the rules are made.
    pub fabric: FabricHeader,
    /// Tags with a lossless queue.
    pub lossless_tags: Vec<u16>,
    /// Tag of frames that match no rule.
    pub lossy_tag: u16,
    /// Application classes, with the initial tags of their frames.
    pub classes: Vec<Class>,
    /// Rules per switch.
    pub switches: Vec<SwitchRules>,
}

/// Description of the fabric in a rule file.
#[derive(Clone, Debug, Deserialize)]
pub struct FabricHeader {
    /// Kind of the fabric, such as "clos".
    #[serde(default)]
    pub kind: String,
    /// Number of switches.
    #[serde(default)]
    pub switches: Option<u64>,
    /// Number of hosts.
    #[serde(default)]
    pub hosts: Option<u64>,
    /// Number of links.
    #[serde(default)]
    pub links: Option<u64>,
    /// [`crate::fabric_hash`].
    pub hash: String,
}

/// An application class.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Class {
    /// Unique name.
    pub name: String,
    /// Tag of its frames on entry.
    pub first_tag: u16,
}

/// The rules of one switch, or of a host that forwards.
#[derive(Clone, Debug, Deserialize)]
pub struct SwitchRules {
    /// Name of the node in the fabric.
    pub name: String,
    /// Rules of the node. Two rules that match one frame must agree.
    pub rules: Vec<Rule>,
}

/// Gives `new_tag` to frames with tag `tag` that arrive by a port in `ingress` and leave by a port in `egress`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Tag of the arriving frame.
    pub tag: u16,
    /// Ingress ports, from 0.
    #[serde(rename = "in")]
    pub ingress: Vec<u16>,
    /// Egress ports, from 0.
    #[serde(rename = "out")]
    pub egress: Vec<u16>,
    /// Tag after the hop, which also selects the egress queue.
    pub new_tag: u16,
}

impl RuleFile {
    /// Parses a file.
    ///
    /// # Errors
    /// [`VerifyError::Json`] with line and column; [`VerifyError::Format`] if it is JSON of another kind.
    pub fn parse(bytes: &[u8]) -> Result<RuleFile, VerifyError> {
        /// Header of the file. It is checked before other faults are reported, because a wrong format is a more helpful
        /// message than a missing key.
        #[derive(Deserialize)]
        struct Head {
            #[serde(default)]
            format: serde_json::Value,
            #[serde(default)]
            version: serde_json::Value,
        }
        let json = |error: serde_json::Error| {
            let location = format!(" at line {} column {}", error.line(), error.column());
            let message = error.to_string().trim_end_matches(&location).to_owned();
            VerifyError::Json { line: error.line(), column: error.column(), message }
        };
        let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        // If the fast reader returns nothing, serde reads the file again: the file has an unusual shape, or serde
        // reports its fault.
        let file = quick::read(bytes, quick::PART).or_else(|| serde_json::from_slice::<RuleFile>(bytes).ok());
        if let Some(file) = file
            && (file.format.as_str(), file.version) == (FORMAT, VERSION)
        {
            return file.shown_safely();
        }
        let head: Head = serde_json::from_slice(bytes).map_err(json)?;
        if head.format != FORMAT {
            let found = head.format.to_string();
            return Err(VerifyError::Format { key: "format", found, expected: "\"tidegate-tagger-rules\"" });
        }
        if head.version != VERSION {
            return Err(VerifyError::Format { key: "version", found: head.version.to_string(), expected: "1" });
        }
        serde_json::from_slice::<RuleFile>(bytes).map_err(json)?.shown_safely()
    }

    /// Refuses text with invisible or control characters, which a terminal would interpret.
    fn shown_safely(self) -> Result<RuleFile, VerifyError> {
        let mut texts = vec![("fabric", &self.fabric.kind), ("fabric", &self.fabric.hash)];
        texts.extend(self.classes.iter().map(|class| ("classes", &class.name)));
        texts.extend(self.switches.iter().map(|switch| ("switches", &switch.name)));
        let hidden = texts.into_iter().find_map(|(location, text)| match fabric::check_name(text) {
            Err(fault @ NameFault::Invisible { .. }) => {
                Some(VerifyError::Text { location: location.to_owned(), fault })
            }
            _ => None,
        });
        match hidden {
            Some(error) => Err(error),
            None => Ok(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = r#"{ "format": "tidegate-tagger-rules", "version": 1,
  "fabric": { "kind": "clos", "switches": 2, "hosts": 2, "links": 3, "hash": "00" },
  "generated_by": { "algorithm": "merge" },
  "lossless_tags": [1, 2], "lossy_tag": 0,
  "classes": [ { "name": "default", "first_tag": 1 } ],
  "switches": [
    { "name": "L1", "rules": [ { "tag": 1, "in": [1, 2], "out": [3], "new_tag": 2 } ] } ] }"#;

    #[test]
    fn a_rule_file_is_read() {
        let file = RuleFile::parse(SMALL.as_bytes()).unwrap();
        let rule = Rule { tag: 1, ingress: vec![1, 2], egress: vec![3], new_tag: 2 };
        assert_eq!((file.switches[0].name.as_str(), &file.switches[0].rules), ("L1", &vec![rule]));
        assert_eq!((file.fabric.links, file.lossy_tag, file.lossless_tags), (Some(3), 0, vec![1, 2]));
        assert!(RuleFile::parse(format!("\u{feff}{SMALL}").as_bytes()).is_ok());
    }

    #[test]
    fn an_invalid_rule_file_is_reported_with_its_location() {
        let of = |text: &str| RuleFile::parse(text.as_bytes()).unwrap_err().to_string();
        assert_eq!(of("{\n \"format\": }"), "line 2, column 12: expected value");
        assert!(of("").starts_with("line 1, column 0: EOF"));
        assert_eq!(of("{}"), "this is no rule file: `format` is null, expected \"tidegate-tagger-rules\"");
        let newer = SMALL.replace("\"version\": 1", "\"version\": 2");
        assert_eq!(of(&newer), "this is no rule file: `version` is 2, expected 1");
        let port = of(&SMALL.replace("[3]", "[70000]"));
        assert_eq!(port, "line 7, column 70: invalid value: integer `70000`, expected u16");
        let key = of(&SMALL.replace("\"new_tag\": 2", "\"new_tag\": 2, \"vlan\": 7"));
        assert!(key.starts_with("line 7, column 89: unknown field `vlan`"), "{key}");
        let twice = of(&SMALL.replace("\"tag\": 1,", "\"tag\": 1, \"tag\": 1,"));
        assert!(twice.contains("duplicate field `tag`"), "{twice}");
        assert!(of(&SMALL.replace("\"lossy_tag\": 0,", "")).contains("missing field `lossy_tag`"));
        let painted = of(&SMALL.replace("\"default\"", "\"\\u001b[2J\""));
        assert!(painted.starts_with("classes: it has the character U+001B"), "{painted}");
    }
}
