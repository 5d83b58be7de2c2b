//! Small input files of the scenarios: a folder in which they are written once.

use std::path::Path;
use std::sync::LazyLock;

/// Folder with the files.
pub static FOLDER: LazyLock<&str> = LazyLock::new(|| {
    const FOLDER: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/keys-files");
    std::fs::create_dir_all(FOLDER).expect("a folder for files");
    for (name, text) in FILES {
        std::fs::write(Path::new(FOLDER).join(name), text).expect(name);
    }
    FOLDER
});

/// Name and text of each file.
const FILES: &[(&str, &str)] = &[
    (
        "either.txt",
        "1
0 3 3 5 1 2
",
    ),
    (
        "flows.txt",
        "3
0 3 3 100 20000 0.0001
1 3 3 100 20000 0.0001
4 2 3 100 5000 0.0002
",
    ),
    (
        "maps.json",
        r#"{"format": "tidegate qos-maps 1", "lossless": [1, 2], "nodes": [
{"name": "A", "frames": [{"ingress": 0, "egress": 1, "class": 1, "account": 1, "queue": 1, "leaves": 1}]},
{"name": "B", "frames": [{"ingress": 0, "egress": 3, "class": 1, "account": 1, "queue": 1, "leaves": 1}]}]}
"#,
    ),
    (
        "matrix.cm",
        "Nodes 6
Connections 2
0->3 id 1 start 100 size 20000
4->2 id 2 start 200 size 10000
",
    ),
    (
        "mesh.txt",
        "10 4 10
6 7 8 9
0 6 1Gbps 1000ns 0
1 6 1Gbps 1000ns 0
2 6 1Gbps 1000ns 0
2 7 1Gbps 1000ns 0
3 7 1Gbps 1000ns 0
4 7 1Gbps 1000ns 0
5 7 1Gbps 1000ns 0
6 8 1Gbps 1000ns 0
8 9 1Gbps 1000ns 0
7 9 1Gbps 1000ns 0
",
    ),
    (
        "no-hosts.csv",
        "StartDevice,StartPort,EndDevice,EndPort,BandWidth
tor-1,Ethernet0,leaf-1,Ethernet0,1000
tor-2,Ethernet0,leaf-1,Ethernet4,1000
tor-1,Ethernet4,tor-2,Ethernet4,1000
",
    ),
    (
        "ns3-rdma.txt",
        "2
0 3 3 20 0 1
4 2 3 10 0 1
",
    ),
    (
        "one-flow.txt",
        "1
0 3 3 100 20000 0.0001
",
    ),
    (
        "other-maps.json",
        r#"{"format": "tidegate qos-maps 1", "lossless": [1, 2], "nodes": [
{"name": "A", "frames": [{"ingress": 0, "egress": 1, "class": 1, "account": 1, "queue": 2, "leaves": 2}]},
{"name": "B", "frames": [{"ingress": 0, "egress": 3, "class": 1, "account": 1, "queue": 1, "leaves": 1}]}]}
"#,
    ),
    (
        "other-rules.json",
        r#"{"format": "tidegate-tagger-rules", "version": 1,
"fabric": {"kind": "file", "switches": 2, "hosts": 4, "links": 5,
"hash": "377a5bc8444a7bc5"},
"generated_by": {"algorithm": "merge", "paths": "all shortest paths"},
"lossless_tags": [1], "lossy_tag": 0, "classes": [{"name": "default", "first_tag": 1}],
"switches": [{"name": "A", "rules": [{"tag": 1, "in": [0], "out": [1], "new_tag": 1}]}]}"#,
    ),
    (
        "other-slots.json",
        r#"{"format": "tidegate-schedule-1", "wire": "ethernet", "class": 7, "without_slots": [], "streams": [],
 "gates": [{"node": "L2", "port": 4, "cycle_ps": 50000000, "entries": [
   {"gates": 8, "interval_ps": 10000000}, {"gates": 1, "interval_ps": 40000000}]}]}
"#,
    ),
    (
        "rules.json",
        r#"{"format": "tidegate-tagger-rules", "version": 1,
"fabric": {"kind": "file", "switches": 2, "hosts": 4, "links": 5,
"hash": "377a5bc8444a7bc5"},
"generated_by": {"algorithm": "merge", "paths": "all shortest paths"},
"lossless_tags": [1], "lossy_tag": 0, "classes": [{"name": "default", "first_tag": 1}],
"switches": [{"name": "A", "rules": [{"tag": 1, "in": [0], "out": [1], "new_tag": 1}]},
{"name": "B", "rules": [{"tag": 1, "in": [0], "out": [3], "new_tag": 1}]}]}"#,
    ),
    (
        "slots.json",
        r#"{"format": "tidegate-schedule-1", "wire": "ethernet", "class": 7, "without_slots": [], "streams": [],
 "gates": [{"node": "L2", "port": 4, "cycle_ps": 50000000, "entries": [
   {"gates": 8, "interval_ps": 30000000}, {"gates": 1, "interval_ps": 20000000}]}]}
"#,
    ),
    (
        "topology.txt",
        "10 4 10
6 7 8 9
0 6 1Gbps 1000ns 0
1 6 1Gbps 1000ns 0
2 6 1Gbps 1000ns 0
3 7 1Gbps 1000ns 0
4 7 1Gbps 1000ns 0
5 7 1Gbps 1000ns 0
6 8 1Gbps 1000ns 0
6 9 1Gbps 1000ns 0
7 8 1Gbps 1000ns 0
7 9 1Gbps 1000ns 0
",
    ),
    (
        "triggers.cm",
        "Nodes 6
Connections 2
Triggers 1
0->3 id 1 start 100 size 20000 recv_done_trigger 1
4->2 id 2 trigger 1 size 10000
trigger id 1 oneshot
",
    ),
    (
        "two-switches.json",
        r#"{"directed": false, "multigraph": false, "graph": {}, "nodes": [
{"id":"H1","kind":"host"},{"id":"H2","kind":"host"},{"id":"H3","kind":"host"},{"id":"H4","kind":"host"},
{"id":"A","kind":"switch"},{"id":"B","kind":"switch"}],
"links": [
{"delay":"500ns","rate":"40Gbps","source":"H1","target":"A"},
{"delay":"500ns","rate":"40Gbps","source":"A","target":"B"},
{"delay":"500ns","rate":"40Gbps","source":"H2","target":"B"},
{"delay":"500ns","rate":"40Gbps","source":"H3","target":"B"},
{"delay":"500ns","rate":"40Gbps","source":"H4","target":"B"}]}
"#,
    ),
];
