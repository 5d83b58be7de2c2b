//! Rules as text for readers, spreadsheets and programs. A large fabric has tens of millions of rules, so the text of
//! ports and tags is formatted once per switch and copied per rule.

use super::view::SwitchView;
use crate::rules::Tag;
use fabric::PortIndex;
use serde_json::Value;
use text::csv_cell;

/// Appends one line per rule, composed of `head` (by tag and ingress port), `tail` (by egress port) and `end` (by new
/// tag).
fn lines(
    text: &mut String,
    view: &SwitchView,
    head: impl Fn(Tag, PortIndex) -> String,
    tail: impl Fn(PortIndex) -> String,
    end: impl Fn(Tag) -> String,
) {
    let tails: Vec<String> = view.port_numbers().map(tail).collect();
    let last = view.rules().map(|(.., new)| new).max().unwrap_or(0);
    let ends: Vec<String> = (0..=last).map(end).collect();
    let (mut known, mut from) = (None, String::new());
    for (tag, ingress, egress, new) in view.rules() {
        if known.replace((tag, ingress)) != Some((tag, ingress)) {
            from = head(tag, ingress);
        }
        text.push_str(&from);
        text.push_str(&tails[usize::from(egress)]);
        text.push_str(&ends[usize::from(new)]);
    }
}

/// Appends the rules of a switch with interface names, one per line, the lossy default last.
pub fn table(text: &mut String, view: &SwitchView, lossy_tag: Tag) {
    let ports: Vec<String> = view.ports().iter().map(|port| format!("{} ({})", port.interface, port.peer)).collect();
    let (mut arrive, mut leave) = (vec![false; ports.len()], vec![false; ports.len()]);
    for (_, ingress, egress, _) in view.rules() {
        arrive[usize::from(ingress)] = true;
        leave[usize::from(egress)] = true;
    }
    let width = |used: &[bool]| {
        let used = ports.iter().zip(used).filter(|&(_, &used)| used);
        used.map(|(port, _)| port.chars().count()).max().unwrap_or(0).max("any".len())
    };
    let (second, third) = (width(&arrive), width(&leave));
    text.push_str(&format!("{}: {} rules\n", view.name(), view.rule_count()));
    // Three characters are sufficient for a tag (at most 62) and for `any`, the tag of the default rule.
    let start = |tag: &str, ingress: &str| format!("  {tag:<3}  {ingress:<second$}  ");
    text.push_str(&format!("{}{:<third$}  new tag\n", start("tag", "in"), "out"));
    lines(
        text,
        view,
        |tag, ingress| start(&tag.to_string(), &ports[usize::from(ingress)]),
        |egress| format!("{:<third$}  ", ports[usize::from(egress)]),
        |new| format!("{new}\n"),
    );
    text.push_str(&format!("{}{:<third$}  {lossy_tag} (lossy)\n", start("any", "any"), "any"));
}

/// Columns of [`csv`].
pub const CSV_HEADER: &str = "switch,tag,in_port,in_interface,out_port,out_interface,new_tag\n";

/// Appends the rules of a switch, one per line, without the header.
pub fn csv(text: &mut String, view: &SwitchView) {
    let name = csv_cell(view.name());
    let port = |port: PortIndex| format!("{port},{}", csv_cell(view.interface(port)));
    lines(
        text,
        view,
        |tag, ingress| format!("{name},{tag},{},", port(ingress)),
        |egress| format!("{},", port(egress)),
        |new| format!("{new}\n"),
    );
}

/// Appends the rules of a switch as one JSON object. A rule is one line and refers to ports by number; names are only
/// in `ports`, because they would be three quarters of the text.
pub fn json(text: &mut String, view: &SwitchView) {
    let quoted = |name: &str| Value::from(name).to_string();
    // One element per line, without a comma after the last.
    let end_list = |text: &mut String, end: &str| {
        text.truncate(text.trim_end_matches([',', '\n']).len());
        text.push_str(end);
    };
    text.push_str(&format!("{{\n  \"switch\": {},\n  \"ports\": [\n", quoted(view.name())));
    for (number, port) in view.ports().iter().enumerate() {
        text.push_str(&format!(
            "    {{\"port\":{number},\"interface\":{},\"peer\":{},\"peer_port\":{}}},\n",
            quoted(&port.interface),
            quoted(&port.peer),
            port.peer_port
        ));
    }
    end_list(text, "\n  ],\n  \"rules\": [\n");
    lines(
        text,
        view,
        |tag, ingress| format!("    {{\"tag\":{tag},\"in\":{ingress},\"out\":"),
        |egress| format!("{egress},"),
        |new| format!("\"new_tag\":{new}}},\n"),
    );
    end_list(text, "\n  ]\n}\n");
}
