//! Drawing of the gates of all ports over a gating cycle.

use crate::gates::GateList;
use crate::problem::Problem;
use std::fmt::Write as _;
use units::Time;

const STYLE: &str = "\
.gates{background:#fff;font-family:system-ui,sans-serif;font-size:11px}\
.gates text{fill:#1b1f26}\
.gates .others{fill:#dbe7fb}\
.gates .own{fill:#c2410c}\
.gates .shut{fill:#8a94a3}\
@media(prefers-color-scheme:dark){\
.gates{background:#14171c}\
.gates text{fill:#e6e9ee}\
.gates .others{fill:#1e3358}\
.gates .own{fill:#fb923c}\
.gates .shut{fill:#77818f}}";

const LEFT: u64 = 150;
const WIDTH: u64 = 1000;
const ROW: u64 = 18;
/// Maximum number of states per port that are drawn; more would be invisible.
const MOST_STATES: usize = 4000;

/// Escapes text for XML. Node names contain no control characters.
fn escaped(text: &str) -> String {
    let entity = |c: char| match c {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '"' => "&quot;".to_owned(),
        c => c.to_string(),
    };
    text.chars().map(entity).collect()
}

/// Draws one row per port from time zero to the longest cycle: open gate of the streams' class, open gates of the other
/// classes, all gates closed. A row with more than 4000 states shows only their number.
pub fn svg(problem: &Problem, lists: &[GateList], class: u8) -> String {
    let longest = lists.iter().map(|list| list.cycle).max().unwrap_or(Time::from_ns(1));
    let (width, height) = (LEFT + WIDTH + 20, (lists.len() as u64 + 3) * ROW);
    let title = format!("gates of {} ports over {longest}", lists.len());
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"gates\" role=\"img\" viewBox=\"0 0 {width} {height}\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n\
         <text x=\"{LEFT}\" y=\"12\">0</text><text x=\"{}\" y=\"12\" text-anchor=\"end\">{longest}</text>\n",
        LEFT + WIDTH
    );
    // Coordinates have a resolution of a thousandth of a unit.
    let position = |time: Time| time.scale(WIDTH * 1000, longest.as_ps()).as_ps();
    for (row, list) in lists.iter().enumerate() {
        let y = (row as u64 + 1) * ROW;
        let link = &problem.links[list.link];
        let name = escaped(&format!("{} port {}", link.node, link.port));
        // Writing to a String cannot fail.
        let _ = writeln!(out, "<text x=\"4\" y=\"{}\">{name}</text>", y + 12);
        let repeats = (longest / list.cycle).max(1);
        if list.entries.len() as u64 * repeats > MOST_STATES as u64 {
            let _ = writeln!(out, "<text x=\"{LEFT}\" y=\"{}\">{} states</text>", y + 12, list.entries.len());
            continue;
        }
        for i in 0..repeats {
            let mut at = list.cycle * i;
            for entry in &list.entries {
                let (from, to) = (position(at), position((at + entry.interval).min(longest)));
                let kind = match entry.gates {
                    0 => "shut",
                    gates if gates >> class & 1 == 1 => "own",
                    _ => "others",
                };
                let (x, w) = (LEFT * 1000 + from, to.saturating_sub(from));
                let _ = writeln!(
                    out,
                    "<rect class=\"{kind}\" x=\"{}.{:03}\" y=\"{y}\" width=\"{}.{:03}\" height=\"{}\"><title>{name}: \
                     {} for {}</title></rect>",
                    x / 1000,
                    x % 1000,
                    w / 1000,
                    w % 1000,
                    ROW - 4,
                    at,
                    entry.interval
                );
                at += entry.interval;
            }
        }
    }
    let y = (lists.len() as u64 + 2) * ROW;
    let legend = [("own", format!("class {class}")), ("others", "all others".into()), ("shut", "none".into())];
    for (at, (kind, what)) in legend.into_iter().enumerate() {
        let x = LEFT + 140 * at as u64;
        let _ = writeln!(out, "<rect class=\"{kind}\" x=\"{x}\" y=\"{y}\" width=\"14\" height=\"14\"/>");
        let _ = writeln!(out, "<text x=\"{}\" y=\"{}\">{what} open</text>", x + 20, y + 12);
    }
    out + "</svg>\n"
}
