//! Scenario parameters of QoS maps. The crate `fabric` defines the format of the map file and the table.

use crate::parameters::parameters;

parameters! {
    /// Parameters of QoS maps.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct QosMapsParameters: Tags "qos-maps" {
        title: "account, queue and next class of a frame by tables, as switches have them";
        source: "SONiC's QoS maps; format of this project";
        /// File of the maps, relative to the scenario's folder.
        maps: String = "maps" file["\"maps.json\""], required,
            "a file of QoS maps for this fabric, relative to the scenario's folder; switch.flow_control.priorities \
             are its lossless classes",
            "choice of this project";
    }
}
