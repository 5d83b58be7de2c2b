//! What a switch calls its ports.

use super::ExportError;
use fabric::PortIndex;
use std::collections::BTreeMap;

/// Linux takes 15 bytes; switches take more.
const LONGEST: usize = 64;

/// Interface names by switch and port: a pattern for all, and exceptions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interfaces {
    pattern: String,
    before: String,
    after: String,
    factor: u32,
    offset: u32,
    named: BTreeMap<(String, PortIndex), String>,
}

impl Interfaces {
    /// A pattern with `{port}`, `{port+N}`, `{port*N}` or `{port*N+M}` in it: `Ethernet{port*4}`.
    ///
    /// # Errors
    /// [`ExportError::InterfacePattern`] without exactly one such place, [`ExportError::InterfaceName`] for
    /// other characters than an interface may have.
    pub fn pattern(pattern: &str) -> Result<Interfaces, ExportError> {
        let wrong = || ExportError::InterfacePattern { pattern: pattern.to_owned() };
        let (before, rest) = pattern.split_once('{').ok_or_else(wrong)?;
        let (formula, after) = rest.split_once('}').ok_or_else(wrong)?;
        let formula = formula.strip_prefix("port").ok_or_else(wrong)?;
        let number = |text: &str| text.parse::<u32>().ok().filter(|&number| number <= 10_000);
        let (factor, offset) = match formula.split_at_checked(1) {
            None => (1, 0),
            Some(("+", offset)) => (1, number(offset).ok_or_else(wrong)?),
            Some(("*", rest)) => match rest.split_once('+') {
                None => (number(rest).ok_or_else(wrong)?, 0),
                Some((factor, offset)) => (number(factor).ok_or_else(wrong)?, number(offset).ok_or_else(wrong)?),
            },
            Some(_) => return Err(wrong()),
        };
        let (before, after) = (before.to_owned(), after.to_owned());
        let names = Interfaces { pattern: pattern.to_owned(), before, after, factor, offset, named: BTreeMap::new() };
        check(&names.name("", 0))?;
        Ok(names)
    }

    /// Adds the exceptions of a file: a line `switch,port,interface` each; empty lines and `#` comments
    /// are skipped. `port_count` tells how many ports a switch of the fabric has.
    ///
    /// # Errors
    /// [`ExportError::InterfaceLine`] with the line, for a switch or port that does not exist, a port named
    /// twice, or a name that is none.
    pub fn add_file(&mut self, text: &str, port_count: impl Fn(&str) -> Option<usize>) -> Result<(), ExportError> {
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = |what: String| ExportError::InterfaceLine { line: index + 1, what };
            let fields: Vec<&str> = line.split(',').map(str::trim).collect();
            let [switch, port, interface] = fields[..] else {
                return Err(wrong(format!("`{line}` is not `switch,port,interface`")));
            };
            let ports = port_count(switch).ok_or_else(|| wrong(format!("the fabric has no switch `{switch}`")))?;
            let number = port.parse::<PortIndex>().ok().filter(|&port| usize::from(port) < ports);
            let number = number.ok_or_else(|| {
                wrong(format!("switch `{switch}` has no port `{port}`: its ports are 0 to {}", ports.saturating_sub(1)))
            })?;
            check(interface).map_err(|error| wrong(error.to_string()))?;
            if let Some(known) = self.named.insert((switch.to_owned(), number), interface.to_owned()) {
                return Err(wrong(format!("port {number} of `{switch}` is already called `{known}`")));
            }
        }
        Ok(())
    }

    /// The name of a port.
    pub fn name(&self, switch: &str, port: PortIndex) -> String {
        if let Some(name) = self.named.get(&(switch.to_owned(), port)) {
            return name.clone();
        }
        let number = u64::from(self.factor) * u64::from(port) + u64::from(self.offset);
        format!("{}{number}{}", self.before, self.after)
    }
}

fn check(name: &str) -> Result<(), ExportError> {
    let fine = |c: char| c.is_ascii_alphanumeric() || "._/:-".contains(c);
    if name.is_empty() || name.len() > LONGEST || !name.chars().all(fine) {
        return Err(ExportError::InterfaceName { name: name.to_owned(), most: LONGEST });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_number_ports_as_switches_do() {
        let name = |pattern: &str| Interfaces::pattern(pattern).unwrap().name("T1", 3);
        assert_eq!(name("Ethernet{port*4}"), "Ethernet12");
        assert_eq!(name("Ethernet{port+1}"), "Ethernet4");
        assert_eq!(name("Ethernet{port*2+1}/1"), "Ethernet7/1");
        assert_eq!(name("p{port}"), "p3");
        for wrong in ["Ethernet", "{}", "{port", "p{port-1}", "p{port*}", "p{port*99999999999}", "p{port}\"; drop"] {
            assert!(Interfaces::pattern(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_file_names_ports_and_its_mistakes_have_lines() {
        let ports = |switch: &str| (switch == "T1").then_some(2);
        let mut names = Interfaces::pattern("p{port}").unwrap();
        names.add_file("# names\n\nT1, 0, eth0\n", ports).unwrap();
        assert_eq!((names.name("T1", 0), names.name("T1", 1)), ("eth0".to_owned(), "p1".to_owned()));
        let refused =
            |text: &str| Interfaces::pattern("p{port}").unwrap().add_file(text, ports).unwrap_err().to_string();
        assert!(refused("T1,2,eth2").contains("line 1: switch `T1` has no port `2`: its ports are 0 to 1"));
        assert!(refused("\nT9,0,eth2").contains("line 2: the fabric has no switch `T9`"));
        assert!(refused("T1,0,a\nT1,0,b").contains("line 2: port 0 of `T1` is already called `a`"));
        assert!(refused("T1,0,a b").contains("`a b` cannot be an interface"));
        assert!(refused("T1,0").contains("switch,port,interface"));
    }
}
