//! Hash of a fabric, which identifies the fabric in a rule file.

use fabric::{End, Fabric};

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// Returns the hash by which a rule file identifies its fabric, in 16 hexadecimal digits: 64-bit FNV-1a over one line
/// per link, in order. A line is `a:port-b:port` with node names and port numbers from 0; ports with a name have
/// `=name` appended.
pub fn fabric_hash(fabric: &Fabric) -> String {
    let mut hash = OFFSET;
    let mut add = |text: &str| text.bytes().for_each(|byte| hash = (hash ^ u64::from(byte)).wrapping_mul(PRIME));
    let port = |end: End| match fabric.port_name(end.node, end.port) {
        Some(name) => format!("{}={name}", end.port),
        None => end.port.to_string(),
    };
    for link in fabric.links() {
        add(fabric.name(link.a.node));
        add(&format!(":{}-", port(link.a)));
        add(fabric.name(link.b.node));
        add(&format!(":{}\n", port(link.b)));
    }
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabric::generate::line;
    use fabric::{FabricBuilder, LinkSpec};
    use units::{Rate, Time};

    #[test]
    fn the_hash_is_that_of_the_text_of_the_links() {
        let spec = LinkSpec::new(Rate::from_gbps(10), Time::from_ns(1));
        let mut builder = FabricBuilder::new("test");
        let host = builder.add_host("H1");
        // A fabric without links has the offset basis of FNV-1a as hash.
        assert_eq!(fabric_hash(&builder.clone().build().unwrap()), "cbf29ce484222325");
        let switch = builder.add_switch("S1", 1);
        let link = builder.connect(host, switch, spec);
        // Hash of `printf 'H1:0-S1:0\n'` by an independent implementation of FNV-1a.
        assert_eq!(fabric_hash(&builder.clone().build().unwrap()), "5b777d127ffa3ff5");
        builder.name_ports(link, "", "Ethernet248");
        // Hash of `printf 'H1:0-S1:0=Ethernet248\n'` by the same implementation.
        assert_eq!(fabric_hash(&builder.build().unwrap()), "c36a2d6cb77b7547");
        let (two, three) = (line(2, 1, spec, spec).unwrap(), line(3, 1, spec, spec).unwrap());
        assert_ne!(fabric_hash(&two), fabric_hash(&three));
    }
}
