//! Interface names of switches given on the command line. Names in the fabric's file have precedence over the pattern,
//! which applies only to ports without a name.

use crate::commands::tagger::read_text;
use crate::failure::Failure;
use fabric::{Fabric, NodeId, PortIndex};
use std::path::PathBuf;
use tagger::export::{Dialect, ExportError, Interfaces, trailing_number};
use text::numbers::counted_as;

/// Interface names of switches.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Ports")]
pub struct InterfaceArgs {
    /// Pattern for ports without a name in the fabric's file: {port}, {port+1}, {port*4} insert the port number;
    /// {digits*4-4} and {digits/4+1} rename ports of another system by the number at the end of their name in the
    /// file.
    #[arg(long, value_name = "PATTERN")]
    interface: Option<String>,
    /// File with lines `switch,port,interface` that override the fabric's file and the pattern.
    #[arg(long, value_name = "FILE")]
    interfaces: Option<PathBuf>,
}

/// Maximum number of ports that a message lists.
const SHOWN: usize = 8;

/// Converts an export error to a failure.
pub fn wrong(error: ExportError) -> Failure {
    Failure::Input { message: error.to_string(), help: None }
}

impl InterfaceArgs {
    /// Returns the interface names in this fabric, for the configurations of these switches. `of_file`: the system
    /// whose names the fabric's file has, if its format says so.
    ///
    /// # Errors
    /// The pattern or a line of the file is invalid; a port has no name, or a name that the grammar of the target does
    /// not permit; or a pattern is given although all ports have names.
    pub fn interfaces(
        &self,
        fabric: &Fabric,
        of_file: Option<Dialect>,
        dialect: Dialect,
        switches: &[NodeId],
    ) -> Result<Interfaces, Failure> {
        let mut names = Interfaces::of_fabric(dialect).with_names_of(of_file);
        if let Some(pattern) = &self.interface {
            let wrong = |error: ExportError| Failure::Input { message: format!("--interface: {error}"), help: None };
            names = names.with_pattern(pattern).map_err(wrong)?;
        }
        if let Some(path) = &self.interfaces {
            let wrong = |error| Failure::Input { message: format!("{}: {error}", path.display()), help: None };
            names.add_file(&read_text(path)?, fabric).map_err(wrong)?;
        }
        if names.pattern_is_idle(fabric, switches.iter().copied()) && !switches.is_empty() {
            let (node, first) = (switches[0], fabric.port_name(switches[0], 0).unwrap_or_default());
            let message = format!(
                "--interface: the fabric's file names all ports, as {first} of `{}`, and a number is no better",
                fabric.name(node)
            );
            let help = "leave it out; --interface with {digits} renames ports by the number in their names, \
                --interfaces FILE single ones";
            return Err(Failure::input(message, help));
        }
        for &node in switches {
            let ports = 0..fabric.ports(node).len() as PortIndex;
            let all = ports.map(|port| names.name(fabric, node, port)).collect::<Result<Vec<_>, _>>();
            let checked = all.and_then(|all| dialect.check_ports(fabric.name(node), all.iter().map(String::as_str)));
            checked.map_err(|error| help_out(error, fabric, dialect, switches))?;
        }
        Ok(names)
    }

    /// Returns a warning about a pattern for EOS that does not suit the spacing of the ports.
    pub fn warning(
        &self,
        fabric: &Fabric,
        names: &Interfaces,
        dialect: Dialect,
        switches: &[NodeId],
    ) -> Option<String> {
        let pattern = self.interface.as_ref().filter(|_| dialect == Dialect::Eos)?;
        skips_ports(pattern, names, fabric, switches)
    }

    /// Returns the note that the pattern numbers ports in the order of links, with the first switch as an example.
    pub fn note(&self, fabric: &Fabric, names: &Interfaces, switches: &[NodeId]) -> Option<String> {
        let pattern = self.interface.as_ref()?;
        let &node = switches.first()?;
        let shown = assignment(fabric, node, |port| names.name(fabric, node, port).ok());
        Some(format!(
            "ports are named by --interface {pattern}, in the order of the fabric's links: {}: {shown}; hold it \
             against the cables before loading",
            fabric.name(node)
        ))
    }
}

/// Returns a warning about a pattern that divides port numbers by less than the lanes between the ports of a switch: it
/// leaves out every second port, unless ports without a cable lie between.
fn skips_ports(pattern: &str, names: &Interfaces, fabric: &Fabric, switches: &[NodeId]) -> Option<String> {
    let divisor = names.divisor()?;
    let spaced = |node: NodeId| Some((node, lanes_between_ports(fabric, node)?)).filter(|(_, lanes)| *lanes > divisor);
    let skipping: Vec<(NodeId, u32)> =
        switches.iter().copied().filter(|&node| fabric.ports(node).len() > 1).filter_map(spaced).collect();
    let &(node, lanes) = skipping.first()?;
    let more = match skipping.len() - 1 {
        0 => String::new(),
        more => format!(" (and {} more)", counted_as(more as u64, "switch", "switches")),
    };
    let shown = assignment(fabric, node, |port| names.name(fabric, node, port).ok());
    Some(format!(
        "--interface {pattern}: the ports of {} are {lanes} lanes apart, and the pattern divides by {divisor}: {shown}\
         {more}; unless ports without a cable lie between them, the pattern is Ethernet{}/1",
        fabric.name(node),
        divided(lanes)
    ))
}

/// Returns the placeholder for ports this number of lanes apart.
fn divided(lanes: u32) -> String {
    match lanes {
        1 => "{digits+1}".to_owned(),
        lanes => format!("{{digits/{lanes}+1}}"),
    }
}

/// Returns the names of a node's ports with their peers: "Ethernet0 to H1, Ethernet4 to H2 ...".
fn assignment(fabric: &Fabric, node: NodeId, name: impl Fn(PortIndex) -> Option<String>) -> String {
    let ports = fabric.ports(node);
    let one = |(at, port): (usize, &fabric::PortPeer)| {
        Some(format!("{} to {}", name(at as PortIndex)?, fabric.name(port.peer)))
    };
    let shown: Vec<String> = ports.iter().take(SHOWN).enumerate().filter_map(one).collect();
    format!("{}{}", shown.join(", "), if ports.len() > SHOWN { " ..." } else { "" })
}

/// Lanes of the largest ports of SONiC's names.
const MOST_LANES: u32 = 8;

/// Returns the number of lanes by which the numbers in a switch's port names differ: the largest of 1, 2, 4 and 8 that
/// divides all of them. `None` without a number above 0.
fn lanes_between_ports(fabric: &Fabric, node: NodeId) -> Option<u32> {
    let names = (0..fabric.ports(node).len() as PortIndex).filter_map(|port| fabric.port_name(node, port));
    let numbers = names.filter_map(trailing_number).filter(|number| *number > 0);
    numbers.map(|number| (number & number.wrapping_neg()).min(MOST_LANES)).min()
}

/// Returns the help for names of SONiC, which number lanes: the pattern that divides by the lanes between the ports.
fn numbered_by_lanes(fabric: &Fabric, switches: &[NodeId]) -> String {
    let spaced = switches.iter().filter_map(|&node| Some((lanes_between_ports(fabric, node)?, node)));
    let spaced: Vec<(u32, NodeId)> = spaced.collect();
    let lanes = spaced.iter().map(|(lanes, _)| *lanes).min().unwrap_or(MOST_LANES);
    // Ports without a cable may lie between those of the fabric.
    let smaller = match lanes {
        1 => String::new(),
        _ => format!("; {} if ports without a cable lie between them", divided(lanes / 2)),
    };
    let other = spaced.iter().find(|(other, _)| *other != lanes).map(|&(other, node)| {
        let name = fabric.name(node);
        format!("; the ports of `{name}` are {other} lanes apart, so export it apart (--only) with {}", divided(other))
    });
    format!(
        "--interface 'Ethernet{}/1' names Ethernet0 Ethernet1/1 and Ethernet{lanes} Ethernet2/1, for ports {} \
         apart{smaller}{}; --interfaces FILE with lines of switch,port,interface names single ports",
        divided(lanes),
        counted_as(lanes.into(), "lane", "lanes"),
        other.unwrap_or_default()
    )
}

/// Adds to the error about unnamed ports the names that the default pattern of the dialect would assign.
fn help_out(error: ExportError, fabric: &Fabric, dialect: Dialect, switches: &[NodeId]) -> Failure {
    let pattern = dialect.usual_pattern();
    match &error {
        ExportError::Unnamed { switch, .. } => {
            let usual = Interfaces::of_fabric(dialect).with_pattern(pattern);
            let (Some(node), Ok(usual)) = (fabric.find(switch), usual) else { return wrong(error) };
            let shown = assignment(fabric, node, |port| usual.name(fabric, node, port).ok());
            let others = match switches.len() - 1 {
                0 => String::new(),
                others => {
                    format!("\n        and so on for {}", counted_as(others as u64, "more switch", "more switches"))
                }
            };
            let help = format!(
                "say how ports are called, by their numbers in the order of the links: --interface '{pattern}' \
                 makes\n        {switch}: {shown}{others}\n  or name them one by one: --interfaces FILE with lines of \
                 switch,port,interface"
            );
            Failure::input(error.to_string(), help)
        }
        ExportError::OtherSystem { .. } => Failure::input(error.to_string(), numbered_by_lanes(fabric, switches)),
        ExportError::NoDigits { why, .. } if !why.is_empty() && dialect == Dialect::Eos => {
            Failure::input(error.to_string(), numbered_by_lanes(fabric, switches))
        }
        ExportError::Port { .. } | ExportError::NoDigits { .. } => {
            let help = "the fabric's file is of another system: --interface with {digits}, as in Ethernet{digits*4-4}, \
                renames ports by the number that their names end with, --interfaces FILE with lines of \
                switch,port,interface one by one";
            Failure::input(error.to_string(), help)
        }
        _ => wrong(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabric::{FabricBuilder, LinkSpec};
    use units::{Rate, Time};

    /// Builds switches with ports of these numbers, each to its own host.
    fn switches(ports: &[&[u32]]) -> (Fabric, Vec<NodeId>) {
        let mut builder = FabricBuilder::new("file");
        let mut nodes = Vec::new();
        for (at, ports) in ports.iter().enumerate() {
            let switch = builder.add_switch(format!("T{at}"), 1);
            for port in *ports {
                let host = builder.add_host(format!("h{at}-{port}"));
                let link = builder.connect(switch, host, LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500)));
                builder.name_ports(link, &format!("Ethernet{port}"), "");
            }
            nodes.push(switch);
        }
        (builder.build().unwrap(), nodes)
    }

    #[test]
    fn the_divisor_is_the_spacing_of_the_ports() {
        for (ports, pattern) in [
            (&[0, 8, 16, 24][..], "--interface 'Ethernet{digits/8+1}/1' names Ethernet0 Ethernet1/1 and Ethernet8 "),
            (&[0, 16, 48], "--interface 'Ethernet{digits/8+1}/1'"),
            (&[0, 4, 8], "--interface 'Ethernet{digits/4+1}/1' names Ethernet0 Ethernet1/1 and Ethernet4 "),
            (&[2, 8], "--interface 'Ethernet{digits/2+1}/1'"),
            (&[0, 1, 2], "--interface 'Ethernet{digits+1}/1' names Ethernet0 Ethernet1/1 and Ethernet1 "),
        ] {
            let (fabric, nodes) = switches(&[ports]);
            let help = numbered_by_lanes(&fabric, &nodes);
            assert!(help.starts_with(pattern) && !help.contains("--only"), "{ports:?}: {help}");
        }
        let (fabric, nodes) = switches(&[&[0, 4], &[0, 8]]);
        let help = numbered_by_lanes(&fabric, &nodes);
        let said = "the ports of `T1` are 8 lanes apart, so export it apart (--only) with {digits/8+1}";
        assert!(help.starts_with("--interface 'Ethernet{digits/4+1}/1'") && help.contains(said), "{help}");
    }
}
