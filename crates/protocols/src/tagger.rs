//! Scenario parameters of Tagger. The crate `tagger` computes the rules; switches only apply them.

use crate::parameters::parameters;

parameters! {
    /// Parameters of Tagger's tag rules.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct TaggerParameters: Tags "tagger" {
        title: "tags that exclude cycles of pauses under any forwarding";
        source: "Tagger (Hu et al., CoNEXT 2017)";
        /// File of the rules, relative to the scenario's folder; `None` if an algorithm generates the rules.
        rules: Option<String> = "rules" file["\"rules.json\""], absent "as `algorithm`",
            "a rule file for this fabric, relative to the scenario's folder; one of rules and algorithm",
            "choice of this project";
        /// Algorithm that generates the rules; `None` if a file contains the rules.
        algorithm: Option<&'static str> = "algorithm" word["clos", "merge", "one-per-hop"], absent "as `rules`",
            "clos: the tag rises at every bounce (from down to up); merge: tags of one a hop, merged greedily \
             (Algorithm 2); one-per-hop: the tag rises at every hop (Algorithm 1)",
            "Tagger, 4.3 and section 5";
        /// Lossless paths for the algorithms merge and one-per-hop.
        paths: &'static str = "paths" word["shortest", "up-down", "trees"], default "shortest",
            "algorithms merge and one-per-hop: the lossless paths: all shortest ones (shortest), those up and then \
             down the tiers (up-down), or a tree of shortest paths to each switch (trees)",
            "choice of this project";
        /// Number of bounces for which a path stays lossless, 0 to 6.
        bounces: u8 = "bounces" count[0, 6], default "1",
            "bounces (from down to up) that stay lossless, 0 to 6: algorithm clos, or paths up-down",
            "Tagger, 4.3: shortest and one-bounce paths";
        /// Number of application classes that share the tags, 1 to 7.
        classes: u8 = "classes" count[1, 7], default "1",
            "application classes that share the tags, 1 to 7; class c starts with tag c",
            "Tagger, section 6";
        /// Whether the egress queue is selected by the rewritten tag, not by the arriving tag.
        by_new_tag: bool = "egress" word["new-tag" = true, "arriving-tag" = false], default "new-tag",
            "queue of a frame with a rewritten tag: new-tag, or arriving-tag, the default of switches: a pause of the \
             new class does not hold the frame, lossless frames are lost, and any cycle of links can deadlock, with \
             or without rules",
            "Tagger, section 7 and figure 8";
    }
}
