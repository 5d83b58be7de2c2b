//! Scenario parameters of Tagger. The crate `tagger` computes the rules; a switch only looks them up.

use crate::describe::Default::{Absent, Value};
use crate::describe::{Family, Mechanism, Parameter};

/// Description of Tagger.
pub const MECHANISM: Mechanism = Mechanism {
    kind: "tagger",
    family: Family::Tags,
    title: "tags that no forwarding can close to a cycle of pauses",
    source: "Tagger (Hu et al., CoNEXT 2017)",
    parameters: &[
        Parameter {
            key: "rules",
            default: Absent("as `algorithm`"),
            meaning: "a rule file for this fabric, relative to the scenario's folder; one of rules and algorithm",
            source: "choice of this project",
        },
        Parameter {
            key: "algorithm",
            default: Absent("as `rules`"),
            meaning: "clos: one tag more at every turn from down to up; merge: tags of one a hop, merged greedily \
                      (Algorithm 2); one-per-hop: one tag more at every hop (Algorithm 1)",
            source: "Tagger, 4.3 and section 5",
        },
        Parameter {
            key: "paths",
            default: Value("shortest"),
            meaning: "algorithms merge and one-per-hop: the paths that must not lose: all shortest ones (shortest), \
                      those that climb the tiers and come down (up-down), or a tree of shortest paths to each switch \
                      (trees)",
            source: "choice of this project",
        },
        Parameter {
            key: "bounces",
            default: Value("1"),
            meaning: "how many turns from down to up stay lossless, 0 to 6: algorithm clos, or paths up-down",
            source: "Tagger, 4.3: shortest and one-bounce paths",
        },
        Parameter {
            key: "classes",
            default: Value("1"),
            meaning: "application classes that share the tags, 1 to 7; class c starts with tag c",
            source: "Tagger, section 6",
        },
        Parameter {
            key: "egress",
            default: Value("new-tag"),
            meaning: "whose queue a rewritten frame waits in: new-tag, or arriving-tag, which is how switches do it by \
                      default: the pause of the new class does not reach the frame, lossless frames are lost, and any \
                      loop of links can deadlock, with or without rules",
            source: "Tagger, section 7 and figure 8",
        },
    ],
};
