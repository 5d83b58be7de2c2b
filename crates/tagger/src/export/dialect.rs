//! Grammar of port names per target. A name that a grammar cannot express is rejected: a quote in an nftables file or a
//! line feed in an EOS file would become a command.

use super::error::ExportError;
use super::view::SwitchView;
use std::collections::BTreeMap;

/// Target whose port names are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Listings for readers: any name that a fabric accepts.
    Listing,
    /// SONiC: `Ethernet` and an identifier; a Linux network device.
    Sonic,
    /// Arista EOS: `Ethernet3/1`, or an abbreviation of it.
    Eos,
    /// Linux: a network device, at most 15 bytes (`IFNAMSIZ`), quoted in nftables and bare in `tc -batch`.
    Linux,
    /// NVUE of Cumulus Linux: like [`Linux`](Self::Linux), but `-` and `,` form ranges.
    Nvue,
}

/// Maximum length of a Linux network device in bytes: `IFNAMSIZ` without the terminating zero.
const LINUX_BYTES: usize = 15;

impl Dialect {
    /// Describes the grammar.
    pub fn grammar(self) -> &'static str {
        match self {
            Dialect::Listing => "visible characters, and no white space around them",
            Dialect::Sonic => "a port of SONiC is Ethernet and a number, as in Ethernet248, 15 bytes at most",
            Dialect::Eos => "a port of EOS is Ethernet and numbers from 1, as in Ethernet3 or Et3/1",
            Dialect::Linux => {
                "a network device of Linux has letters, digits and . _ -, begins with a letter, digit or _, and has 15 \
                 bytes at most"
            }
            Dialect::Nvue => "a port of Cumulus Linux has letters, digits, . and _, as in swp1s0, and 15 bytes at most",
        }
    }

    /// Returns the usual pattern of names by port number.
    pub fn usual_pattern(self) -> &'static str {
        match self {
            Dialect::Listing => "{port}",
            Dialect::Sonic => "Ethernet{port*4}",
            Dialect::Eos => "Ethernet{port+1}",
            Dialect::Linux | Dialect::Nvue => "swp{port+1}",
        }
    }

    /// Checks a port name.
    ///
    /// # Errors
    /// [`ExportError::InterfaceName`].
    pub fn check(self, name: &str) -> Result<(), ExportError> {
        let made_of = |more: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c));
        let begins = |more: &str| name.starts_with(|c: char| c.is_ascii_alphanumeric() || more.contains(c));
        let fine = match self {
            Dialect::Listing => fabric::check_name(name).is_ok(),
            Dialect::Sonic => {
                let rest = name.strip_prefix("Ethernet").unwrap_or_default();
                !rest.is_empty() && made_of("-_") && name.len() <= LINUX_BYTES
            }
            Dialect::Eos => eos_numbers(name).is_some(),
            Dialect::Linux => begins("_") && made_of("._-") && name.len() <= LINUX_BYTES,
            Dialect::Nvue => {
                name.starts_with(|c: char| c.is_ascii_alphabetic()) && made_of("._") && name.len() <= LINUX_BYTES
            }
        };
        if fine {
            return Ok(());
        }
        Err(ExportError::InterfaceName { name: fabric::visible(name), grammar: self.grammar() })
    }

    /// Checks that a switch, its neighbours and ports have names that are valid and distinct in this target.
    ///
    /// # Errors
    /// [`ExportError::SwitchName`], [`ExportError::InterfaceName`], [`ExportError::InterfaceTwice`].
    pub fn check_view(self, view: &SwitchView) -> Result<(), ExportError> {
        let names = view.ports().iter().map(|port| port.interface.as_str());
        view.ports().iter().try_for_each(|port| check_node(&port.peer))?;
        self.check_ports(view.name(), names)
    }

    /// Checks the names of a switch and its ports, given by number.
    ///
    /// # Errors
    /// Like [`check_view`](Self::check_view).
    pub fn check_ports<'a>(self, switch: &str, ports: impl Iterator<Item = &'a str>) -> Result<(), ExportError> {
        check_node(switch)?;
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        for (second, interface) in ports.enumerate() {
            self.check(interface)?;
            let means = if self == Dialect::Eos { eos_numbers(interface).unwrap_or(interface) } else { interface };
            if let Some(first) = known.insert(means, second) {
                let (switch, interface) = (switch.to_owned(), interface.to_owned());
                return Err(ExportError::InterfaceTwice { switch, interface, first, second });
            }
        }
        Ok(())
    }
}

/// Checks a node name: configurations contain node names in comments.
fn check_node(name: &str) -> Result<(), ExportError> {
    fabric::check_name(name).map_err(|fault| ExportError::SwitchName { name: fabric::visible(name), fault })
}

/// Returns "3/1" for "Ethernet3/1" or "et3/1".
fn eos_numbers(name: &str) -> Option<&str> {
    let digit = name.find(|c: char| c.is_ascii_digit())?;
    let (word, numbers) = name.split_at(digit);
    let digits = |part: &str| (1..=4).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    // EOS numbers slots, ports and lanes from 1.
    let is_number = |part: &str| digits(part) && part.bytes().any(|b| b != b'0');
    let known = !word.is_empty() && "ethernet".starts_with(&word.to_ascii_lowercase());
    (known && numbers.split('/').all(is_number) && numbers.split('/').count() <= 3).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_target_takes_its_own_names_and_no_others() {
        use Dialect::{Eos, Linux, Listing, Nvue, Sonic};
        let takers = |name: &str| {
            let all = [Listing, Sonic, Eos, Linux, Nvue];
            all.into_iter().filter(|dialect| dialect.check(name).is_ok()).collect::<Vec<_>>()
        };
        assert_eq!(takers("Ethernet248"), [Listing, Sonic, Eos, Linux, Nvue]);
        assert_eq!(takers("Ethernet0"), [Listing, Sonic, Linux, Nvue]);
        assert_eq!(takers("Ethernet3/1"), [Listing, Eos]);
        assert_eq!(takers("Ethernet3/0"), [Listing]);
        assert_eq!(takers("Et49/1/4"), [Listing, Eos]);
        assert_eq!(takers("swp1s0"), [Listing, Linux, Nvue]);
        assert_eq!(takers("swp1-32"), [Listing, Linux]);
        assert_eq!(takers("eth0.100"), [Listing, Linux, Nvue]);
        assert_eq!(takers("Ethernet-BP0"), [Listing, Sonic, Linux]);
        assert_eq!(takers("enp129s0f0np0xyz"), [Listing], "16 bytes");
        for acts in
            ["p\" . \"q", "p0*", "a b", "$x", "-x", "..", "p;reload", "Ethernet0|3-4", "Ethernet0,Ethernet4", "東"]
        {
            assert_eq!(takers(acts), [Listing], "{acts}");
        }
        for hidden in ["", "p\n", "p\u{1b}[2J", "p\u{202e}"] {
            assert_eq!(takers(hidden), [], "{hidden:?}");
        }
    }

    #[test]
    fn eos_identifies_a_port_by_its_numbers() {
        let check = |dialect: Dialect| dialect.check_ports("S1", ["Ethernet1", "Et1"].into_iter());
        assert!(matches!(check(Dialect::Eos), Err(ExportError::InterfaceTwice { first: 0, second: 1, .. })));
        assert_eq!(check(Dialect::Linux), Ok(()));
        let switch = Dialect::Linux.check_ports("S1\nflush ruleset\n#", ["p0"].into_iter()).unwrap_err().to_string();
        assert!(switch.contains("S1\\nflush ruleset"), "{switch}");
    }
}
