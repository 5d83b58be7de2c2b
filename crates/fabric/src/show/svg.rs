//! Drawing of a fabric as SVG.

use super::layout::Layout;
use crate::{Fabric, NodeKind};
use std::fmt::Write as _;

const STYLE: &str = "\
.fabric{background:#fff;font-family:system-ui,sans-serif;font-size:11px}\
.fabric line{stroke:#8a94a3;stroke-opacity:.6}\
.fabric rect{fill:#dbe7fb;stroke:#2f5fae}\
.fabric circle{fill:#e8f3e6;stroke:#3d7f34}\
.fabric text{fill:#1b1f26;text-anchor:middle}\
.fabric .rates{text-anchor:start;font-style:italic}\
@media(prefers-color-scheme:dark){\
.fabric{background:#14171c}\
.fabric line{stroke:#77818f}\
.fabric rect{fill:#1e3358;stroke:#7fa8ea}\
.fabric circle{fill:#1f3a1b;stroke:#86c57c}\
.fabric text{fill:#e6e9ee}}";

/// Escapes text for XML: markup is escaped, characters that XML 1.0 forbids are replaced.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Draws a fabric in rows by tier, or on a circle if all switches have one tier. Up to 400 nodes are drawn
/// individually. With more, the hosts of a switch become one shape; if there are still too many shapes, the nodes of
/// one tier of a pod, or of a whole tier, become one shape, and a note states it. Link rates are printed between the
/// rows. Colours follow the viewer's light or dark mode.
pub fn svg(fabric: &Fabric) -> String {
    let layout = Layout::new(fabric);
    let hosts = fabric.hosts().len();
    let title = format!("{}: {hosts} hosts, {} switches", fabric.kind(), fabric.nodes().len() - hosts);
    let (width, height) = (layout.width, layout.height + if layout.note.is_some() { 24 } else { 0 });
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"fabric\" role=\"img\" viewBox=\"0 0 {width} {height}\">\n\
         <title>{}</title>\n<style>{STYLE}</style>\n",
        escaped(&title)
    );
    // Writing to a String cannot fail.
    for line in layout.lines.iter().filter(|line| line.a != line.b) {
        let (a, b) = (&layout.shapes[line.a], &layout.shapes[line.b]);
        let bold = if line.links > 1 { " stroke-width=\"2.5\"" } else { "" };
        let links = if line.links > 1 { format!("{} links: ", line.links) } else { String::new() };
        let tip = escaped(&format!("{links}{} - {}", a.label, b.label));
        let (x1, y1, x2, y2) = (a.x, a.y, b.x, b.y);
        let _ =
            writeln!(out, "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"{bold}><title>{tip}</title></line>");
    }
    for (index, shape) in layout.shapes.iter().enumerate() {
        let (x, y, tip) = (shape.x, shape.y, escaped(&shape.label));
        let inside = layout.lines.iter().find(|line| line.a == index && line.b == index);
        let tip = inside.map_or(tip.clone(), |line| format!("{tip}, {} links among them", line.links));
        let label = escaped(&shape.short_label());
        let _ = match (shape.kind, shape.nodes) {
            (NodeKind::Host, 1) => writeln!(
                out,
                "<g><title>{tip}</title><circle cx=\"{x}\" cy=\"{y}\" r=\"8\"/><text x=\"{x}\" \
                 y=\"{}\">{label}</text></g>",
                y + 21
            ),
            (NodeKind::Host, _) => writeln!(
                out,
                "<g><title>{tip}</title><circle cx=\"{x}\" cy=\"{y}\" r=\"14\"/><text x=\"{x}\" \
                 y=\"{}\">{label}</text></g>",
                y + 27
            ),
            (NodeKind::Switch, _) => {
                let wide = shape.half_width() as i64;
                writeln!(
                    out,
                    "<g><title>{tip}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"24\" rx=\"4\"/>\
                     <text x=\"{x}\" y=\"{}\">{label}</text></g>",
                    x - wide,
                    y - 12,
                    2 * wide,
                    y + 4
                )
            }
        };
    }
    for (y, rates) in &layout.rates {
        let _ = writeln!(out, "<text class=\"rates\" x=\"12\" y=\"{y}\">{}</text>", escaped(rates));
    }
    if let Some(note) = &layout.note {
        let (x, y) = (width / 2, height - 8);
        let _ = writeln!(out, "<text x=\"{x}\" y=\"{y}\">{}</text>", escaped(note));
    }
    out.push_str("</svg>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::*;
    use crate::{FabricBuilder, LinkSpec};
    use units::{Rate, Time};

    const LINK: LinkSpec = LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500));
    const LINKS: TierLinks = TierLinks::uniform(LINK);

    fn count(text: &str, what: &str) -> usize {
        text.matches(what).count()
    }

    #[test]
    fn every_node_and_link_of_a_small_fabric_is_drawn() {
        for fabric in [
            single_switch(2, LINK).unwrap(),
            fat_tree(4, LINKS).unwrap(),
            ring(5, 3, LINK, LINK).unwrap(),
            jellyfish(20, 4, 2, 1, LINK, LINK).unwrap(),
            bcube(4, 1, LINK).unwrap(),
        ] {
            let text = svg(&fabric);
            assert_eq!(count(&text, "<circle "), fabric.hosts().len());
            assert_eq!(count(&text, "<rect "), fabric.switches().count());
            assert_eq!(count(&text, "<line "), fabric.links().len());
        }
    }

    #[test]
    fn shapes_stand_apart_and_inside() {
        for fabric in [clos(2, 2, 2, 2, 4, LINKS).unwrap(), ring(7, 4, LINK, LINK).unwrap(), bcube(4, 2, LINK).unwrap()]
        {
            let layout = Layout::new(&fabric);
            for (index, a) in layout.shapes.iter().enumerate() {
                assert!((0..=layout.width).contains(&a.x) && (0..=layout.height).contains(&a.y));
                for b in &layout.shapes[..index] {
                    assert!((a.x - b.x).abs() + (a.y - b.y).abs() >= 20, "{} on {}", a.label, b.label);
                }
            }
        }
    }

    #[test]
    fn rows_for_lines_and_circles_for_rings() {
        let heights = |fabric: &Fabric| {
            let layout = Layout::new(fabric);
            layout.shapes.iter().map(|shape| shape.y).collect::<std::collections::BTreeSet<_>>().len()
        };
        assert_eq!(heights(&dumbbell(3, 3, LINK, LINK).unwrap()), 2);
        assert_eq!(heights(&line(6, 2, LINK, LINK).unwrap()), 2);
        assert_eq!(heights(&fat_tree(4, LINKS).unwrap()), 4);
        assert!(heights(&ring(6, 2, LINK, LINK).unwrap()) > 5);
    }

    /// The labels of a row do not overlap.
    #[test]
    fn long_names_get_room() {
        let mut builder = FabricBuilder::new("named");
        let switch = builder.add_switch("a-rather-long-switch-name", 1);
        for number in 0..12 {
            let host = builder.add_host(format!("server-rack-{number:02}"));
            builder.connect(host, switch, LINK);
        }
        let layout = Layout::new(&builder.build().unwrap());
        let (switch, hosts) = layout.shapes.split_first().unwrap();
        assert_eq!(switch.short_label(), "a-rather-long…");
        for pair in hosts.windows(2) {
            assert!((pair[1].x - pair[0].x) as usize >= pair[0].half_width() + pair[1].half_width());
        }
    }

    #[test]
    fn large_fabrics_say_what_is_drawn_as_one() {
        let text = svg(&fat_tree(12, LINKS).unwrap());
        assert!(text.contains("the 432 hosts are drawn as one circle a switch"));
        assert_eq!((count(&text, "<circle "), count(&text, "<rect ")), (72, 180));
        let text = svg(&fat_tree(24, LINKS).unwrap());
        assert!(text.contains("each tier is drawn as one shape") && text.contains("3,456 hosts"));
        assert_eq!((count(&text, "<circle "), count(&text, "<rect "), count(&text, "<line ")), (1, 3, 3));
        // Each of the 16 pods has one shape for edge switches, one for aggregation switches and one for hosts; the core
        // switches are one shape.
        let text = svg(&fat_tree(16, LINKS).unwrap());
        assert!(text.contains("nodes of one tier of a pod are drawn as one shape"));
        assert_eq!((count(&text, "<circle "), count(&text, "<rect "), count(&text, "<line ")), (16, 33, 48));
        for label in ["S1 to S8", "S249 to S256", "C1 to C64", "H961 to H1024", ">1,024 x 100Gbps<"] {
            assert!(text.contains(label), "{label}: {text}");
        }
        let text = svg(&jellyfish(500, 4, 1, 1, LINK, LINK).unwrap());
        assert!(text.contains("500 edge, 1000 links among them"));
    }

    #[test]
    fn rates_stand_between_the_rows_whose_links_have_them() {
        let uplinks = LinkSpec::new(Rate::from_gbps(400), Time::from_ns(500));
        let fabric = leaf_spine(4, 2, 8, 1, TierLinks { edge: uplinks, ..LINKS }).unwrap();
        let layout = Layout::new(&fabric);
        let row = |tier: u8| layout.shapes.iter().find(|shape| shape.tier == tier).unwrap().y;
        let between = |low: u8| (row(low) + row(low + 1)) / 2;
        let expected = [(between(0), "32 x 100Gbps".to_owned()), (between(1), "8 x 400Gbps".to_owned())];
        assert_eq!(layout.rates, expected);
        let ring = Layout::new(&ring(6, 2, LINK, uplinks).unwrap());
        assert!(ring.rates.is_empty() && ring.note.unwrap().contains("links between switches: 6 x 400Gbps"));
    }

    #[test]
    fn names_are_escaped() {
        let mut builder = FabricBuilder::new("<kind>");
        let (host, switch) = (builder.add_host("</svg><script>&\"'"), builder.add_switch("s", 1));
        builder.connect(host, switch, LINK);
        let text = svg(&builder.build().unwrap());
        assert_eq!(count(&text, "</svg>"), 1);
        assert!(!text.contains("<script>") && !text.contains("<kind>"));
        assert!(text.contains("&lt;/svg&gt;&lt;script&gt;&amp;&quot;&#39;"));
        assert_eq!(escaped("\u{1}\n"), "\u{fffd} ");
    }
}
