//! Scenario parameters of QoS maps. The crate `fabric` defines the format of the map file and the table.

use crate::describe::Default::Required;
use crate::describe::{Family, Mechanism, Parameter, Syntax};

/// Description of the mechanism and its parameters.
pub const MECHANISM: Mechanism = Mechanism {
    kind: "qos-maps",
    family: Family::Tags,
    title: "account, queue and next class of a frame by tables, as switches have them",
    source: "SONiC's QoS maps; format of this project",
    parameters: &[Parameter {
        key: "maps",
        syntax: Syntax::other("a file", "\"maps.json\""),
        default: Required,
        meaning: "a file of QoS maps for this fabric, relative to the scenario's folder; \
                  switch.flow_control.priorities are its lossless classes",
        source: "choice of this project",
    }],
};
