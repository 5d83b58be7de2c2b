//! Terms of the headroom of a kind of port, each with its source and the value of SONiC's formula.

use super::HeadroomArgs;
use super::sonic::Sonic;
use crate::output::{Style, styled};
use protocols::headroom::Headroom;
use protocols::reaction::{Reaction, standard_quanta};
use serde_json::{Value, json};
use text::numbers::grouped;
use units::{Rate, Time, WIRE_OVERHEAD_BYTES};

/// One term of the headroom.
struct Term {
    key: &'static str,
    name: &'static str,
    bytes: i128,
    source: String,
    /// Value of the term in SONiC's formula, in bytes, and the reason of the difference.
    sonic: i128,
    differs: String,
}

/// Terms of the headroom of one kind of port.
pub struct Terms {
    rate: Rate,
    delay: Time,
    ours: Headroom,
    sonic: Sonic,
    terms: Vec<Term>,
}

/// Returns the source of the reaction time for the link rate.
fn reaction_source(reaction: Reaction, rate: Rate) -> String {
    let standard = "IEEE 802.3, 31B.3.7";
    match (reaction, standard_quanta(rate)) {
        (Reaction::Stated(time), _) => format!("{time}, as stated"),
        (Reaction::Standard, Some(quanta)) => format!("{quanta} quanta of 512 bits: {standard}"),
        (Reaction::Standard, None) => {
            format!("{}: {standard}, of the rates above and below, for it lists not this one", reaction.on(rate))
        }
    }
}

impl Terms {
    /// Computes the headroom terms of a port with `classes` lossless classes on a link of `rate` and `delay`.
    pub fn of(rate: Rate, delay: Time, classes: u8, args: &HeadroomArgs) -> Terms {
        let conditions = args.conditions(classes.into());
        let (mtu, cells) = (conditions.mtu_bytes, conditions.cells);
        let ours = Headroom::of(rate, delay, &conditions);
        let sonic = Sonic::of(rate, delay, mtu, &cells, conditions.gearbox.on(rate), &ours);
        let none = |time: units::LinkTime, flag: &str| {
            if time.is_zero() { format!("none stated: {flag}") } else { format!("{time}: {flag}") }
        };
        let cell_source = match cells.bytes {
            1 => "none stated: --cell, --small-packets".to_owned(),
            bytes => format!("cells of {bytes} B, {} % of the time in the worst frames", cells.small_percent),
        };
        let doubled = match rate == Rate::from_gbps(400) {
            true => format!("the script for Barefoot doubles it at 400 Gbps: {} more", grouped(sonic.reaction)),
            false if conditions.reaction == Reaction::Standard => "the same table".to_owned(),
            false => "the same".to_owned(),
        };
        let term = |key, name, bytes: u64, source: String, sonic: u64, differs: &str| Term {
            key,
            name,
            bytes: bytes.into(),
            source,
            sonic: sonic.into(),
            differs: differs.to_owned(),
        };
        let mut terms = vec![
            term(
                "cable",
                "cable, there and back",
                ours.cable,
                format!("2 x {delay} at {rate}"),
                sonic.cable,
                &format!(
                    "198,000,000 m/s for 5 ns a metre; 1024 for 1000 (Barefoot, Mellanox to 202311); Mellanox since \
                     202405: {}",
                    grouped(sonic.cable_since_202405)
                ),
            ),
            term(
                "pause_frames",
                "pause frames",
                ours.pause_frames,
                format!("64 B and {WIRE_OVERHEAD_BYTES} on the wire for each lossless class"),
                0,
                "not counted",
            ),
            term(
                "reaction",
                "reaction of the neighbour",
                ours.reaction,
                reaction_source(conditions.reaction, rate),
                sonic.reaction,
                &doubled,
            ),
            term(
                "mac_phy",
                "MAC and PHY here",
                ours.mac_phy,
                none(args.mac_phy, "--mac-phy"),
                sonic.mac_phy,
                "the same",
            ),
            term(
                "gearbox",
                "gearbox here, both ways",
                ours.gearbox,
                none(args.gearbox, "--gearbox"),
                sonic.gearbox,
                if sonic.gearbox == ours.gearbox { "the same" } else { "1024 for 1000, in all releases" },
            ),
            term(
                "blocking_frame",
                "frame that holds the pause back",
                ours.blocking_frame,
                format!("the largest, {mtu} B, with its {WIRE_OVERHEAD_BYTES} on the wire"),
                sonic.blocking_frame,
                "without preamble and gap",
            ),
            term(
                "overhead",
                "less preambles and gaps",
                0,
                format!("a buffer holds {mtu} of each {} B above", mtu + WIRE_OVERHEAD_BYTES),
                0,
                "not taken away",
            ),
            term(
                "mtu_frames",
                "whole frames",
                ours.mtu_frames,
                "the one above XOFF, and the last that the neighbour starts".to_owned(),
                sonic.mtu_frames,
                "one: the frame above XOFF is not counted",
            ),
            term(
                "cell_waste",
                "unused bytes of cells",
                ours.cell_waste,
                cell_source,
                sonic.cell_waste,
                "by 64 B, or a byte more than a cell, without preamble and gap; not of the one frame",
            ),
            term("rounding", "rounding", 0, "none".to_owned(), sonic.rounding, "up to 1024 B"),
        ];
        terms[6].bytes = -i128::from(ours.overhead);
        Terms { rate, delay, ours, sonic, terms }
    }

    /// Returns the terms as part of a JSON object; with the values of SONiC's formula if `with_sonic`.
    pub fn json(&self, with_sonic: bool) -> Value {
        let of = |bytes: fn(&Term) -> i128, sum: u64| {
            let terms = self.terms.iter().map(|term| (term.key.to_owned(), (bytes(term) as i64).into()));
            Value::Object(terms.chain([("sum".to_owned(), sum.into())]).collect())
        };
        let ours = of(|term| term.bytes, self.ours.bytes);
        let sonic = with_sonic.then(|| of(|term| term.sonic, self.sonic.xoff));
        json!({ "headroom_terms": ours, "sonic_terms": sonic })
    }

    /// Returns the headroom by SONiC's formula, in bytes.
    pub fn sonic_bytes(&self) -> u64 {
        self.sonic.xoff
    }

    /// Returns the terms as lines without colours, with the values of SONiC's formula.
    pub fn plain_text(&self) -> String {
        self.lines(true, |line| line.to_owned())
    }

    /// Returns the terms as lines, with the values of SONiC's formula if `with_sonic`.
    pub fn text(&self, with_sonic: bool) -> String {
        self.lines(with_sonic, |line| styled(line, Style::Faint))
    }

    fn lines(&self, with_sonic: bool, heading: impl Fn(&str) -> String) -> String {
        let grouped = |bytes: i128| {
            let digits = grouped(bytes.unsigned_abs() as u64);
            if bytes < 0 { format!("-{digits}") } else { digits }
        };
        let name = format!("headroom at {} and {}, bytes", self.rate, self.delay);
        let line = |name: &str, ours: String, source: &str, sonic: String, differs: &str| {
            let source = if with_sonic { format!("{sonic:>11}  {differs}") } else { source.to_owned() };
            format!("  {name:<41} {ours:>11}  {source}").trim_end().to_owned() + "\n"
        };
        let mut text = heading(&line(&name, "here".into(), "source", "SONiC".into(), "difference of SONiC's formula"));
        for term in &self.terms {
            if !with_sonic && term.key == "rounding" {
                continue;
            }
            let differs = if with_sonic && term.bytes == 0 && term.sonic == 0 { "" } else { &term.differs };
            text += &line(term.name, grouped(term.bytes), &term.source, grouped(term.sonic), differs);
        }
        let (ours, sonic) = (self.ours.bytes, self.sonic.xoff);
        let difference = match sonic >= ours {
            true => format!("{} more than here", grouped(i128::from(sonic - ours))),
            false => format!("{} less than here", grouped(i128::from(ours - sonic))),
        };
        text += &line("sum", grouped(ours.into()), "", grouped(sonic.into()), &difference);
        text
    }
}
