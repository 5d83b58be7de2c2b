//! Port names of switches: from the fabric's file, or from a pattern for ports that the file does not name.

use super::dialect::Dialect;
use super::error::ExportError;
use fabric::{Fabric, NodeId, PortIndex};
use std::collections::BTreeMap;

/// Source of the number in a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// Number of the port in the fabric: for ports without a name.
    Port,
    /// Trailing digits of the name in the fabric's file: for ports with names of another system.
    Digits,
}

/// Pattern such as `Ethernet{port*4}`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern {
    text: String,
    source: Source,
    before: String,
    after: String,
    factor: i64,
    divisor: i64,
    offset: i64,
}

/// Interface names by switch and port: from the fabric's file, a pattern, and exceptions from both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interfaces {
    dialect: Dialect,
    /// System whose names the fabric's file has, if its format says so.
    of_file: Option<Dialect>,
    pattern: Option<Pattern>,
    named: BTreeMap<(NodeId, PortIndex), String>,
}

impl Interfaces {
    /// Creates the names of the fabric's file, for this target.
    pub fn of_fabric(dialect: Dialect) -> Interfaces {
        Interfaces { dialect, of_file: None, pattern: None, named: BTreeMap::new() }
    }

    /// Sets the system whose names the fabric's file has. EOS refuses those of SONiC, which numbers lanes from 0, even
    /// where a number exists in EOS too.
    pub fn with_names_of(self, of_file: Option<Dialect>) -> Interfaces {
        Interfaces { of_file, ..self }
    }

    /// Adds a pattern with one placeholder, `{port}`, `{port+1}`, `{port*4}` or `{port*4-3}`, for the number of a port
    /// without a name. A placeholder with `{digits}` renames ports: the number is the trailing number of the name in
    /// the fabric's file, which `{digits/4+1}` divides without remainder.
    ///
    /// # Errors
    /// [`ExportError::InterfacePattern`] without exactly one placeholder.
    pub fn with_pattern(self, pattern: &str) -> Result<Interfaces, ExportError> {
        let wrong = || ExportError::InterfacePattern { pattern: fabric::visible(pattern) };
        let (before, rest) = pattern.split_once('{').ok_or_else(wrong)?;
        let (formula, after) = rest.split_once('}').ok_or_else(wrong)?;
        let words = [("port", Source::Port), ("digits", Source::Digits)];
        let found = words.into_iter().find_map(|(word, source)| Some((formula.strip_prefix(word)?, source)));
        let (formula, source) = found.ok_or_else(wrong)?;
        let at = formula.find(['+', '-']).unwrap_or(formula.len());
        let number = |text: &str| text.parse::<u16>().ok().filter(|&number| number <= 10_000).map(i64::from);
        let (factor, divisor) = match (formula[..at].split_at_checked(1), source) {
            (None, _) => (1, 1),
            (Some(("*", factor)), _) => (number(factor).ok_or_else(wrong)?, 1),
            (Some(("/", divisor)), Source::Digits) => (1, number(divisor).filter(|by| *by > 0).ok_or_else(wrong)?),
            _ => return Err(wrong()),
        };
        let offset = match formula.get(at..at + 1) {
            None => 0,
            Some(sign) => number(&formula[at + 1..]).ok_or_else(wrong)? * if sign == "-" { -1 } else { 1 },
        };
        if before.contains('}') || after.contains(['{', '}']) {
            return Err(wrong());
        }
        let (text, before, after) = (pattern.to_owned(), before.to_owned(), after.to_owned());
        Ok(Interfaces { pattern: Some(Pattern { text, source, before, after, factor, divisor, offset }), ..self })
    }

    /// Adds the exceptions of a file, with one `switch,port,interface` per line; empty lines and `#` comments are
    /// skipped. A port is given by its name in the fabric's file, or by its number if it has no name.
    ///
    /// # Errors
    /// [`ExportError::InterfaceLine`] with the line, for a switch or port that does not exist, a port named twice, or
    /// an invalid name.
    pub fn add_file(&mut self, text: &str, fabric: &Fabric) -> Result<(), ExportError> {
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = |what: String| ExportError::InterfaceLine { line: index + 1, what };
            let fields: Vec<&str> = line.split(',').map(str::trim).collect();
            let [switch, port, interface] = fields[..] else {
                return Err(wrong(format!("`{}` is not `switch,port,interface`", fabric::visible(line))));
            };
            let shown = fabric::visible(switch);
            let node = fabric.find(switch).ok_or_else(|| wrong(format!("the fabric has no switch `{shown}`")))?;
            let count = fabric.ports(node).len();
            let by_number = || {
                let number = port.parse::<PortIndex>().ok().filter(|&port| usize::from(port) < count);
                number.filter(|&port| fabric.port_name(node, port).is_none())
            };
            let number = fabric.port_named(node, port).or_else(by_number).ok_or_else(|| {
                let port = fabric::visible(port);
                let has = match fabric.port_name(node, 0) {
                    Some(_) => {
                        let names: Vec<&str> =
                            (0..count.min(8) as PortIndex).filter_map(|port| fabric.port_name(node, port)).collect();
                        format!("its ports are {}{}", names.join(", "), if count > 8 { " ..." } else { "" })
                    }
                    None => format!("its ports are 0 to {}", count.saturating_sub(1)),
                };
                wrong(format!("switch `{switch}` has no port `{port}`: {has}"))
            })?;
            self.dialect.check(interface).map_err(|error| wrong(error.to_string()))?;
            if let Some(known) = self.named.insert((node, number), interface.to_owned()) {
                return Err(wrong(format!("port {port} of `{switch}` is already called `{known}`")));
            }
        }
        Ok(())
    }

    /// Returns the port name in the target.
    ///
    /// # Errors
    /// [`ExportError::Unnamed`] if neither the fabric's file nor a pattern names the port, [`ExportError::NoDigits`] if
    /// a pattern of digits finds none, [`ExportError::OtherSystem`] with a name of another system,
    /// [`ExportError::Port`] with a name that is invalid in the target.
    pub fn name(&self, fabric: &Fabric, node: NodeId, port: PortIndex) -> Result<String, ExportError> {
        let name = match (self.named.get(&(node, port)), fabric.port_name(node, port), &self.pattern) {
            (Some(name), ..) => name.clone(),
            (_, Some(own), Some(pattern)) if pattern.source == Source::Digits => {
                let named = trailing_number(own).and_then(|number| pattern.with(number));
                let why = match trailing_number(own).filter(|number| i64::from(*number) % pattern.divisor != 0) {
                    Some(number) => format!(", for {number} / {} has a remainder", pattern.divisor),
                    None => String::new(),
                };
                named.ok_or_else(|| ExportError::NoDigits {
                    why,
                    switch: fabric.name(node).to_owned(),
                    port: own.to_owned(),
                    pattern: pattern.text.clone(),
                })?
            }
            (_, Some(own), _) if (self.of_file, self.dialect) == (Some(Dialect::Sonic), Dialect::Eos) => {
                return Err(ExportError::OtherSystem { switch: fabric.name(node).to_owned(), port: own.to_owned() });
            }
            (_, Some(own), _) => own.to_owned(),
            (_, None, Some(pattern)) if pattern.source == Source::Port => {
                pattern.with(port.into()).ok_or_else(|| self.unnamed(fabric, node, port))?
            }
            (_, None, _) if self.dialect == Dialect::Listing => port.to_string(),
            _ => return Err(self.unnamed(fabric, node, port)),
        };
        self.dialect.check(&name).map_err(|error| ExportError::Port {
            switch: fabric.name(node).to_owned(),
            port,
            peer: fabric.ports(node).get(usize::from(port)).map_or("", |port| fabric.name(port.peer)).to_owned(),
            why: Box::new(error),
        })?;
        Ok(name)
    }

    /// Returns the number by which a pattern divides the digits of names; `None` without a pattern of digits.
    pub fn divisor(&self) -> Option<u32> {
        let pattern = self.pattern.as_ref().filter(|pattern| pattern.source == Source::Digits)?;
        u32::try_from(pattern.divisor).ok().filter(|_| pattern.factor == 1)
    }

    fn unnamed(&self, fabric: &Fabric, node: NodeId, port: PortIndex) -> ExportError {
        ExportError::Unnamed { switch: fabric.name(node).to_owned(), port }
    }

    /// Returns whether a pattern has no effect, because it names ports by number and all ports of these switches have
    /// names.
    pub fn pattern_is_idle(&self, fabric: &Fabric, mut switches: impl Iterator<Item = NodeId>) -> bool {
        let named =
            |node| (0..fabric.ports(node).len() as PortIndex).all(|port| fabric.port_name(node, port).is_some());
        self.pattern.as_ref().is_some_and(|pattern| pattern.source == Source::Port) && switches.all(named)
    }
}

/// Returns the number at the end of a port name, which `{digits}` takes; `None` without one.
pub fn trailing_number(name: &str) -> Option<u32> {
    name[name.trim_end_matches(|c: char| c.is_ascii_digit()).len()..].parse().ok()
}

impl Pattern {
    fn with(&self, number: u32) -> Option<String> {
        let number = i64::from(number).checked_mul(self.factor)?;
        let number = (number % self.divisor == 0).then(|| number / self.divisor)?.checked_add(self.offset)?;
        (number >= 0).then(|| format!("{}{number}{}", self.before, self.after))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabric::{FabricBuilder, LinkSpec};
    use units::{Rate, Time};

    /// Builds a switch T1 with these ports, each to its own host; "" is no name.
    fn fabric(ports: &[&str]) -> Fabric {
        let mut builder = FabricBuilder::new("file");
        let switch = builder.add_switch("T1", 1);
        for (at, port) in ports.iter().enumerate() {
            let host = builder.add_host(format!("h{at}"));
            let link = builder.connect(switch, host, LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500)));
            builder.name_ports(link, port, "");
        }
        builder.build().unwrap()
    }

    fn named(dialect: Dialect, pattern: &str, ports: &[&str]) -> Result<Vec<String>, String> {
        let fabric = fabric(ports);
        let names = Interfaces::of_fabric(dialect);
        let names = if pattern.is_empty() { Ok(names) } else { names.with_pattern(pattern) };
        let names = names.map_err(|error| error.to_string())?;
        let all = (0..ports.len() as u16).map(|port| names.name(&fabric, NodeId(0), port));
        all.collect::<Result<_, _>>().map_err(|error| error.to_string())
    }

    #[test]
    fn ports_have_the_names_that_the_file_states() {
        let ports = ["Ethernet4", "Ethernet8", "Ethernet248"];
        for dialect in [Dialect::Sonic, Dialect::Eos, Dialect::Linux, Dialect::Listing] {
            assert_eq!(named(dialect, "", &ports).unwrap(), ports);
            assert_eq!(
                named(dialect, "Ethernet{port*4}", &ports).unwrap(),
                ports,
                "a pattern is for ports without a name"
            );
        }
    }

    #[test]
    fn a_port_without_a_name_needs_a_pattern() {
        let refused = named(Dialect::Sonic, "", &["Ethernet0", ""]).unwrap_err();
        assert!(refused.contains("port 1 of `T1` has no name"), "{refused}");
        assert_eq!(named(Dialect::Sonic, "Ethernet{port*4}", &["", ""]).unwrap(), ["Ethernet0", "Ethernet4"]);
        assert_eq!(
            named(Dialect::Sonic, "Ethernet{port*4}", &["Ethernet248", ""]).unwrap(),
            ["Ethernet248", "Ethernet4"]
        );
        assert_eq!(named(Dialect::Linux, "p{port+1}", &["", ""]).unwrap(), ["p1", "p2"]);
        assert_eq!(named(Dialect::Eos, "Ethernet{port*2+1}/1", &["", ""]).unwrap(), ["Ethernet1/1", "Ethernet3/1"]);
        assert_eq!(named(Dialect::Listing, "", &["", "x"]).unwrap(), ["0", "x"]);
    }

    #[test]
    fn names_of_another_system_are_renamed_by_their_digits() {
        assert_eq!(
            named(Dialect::Sonic, "Ethernet{digits*4-4}", &["eth1", "eth3"]).unwrap(),
            ["Ethernet0", "Ethernet8"]
        );
        let of_sonic = ["Ethernet0", "Ethernet12"];
        assert_eq!(named(Dialect::Eos, "Ethernet{digits/4+1}/1", &of_sonic).unwrap(), ["Ethernet1/1", "Ethernet4/1"]);
        let refused = named(Dialect::Eos, "Ethernet{digits/8+1}/1", &of_sonic).unwrap_err();
        assert!(refused.ends_with("Ethernet{digits/8+1}/1 could take, for 12 / 8 has a remainder"), "{refused}");
        assert_eq!(named(Dialect::Linux, "swp{digits}", &["7", "31"]).unwrap(), ["swp7", "swp31"]);
        let refused = named(Dialect::Sonic, "Ethernet{digits*4-4}", &["up"]).unwrap_err();
        assert!(refused.contains("port `up` of `T1`"), "{refused}");
        assert!(named(Dialect::Sonic, "Ethernet{digits*4-4}", &["eth0"]).is_err(), "no port -4");
        let refused = named(Dialect::Sonic, "", &["e1-1"]).unwrap_err();
        assert!(refused.contains("port 0 of `T1`, to h0: `e1-1`") && refused.contains("Ethernet248"), "{refused}");
    }

    #[test]
    fn eos_refuses_names_of_sonic() {
        let fabric = fabric(&["Ethernet0", "Ethernet4"]);
        let of_sonic = Interfaces::of_fabric(Dialect::Eos).with_names_of(Some(Dialect::Sonic));
        let refused = of_sonic.name(&fabric, NodeId(0), 1).unwrap_err().to_string();
        let said =
            "port `Ethernet4` of `T1` has the name of SONiC, which numbers lanes from 0: EOS numbers ports from 1";
        assert!(refused.starts_with(said), "{refused}");
        let renamed = of_sonic.with_pattern("Ethernet{digits/4+1}/1").unwrap();
        assert_eq!(renamed.name(&fabric, NodeId(0), 1).unwrap(), "Ethernet2/1");
        assert!(named(Dialect::Eos, "", &["Ethernet0"]).unwrap_err().contains("numbers from 1"));
        assert_eq!(named(Dialect::Eos, "", &["Ethernet4"]).unwrap(), ["Ethernet4"]);
    }

    #[test]
    fn patterns_that_are_none_are_refused() {
        for wrong in [
            "Ethernet",
            "{}",
            "{port",
            "p{port-}",
            "p{port*}",
            "p{port*99999999999}",
            "p{port}{port}",
            "p{port/2}",
            "p{digits/0}",
            "p{digits/}",
            "p{prt}",
            "p{port**2}",
            "p{port+1+1}",
            "p{port}}",
        ] {
            assert!(Interfaces::of_fabric(Dialect::Linux).with_pattern(wrong).is_err(), "{wrong}");
        }
        assert!(named(Dialect::Linux, "p{port}\"; drop", &[""]).unwrap_err().contains("network device of Linux"));
    }

    #[test]
    fn a_file_names_ports_and_its_mistakes_have_lines() {
        let (bare, full) = (fabric(&["", ""]), fabric(&["eth1", "eth2"]));
        let read = |fabric: &Fabric, text: &str| {
            let mut names = Interfaces::of_fabric(Dialect::Linux).with_pattern("p{port}").unwrap();
            names.add_file(text, fabric).map_err(|error| error.to_string())?;
            Ok::<_, String>([0, 1].map(|port| names.name(fabric, NodeId(0), port).unwrap()))
        };
        assert_eq!(read(&bare, "# names\n\nT1, 0, eth0\n").unwrap(), ["eth0", "p1"]);
        assert_eq!(read(&full, "T1,eth2,swp2\n").unwrap(), ["eth1", "swp2"]);
        let refused = |fabric: &Fabric, text: &str| read(fabric, text).unwrap_err();
        assert!(refused(&bare, "T1,2,eth2").contains("line 1: switch `T1` has no port `2`: its ports are 0 to 1"));
        assert!(refused(&full, "T1,0,eth9").contains("switch `T1` has no port `0`: its ports are eth1, eth2"));
        assert!(refused(&bare, "\nT9,0,eth2").contains("line 2: the fabric has no switch `T9`"));
        assert!(refused(&bare, "T1,0,a\nT1,0,b").contains("line 2: port 0 of `T1` is already called `a`"));
        assert!(refused(&bare, "T1,0,a b").contains("`a b` is no name"));
        assert!(refused(&bare, "T1,0").contains("switch,port,interface"));
    }
}
