//! Tests of files that `fabric check` cannot read, and of topology files in which two entries name one port.

use crate::common::{Scratch, run};
use crate::running::config::{leaf_spine, texts};
use serde_json::json;

#[test]
fn every_unreadable_file_is_an_error_of_its_own() {
    let scratch = Scratch::new("running-unreadable");
    let mut files = leaf_spine(4, 2, 1);
    files[3].1["CABLE_LENGTH"]["AZURE"]["Ethernet0"] = "40".into();
    std::fs::create_dir_all(scratch.path("dir")).unwrap();
    for (file, text) in texts(&files) {
        std::fs::write(scratch.0.join("dir").join(file), text).unwrap();
    }
    let write = |file: &str, content: &[u8]| std::fs::write(scratch.0.join("dir").join(file), content).unwrap();
    write("leaf-00.json", b"");
    write("leaf-01.json", b"{\n\"PORT\": \"\xff\"}");
    write("leaf-02.json", b"{\n");
    write("spine-0.json", b" \n\t");
    let dir = scratch.path("dir");
    let ran = run(&["fabric", "check", "--running", &dir]);
    assert!(ran.code == Some(2) && ran.out.is_empty(), "{}{}", ran.out, ran.err);
    let flat = ran.err.replace("\n  ", " ");
    for said in [
        "dir/leaf-00.json: (file): empty file (write: one JSON object",
        "dir/leaf-01.json: line 2, byte 11: not UTF-8 text",
        "dir/leaf-02.json: line 2, column 0: not valid JSON: ",
        "dir/leaf-03.json: CABLE_LENGTH|AZURE.Ethernet0: is \"40\"",
        "dir/spine-0.json: (file): empty file",
    ] {
        assert!(flat.contains(said), "{said}: {flat}");
    }
    assert!(!flat.contains("column 0: not valid JSON: EOF while parsing a value"), "{flat}");
    // The topology alone.
    let topology = |said: &str| {
        let ran = run(&["fabric", "show", &dir]);
        assert!(ran.code == Some(2) && ran.err.contains(said), "{said}: {}", ran.err);
    };
    topology("leaf-01.json:2: not UTF-8 text at byte 11");
    write("leaf-01.json", b"");
    topology("leaf-00.json: empty file");
    for name in ["empty.json", "empty.csv"] {
        let ran = run(&["fabric", "show", &scratch.file(name, "\n")]);
        assert!(ran.code == Some(2) && ran.err.contains(&format!("{name}: empty file")), "{}", ran.err);
    }
}

/// The advice for a file that cannot be read depends on the error.
#[cfg(unix)]
#[test]
fn the_advice_for_an_unreadable_file_depends_on_the_error() {
    let scratch = Scratch::new("running-advice");
    let dir = scratch.0.join("dir");
    std::fs::create_dir_all(dir.join("folder.json")).unwrap();
    // A sparse file, which occupies no blocks.
    std::fs::File::create(dir.join("long.json")).unwrap().set_len((1 << 29) + 1).unwrap();
    std::os::unix::fs::symlink("missing", dir.join("link.json")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", dir.join("zero.json")).unwrap();
    let source = crate::common::example("running/leaf-spine");
    let ran = run(&["fabric", "check", &source, "--running", &scratch.path("dir")]);
    let flat = ran.err.replace("\n  ", " ");
    assert_eq!(ran.code, Some(2), "{}{flat}", ran.out);
    for said in [
        "folder.json: (file): cannot read it: it is a folder, not a file (write: a file, or a folder whose name",
        "long.json: (file): cannot read it: it is longer than 536.870912MB (write: a folder with the config_db.json of",
        "link.json: (file): cannot read it: No such file or directory (os error 2) (write: an existing file: ",
        "zero.json: (file): cannot read it: it is a device, not a file (write: a regular file that can be read)",
    ] {
        assert!(flat.contains(said), "{said}: {flat}");
    }
    assert!(!flat.contains("this user"), "{flat}");
}

/// An edge in both directions confirms its ends: the other edge of one port is wrong, whichever is read first.
#[test]
fn two_edges_of_a_port_are_one_error_with_both_places() {
    let scratch = Scratch::new("batfish-twice");
    let end = |(host, port): (&str, &str)| json!({ "hostname": host, "interfaceName": port });
    let refused = |edges: &[[(&str, &str); 2]]| {
        let edges = edges.iter().map(|[a, b]| json!({ "node1": end(*a), "node2": end(*b) }));
        let file = json!({ "edges": edges.collect::<Vec<_>>() }).to_string();
        let ran = run(&["fabric", "show", &scratch.file("layer1_topology.json", &file)]);
        assert_eq!(ran.code, Some(2), "{}", ran.out);
        ran.err.replace("\n  ", " ")
    };
    let (leaf, spine, other) = (("leaf1", "Eth1"), ("spine1", "Eth1"), ("leaf2", "Eth1"));
    let first = refused(&[[other, spine], [leaf, spine], [spine, leaf]]);
    let said = "edges[0]: connects leaf2 Eth1 to spine1 Eth1, and edges[1] connects leaf1 Eth1 to spine1 Eth1: spine1 \
                Eth1 has two other ends; edges[2] confirms the second, and no entry the first";
    assert!(first.contains(said), "{first}");
    let last = refused(&[[leaf, spine], [spine, leaf], [other, spine]]);
    assert!(last.contains("edges[2]: connects leaf2 Eth1 to spine1 Eth1, and edges[0] "), "{last}");
    // Without a counterpart both are named.
    let open = refused(&[[leaf, spine], [other, spine]]);
    assert!(open.contains("edges[1]: connects leaf2 Eth1 to spine1 Eth1, and edges[0] connects leaf1 Eth1"), "{open}");
    assert!(!open.contains("confirms"), "{open}");
}

#[test]
fn two_lldp_rows_of_a_port_are_one_error_at_the_one_without_a_counterpart() {
    let scratch = Scratch::new("lldp-twice");
    let table = |name: &str, rows: &[(&str, &str, &str)]| {
        let mut text = format!(
            "{:13}{:30}{:16}{:14}RemotePortDescr\n{4:-<11}  {4:-<28}  {4:-<14}  {4:-<12}  {4:-<15}\n",
            "LocalPort", "RemoteDevice", "RemotePortID", "Capability", ""
        );
        for (port, peer, peer_port) in rows {
            text += &format!("{port:13}{peer:30}{peer_port:16}{:14}x\n", "BR");
        }
        std::fs::create_dir_all(scratch.path("tables")).unwrap();
        std::fs::write(scratch.0.join("tables").join(format!("{name}.txt")), text).unwrap();
    };
    table("spine1", &[("Ethernet0", "zleaf", "Ethernet0")]);
    table("aleaf", &[("Ethernet0", "spine1", "Ethernet0")]);
    table("zleaf", &[("Ethernet0", "spine1", "Ethernet0")]);
    let ran = run(&["fabric", "show", &scratch.path("tables")]);
    let said = "aleaf.txt: line 3: connects aleaf Ethernet0 to spine1 Ethernet0, and ";
    let flat = ran.err.replace("\n  ", " ");
    assert!(ran.code == Some(2) && flat.contains(said), "{}{flat}", ran.out);
    assert!(flat.contains("spine1 Ethernet0 has two other ends; ") && flat.contains(" confirms the second"), "{flat}");
}
