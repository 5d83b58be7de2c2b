//! Tagger as scenarios know it. What its rules are and how they are found is the matter of a crate of its own; a
//! switch only looks them up.

use crate::describe::{Family, Mechanism, Parameter};

/// Rules that rewrite tags, as users meet them.
pub const TAGGER: Mechanism = Mechanism {
    kind: "tagger",
    family: Family::Tags,
    title: "tags that no forwarding can close to a cycle of pauses",
    source: "Tagger (Hu et al., CoNEXT 2017)",
    parameters: &[
        Parameter {
            key: "rules",
            default: "",
            meaning: "a rule file for this fabric; one of rules and algorithm",
            source: "required unless rules are generated",
        },
        Parameter {
            key: "algorithm",
            default: "",
            meaning: "clos: one tag more at every turn from down to up; merge: Algorithm 2; one-per-hop: Algorithm 1",
            source: "Tagger, 4.3 and section 5",
        },
        Parameter {
            key: "paths",
            default: "shortest",
            meaning: "merge and one-per-hop: which paths must not lose: shortest, up-down or trees",
            source: "choice of this project",
        },
        Parameter {
            key: "bounces",
            default: "1",
            meaning: "how many turns from down to up stay lossless, 0 to 6: algorithm clos, or paths up-down",
            source: "Tagger, 4.3: shortest and one-bounce paths",
        },
        Parameter {
            key: "classes",
            default: "1",
            meaning: "application classes that share the tags, 1 to 7; class c starts with tag c",
            source: "Tagger, section 6",
        },
        Parameter {
            key: "egress",
            default: "new-tag",
            meaning: "whose queue a rewritten frame waits in: new-tag, or arriving-tag, which loses frames",
            source: "Tagger, section 7, figure 8",
        },
    ],
};
