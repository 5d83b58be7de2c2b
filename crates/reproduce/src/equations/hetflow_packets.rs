//! What the thesis shows of HetFlow with packets.

use crate::check::{Check, Relation};
use crate::trial::Trial;

/// Why nothing of it is judged.
const NO_FLUID: &str = "a figure of packets, which equations do not judge";

/// The claim, its unit, and the number that it is held to; of a comparison the difference, above 0.
const OF_PACKETS: [(&str, &str, Relation, f64); 18] = [
    ("figure 3.6: mean rates of 2, 5 and 10 flows, fluid off packets", "%", Relation::Below, 10.0),
    ("figure 3.9: Jain's index above that of QCN by", "1", Relation::Above, 0.0),
    ("figure 3.9: Jain's index above that of TIMELY by", "1", Relation::Above, 0.0),
    ("figure 3.9: share of the link that is used", "1", Relation::AtLeast, 0.9),
    ("figure 3.9: deviation of the queue below that of QCN by", "KB", Relation::Above, 0.0),
    ("figure 3.9: deviation of the queue below that of TIMELY by", "KB", Relation::Above, 0.0),
    ("figure 3.10: Jain's index above those of QCN and TIMELY by", "1", Relation::Above, 0.0),
    ("figure 3.10: mean queue of TIMELY", "KB", Relation::AtLeast, 62.5),
    ("figure 3.11: Jain's index above that of TIMELY by", "1", Relation::Above, 0.0),
    ("figure 3.11: Jain's index of TIMELY above that of QCN by", "1", Relation::Above, 0.0),
    ("figure 3.12: Jain's index above those of QCN and TIMELY by", "1", Relation::Above, 0.0),
    ("figure 3.13: Jain's index above that of QCN by", "1", Relation::Above, 0.0),
    ("figure 3.13: mean queue below those of TIMELY and QCN by", "KB", Relation::Above, 0.0),
    ("figure 3.15: rate of each of two hosts", "Gbps", Relation::AtMost, 5.0),
    ("figure 3.15: frames lost", "frames", Relation::Equal, 0.0),
    ("table 3.3: mean queue below that of TIMELY by", "KB", Relation::Above, 0.0),
    ("table 3.3: mean queue of TIMELY below that of QCN by", "KB", Relation::Above, 0.0),
    ("section 3.9, clocks that drift by 10 us/s: change of mean rates", "%", Relation::Below, 1.0),
];

/// Lists what is not judged.
pub fn list(trial: &mut Trial) {
    for (name, unit, relation, thesis) in OF_PACKETS {
        trial.check(Check::unmeasured(name, unit, relation, thesis, NO_FLUID));
    }
}
