//! Format-specific options.

use super::Format;
use crate::failure::Failure;
use std::path::PathBuf;
use tagger::export::sonic::{Settings, Watchdog};
use tagger::export::{QueueBinding, nftables};
use tagger::rules::Tag;

/// Default of the watchdog's detection time and restoration time, in milliseconds.
const USUAL_WATCHDOG_MS: u32 = 200;

/// Format-specific options.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Format-specific")]
pub struct TargetArgs {
    /// sonic: port at which the ASIC binds TC_TO_QUEUE_MAP [default: egress]
    #[arg(long, value_enum, value_name = "PORT")]
    queue_map: Option<Binding>,
    /// sonic: the priorities that the software watchdog monitors: all (the default), those of the first tags of
    /// classes, or none.
    #[arg(long, value_enum, value_name = "WHICH")]
    watchdog: Option<WatchdogPorts>,
    /// sonic: time that a queue is paused before the watchdog acts, 100 to 5000 [default: 200]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u32).range(100..=5000))]
    detection_ms: Option<u32>,
    /// sonic: time that a queue is free before the watchdog restores it, 100 to 60000 [default: 200]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u32).range(100..=60_000))]
    restoration_ms: Option<u32>,
    /// sonic: existing configuration of the switches: a config_db.json, or a folder with one per switch. Fragments
    /// replace overlapping entries, and the merged configuration is checked against the rules of SONiC's models.
    #[arg(long, value_name = "FILE|DIR")]
    pub platform: Option<PathBuf>,
    /// sonic: the platform's pg_profile_lookup.ini: headroom by speed and cable, used as a minimum.
    #[arg(long, value_name = "FILE")]
    pub pg_profile: Option<PathBuf>,
    /// sonic: ASIC of switches with the dynamic buffer model (Mellanox): asic_table.json, and peripheral_table.json if
    /// there are gearboxes. The computed headroom is a minimum. Files of --platform may have these tables themselves.
    #[arg(long, value_name = "FILE", requires = "platform")]
    pub asic_table: Vec<PathBuf>,
    /// sonic: write the computed headroom even if the platform publishes more.
    #[arg(long)]
    pub below_platform: bool,
    /// sonic: accept a shared headroom pool that is smaller than the headroom of all priority groups.
    #[arg(long, requires = "platform")]
    pub share_headroom: bool,
    /// nftables: for a bridge in place of a router.
    #[arg(long)]
    bridge: bool,
}

impl TargetArgs {
    /// Returns the table family for nftables.
    pub fn family(&self) -> nftables::Family {
        if self.bridge { nftables::Family::Bridge } else { nftables::Family::Inet }
    }

    /// Checks that each given option belongs to this format.
    ///
    /// # Errors
    /// If an option of another format is given, or `--below-platform` without a platform file.
    pub fn check(&self, format: Format) -> Result<(), Failure> {
        let of_sonic = [
            ("--queue-map", self.queue_map.is_some()),
            ("--watchdog", self.watchdog.is_some()),
            ("--detection-ms", self.detection_ms.is_some()),
            ("--restoration-ms", self.restoration_ms.is_some()),
            ("--platform", self.platform.is_some()),
            ("--pg-profile", self.pg_profile.is_some()),
            ("--asic-table", !self.asic_table.is_empty()),
            ("--below-platform", self.below_platform),
            ("--share-headroom", self.share_headroom),
        ]
        .map(|(option, given)| (option, given, Format::Sonic));
        let mut given = of_sonic.into_iter().chain([("--bridge", self.bridge, Format::Nftables)]);
        if let Some((option, _, of)) = given.find(|&(_, given, of)| given && of != format) {
            let message = format!("{option}: an export --to {} does not use it", format.name());
            return Err(Failure::input(message, format!("leave it out, or export --to {}", of.name())));
        }
        if self.below_platform && self.platform.is_none() && self.pg_profile.is_none() {
            let message = "--below-platform: no file states the headroom of the platform";
            return Err(Failure::input(message, "add --platform or --pg-profile, or leave it out"));
        }
        Ok(())
    }

    /// Returns the settings of a SONiC export. `xon_bytes` is the XON threshold: the occupancy of a priority group in
    /// bytes, field `xon` of a buffer profile.
    pub fn settings(&self, first_tags: Vec<Tag>, xon_bytes: u64) -> Settings {
        Settings {
            binding: match self.queue_map {
                None | Some(Binding::Egress) => QueueBinding::Egress,
                Some(Binding::Ingress) => QueueBinding::Ingress,
            },
            watchdog: match self.watchdog {
                None | Some(WatchdogPorts::All) => Watchdog::All,
                Some(WatchdogPorts::First) => Watchdog::First,
                Some(WatchdogPorts::Off) => Watchdog::Off,
            },
            first_tags,
            detection_ms: self.detection_ms.unwrap_or(USUAL_WATCHDOG_MS),
            restoration_ms: self.restoration_ms.unwrap_or(USUAL_WATCHDOG_MS),
            xon_bytes,
            dynamic_th: 0,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Binding {
    Egress,
    Ingress,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum WatchdogPorts {
    All,
    First,
    Off,
}
