//! Scenario parameters of Tagger. The crate `tagger` computes the rules; a switch only looks them up.

use crate::describe::Default::{Absent, Value};
use crate::describe::{Family, Mechanism, Parameter, Syntax};

/// Description of Tagger.
pub const MECHANISM: Mechanism = Mechanism {
    kind: "tagger",
    family: Family::Tags,
    title: "tags that exclude cycles of pauses under any forwarding",
    source: "Tagger (Hu et al., CoNEXT 2017)",
    parameters: &[
        Parameter {
            key: "rules",
            syntax: Syntax::other("a file", "\"rules.json\""),
            default: Absent("as `algorithm`"),
            meaning: "a rule file for this fabric, relative to the scenario's folder; one of rules and algorithm",
            source: "choice of this project",
        },
        Parameter {
            key: "algorithm",
            syntax: Syntax::word(&["clos", "merge", "one-per-hop"], "clos, merge or one-per-hop", "\"clos\""),
            default: Absent("as `rules`"),
            meaning: "clos: the tag rises at every bounce (from down to up); merge: tags of one a hop, merged \
                      greedily (Algorithm 2); one-per-hop: the tag rises at every hop (Algorithm 1)",
            source: "Tagger, 4.3 and section 5",
        },
        Parameter {
            key: "paths",
            syntax: Syntax::word(&["shortest", "up-down", "trees"], "shortest, up-down or trees", "\"up-down\""),
            default: Value("shortest"),
            meaning: "algorithms merge and one-per-hop: the lossless paths: all shortest ones (shortest), those up \
                      and then down the tiers (up-down), or a tree of shortest paths to each switch (trees)",
            source: "choice of this project",
        },
        Parameter {
            key: "bounces",
            syntax: Syntax::COUNT,
            default: Value("1"),
            meaning: "bounces (from down to up) that stay lossless, 0 to 6: algorithm clos, or paths up-down",
            source: "Tagger, 4.3: shortest and one-bounce paths",
        },
        Parameter {
            key: "classes",
            syntax: Syntax::COUNT,
            default: Value("1"),
            meaning: "application classes that share the tags, 1 to 7; class c starts with tag c",
            source: "Tagger, section 6",
        },
        Parameter {
            key: "egress",
            syntax: Syntax::word(&["new-tag", "arriving-tag"], "new-tag or arriving-tag", "\"arriving-tag\""),
            default: Value("new-tag"),
            meaning: "queue of a frame with a rewritten tag: new-tag, or arriving-tag, the default of switches: a \
                      pause of the new class does not hold the frame, lossless frames are lost, and any cycle of \
                      links can deadlock, with or without rules",
            source: "Tagger, section 7 and figure 8",
        },
    ],
};
