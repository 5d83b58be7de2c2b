//! Rules as text for people, spreadsheets and programs.

use super::view::SwitchView;
use serde_json::{Value, json};
use std::fmt::Write;
use text::csv_cell;

/// The rules of a switch, one a line, the lossy default last, with the names of its interfaces.
pub fn table(view: &SwitchView, lossy_tag: crate::rules::Tag) -> String {
    let header = ["tag", "in", "out", "new tag"].map(str::to_owned);
    let mut rows = vec![header];
    for (tag, ingress, egress, new) in view.rules() {
        let port = |port: u16| format!("{} ({})", view.interface(port), view.ports()[usize::from(port)].peer);
        rows.push([tag.to_string(), port(ingress), port(egress), new.to_string()]);
    }
    rows.push(["any", "any", "any", &format!("{lossy_tag} (lossy)")].map(str::to_owned));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2)];
    let mut text = format!("{}: {} rules\n", view.name(), view.rule_count());
    for [tag, ingress, egress, new] in &rows {
        let [first, second, third] = widths;
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {tag:<first$}  {ingress:<second$}  {egress:<third$}  {new}");
    }
    text
}

/// The columns of [`csv`].
pub const CSV_HEADER: &str = "switch,tag,in_port,in_interface,out_port,out_interface,new_tag\n";

/// The rules of a switch, one a line, without the header.
pub fn csv(view: &SwitchView) -> String {
    let mut text = String::new();
    let name = csv_cell(view.name());
    let ports: Vec<String> = view.ports().iter().map(|port| csv_cell(&port.interface)).collect();
    for (tag, ingress, egress, new) in view.rules() {
        let (from, to) = (&ports[usize::from(ingress)], &ports[usize::from(egress)]);
        let _ = writeln!(text, "{name},{tag},{ingress},{from},{egress},{to},{new}");
    }
    text
}

/// The rules of a switch as one object, with the names of its interfaces.
pub fn json(view: &SwitchView) -> Value {
    let one = |(tag, ingress, egress, new_tag)| {
        let (from, to) = (view.interface(ingress), view.interface(egress));
        json!({
            "tag": tag, "in": ingress, "in_interface": from, "out": egress, "out_interface": to, "new_tag": new_tag,
        })
    };
    json!({ "switch": view.name(), "rules": view.rules().map(one).collect::<Vec<_>>() })
}
