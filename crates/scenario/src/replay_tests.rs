use super::*;
use crate::import::HpccConfig;
use fabric::files::{self, Options};
use fabric::{Fabric, LinkSpec};
use traffic::Cdf;
use units::Rate;
use units::random::Stream;

/// One file of each format that a scenario may name by mistake: name of the format, the reader that accepts it, text.
const FILES: [(&str, Reader, &str); 18] = [
    ("hpcc", Reader::Flows, "3\n0 2 3 100 20000 2.0\n1 2 3 100 30000 2.00001\n2 3 3 200 5000 2.1\n"),
    ("conweave", Reader::Flows, "3\n0 2 3 20000 2.0\n1 2 3 30000 2.00001\n2 3 3 5000 2.1\n"),
    ("ns3-rdma", Reader::Flows, "3\n0 2 3 1000 2.0 9.5\n1 2 3 500 2.0 9.5\n2 1 3 90000 2.5 9.5\n"),
    (
        "htsim",
        Reader::Flows,
        "Nodes 4\nConnections 3\n0->3 id 1 start 0 size 8000 send_done_trigger 1\n1->3 id 2 start 100 size 2000\n\
         2->3 id 3 trigger 1 size 4096\ntrigger id 1 oneshot\n",
    ),
    (
        "goal",
        Reader::None,
        "num_ranks 4\n\nrank 0 {\nl1: send 100000b to 1 tag 16877216\nl2: recv 1b from 3 tag 1\n}\n",
    ),
    ("percent", Reader::Sizes, "0 0\n10000 15\n20000 60\n30000000 100\n"),
    ("share", Reader::Sizes, "0 0\n10000 0.15\n20000 0.6\n30000000 1\n"),
    ("topology", Reader::Topology, "4 1 3\n3\n0 3 100Gbps 1000ns 0\n1 3 100Gbps 1000ns 0\n2 3 25Gbps 0.001ms 0\n"),
    ("ns3-rdma topology", Reader::Topology, "4 1 3\n3\n0 3 40Gbps 0.001ms\n1 3 40Gbps 0.001ms\n2 3 40Gbps 0.001ms\n"),
    (
        "simai topology",
        Reader::Topology,
        "5 2 1 1 5 H100\n3 4\n0 3 2880Gbps 0.000025ms 0\n0 4 100Gbps 0.0005ms 0\n1 3 2880Gbps 0.000025ms 0\n\
         1 4 100Gbps 0.0005ms 0\n2 4 100Gbps 0.0005ms 0\n",
    ),
    (
        "powertcp topology",
        Reader::Topology,
        "6 2 1 5\n4 5\n0 4 25000000000.0 1us 0\n1 4 25000000000.0 1us 0\n2 5 25000000000.0 1us 0\n\
         3 5 25000000000.0 1us 0\n4 5 100000000000.0 1us 0\n",
    ),
    (
        "htsim topo",
        Reader::Topology,
        "Nodes 4\nTiers 2\nPodsize 4\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 2\nRadix_Up 2\n\
         Downlink_Latency_ns 1000\nTier 1\nDownlink_speed_Gbps 100\nRadix_Down 2\nDownlink_Latency_ns 1000\n",
    ),
    (
        "node-link",
        Reader::Topology,
        r#"{"nodes":[{"id":"h1"},{"id":"h2"},{"id":"s1"}],
           "links":[{"source":"h1","target":"s1"},{"source":"h2","target":"s1"}]}"#,
    ),
    (
        "config",
        Reader::Config,
        "ENABLE_QCN 1\nCC_MODE 1\nTOPOLOGY_FILE topology.txt\nFLOW_FILE flow.txt\nSIMULATOR_STOP_TIME 4.00\n\
         HAS_WIN 1\n",
    ),
    (
        "fct",
        Reader::None,
        "0b000001 0b000201 10000 100 20000 2000000000 6218 5904\n\
         0b000101 0b000201 10000 100 30000 2000010000 6218 5904\n",
    ),
    ("pfc", Reader::None, "2000012000 3 1 2 1\n2000013000 3 1 2 0\n2000013500 0 0 1 1\n"),
    ("workload", Reader::None, "HYBRID_TRANSFORMER_FWD_IN_BCKWD\tmodel_parallel_NPU_group: 8\n2\nnorm -1 0 NONE 0\n"),
    ("scenario", Reader::None, "duration = \"1ms\"\n[fabric]\nkind = \"single-switch\"\nhosts = 4\n"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reader {
    Flows,
    Sizes,
    Topology,
    Config,
    /// No reader accepts this file.
    None,
}

const READERS: [Reader; 4] = [Reader::Flows, Reader::Sizes, Reader::Topology, Reader::Config];

fn shape(fabric: &Fabric) -> String {
    let hosts: Vec<bool> = fabric.node_ids().map(|node| fabric.host_index(node).is_some()).collect();
    format!("{hosts:?} {:?}", fabric.links())
}

/// Returns the reader's result for a file, without warnings.
fn outcome(reader: Reader, content: &str) -> Result<String, String> {
    match reader {
        Reader::Flows => {
            let options = FlowFileOptions { hosts: 4, ..FlowFileOptions::default() };
            match read_replayed(content.as_bytes(), "f", 3, None, &options) {
                Ok(Replayed::Flows(file)) => Ok(format!("{:?}", file.flows)),
                Ok(Replayed::Matrix(matrix)) => Ok(format!("{:?} {:?}", matrix.flows, matrix.edges)),
                Err(Refused::Known(known)) => Err(format!("this is {known}")),
                Err(Refused::File(error)) => Err(error.to_string()),
            }
        }
        Reader::Sizes => match known_format(content.as_bytes()) {
            Some(known) if known != KnownFormat::Sizes => Err(format!("this is {known}")),
            _ => Cdf::read(content.as_bytes(), "f").map(|cdf| format!("{cdf:?}")).map_err(|error| error.to_string()),
        },
        Reader::Topology => match known_format(content.as_bytes()) {
            Some(known) if !matches!(known, KnownFormat::Topology(_)) => Err(format!("this is {known}")),
            _ => {
                let link = LinkSpec::new(Rate::from_gbps(100), Time::from_us(1));
                let read = files::read("f", content, &Options::new(link));
                read.map(|fabric| shape(&fabric)).map_err(|error| error.to_string())
            }
        },
        Reader::Config => {
            let config = HpccConfig::parse(content, "f").map_err(|errors| errors.to_string())?;
            let unknown = config.unknown().next().map(|(key, line)| format!("f:{line}: `{key}` is not a key"));
            unknown.map_or_else(|| Ok(format!("{config:?}")), Err)
        }
        Reader::None => Err("no reader".to_owned()),
    }
}

#[test]
fn each_file_is_read_by_its_reader_and_refused_by_name_by_all_others() {
    for (name, own, content) in FILES {
        for reader in READERS {
            let read = outcome(reader, content);
            assert_eq!(read.is_ok(), reader == own, "{name} by {reader:?}: {read:?}");
            let Err(read_error) = read else { continue };
            let named = known_format(content.as_bytes()).map(|known| known.to_string());
            let expected = reader == Reader::Config || named.is_none_or(|named| read_error.contains(&named));
            assert!(expected, "{name} by {reader:?}: {read_error}");
        }
    }
    let named = |name: &str| {
        let (.., content) = FILES.iter().find(|file| file.0 == name).unwrap();
        outcome(Reader::Flows, content).unwrap_err()
    };
    assert_eq!(named("goal"), "this is a GOAL schedule (LogGOPSim, ATLAHS)");
    assert_eq!(named("fct"), "this is completion times of HPCC's simulator (fct.txt)");
    assert!(named("htsim topo").contains("an htsim .topo"));
}

fn lines_of(content: &str) -> Vec<String> {
    content.lines().map(str::to_owned).collect()
}

fn joined(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Damaged files: truncated, joined from two files, or with a surplus or missing column or line. A reader must refuse a
/// damaged file unless the result equals that of an undamaged file.
#[test]
fn ten_thousand_broken_files_are_read_as_what_they_were_or_refused() {
    let mut stream = Stream::new(30, 7, 0);
    let mut pick = |below: usize| (stream.next_u64() % below as u64) as usize;
    let (mut read, mut refused, mut wrong) = (0, 0, Vec::new());
    for round in 0..10_000 {
        let (name, own, content) = FILES[round % FILES.len()];
        let (other_name, other_own, other) = FILES[pick(FILES.len())];
        let mut lines = lines_of(content);
        let at = pick(lines.len());
        let what = pick(7);
        let text = match what {
            // Not damaged: CRLF line ends, a byte order mark, blank lines.
            0 => format!("\u{feff}{}", content.replace('\n', "\r\n")),
            1 => {
                lines.insert(lines.len(), String::new());
                joined(&lines)
            }
            // Truncated.
            2 => joined(&lines[..at]),
            3 => {
                lines.remove(at);
                joined(&lines)
            }
            // Joined from two files.
            4 => joined(&[&lines[..at], &lines_of(other)[at.min(lines_of(other).len())..]].concat()),
            5 => {
                let mut words: Vec<&str> = lines[at].split_whitespace().collect();
                if !words.is_empty() {
                    words.remove(pick(words.len()));
                }
                lines[at] = words.join(" ");
                joined(&lines)
            }
            _ => {
                let mut words: Vec<&str> = lines[at].split_whitespace().collect();
                words.insert(pick(words.len() + 1), "1");
                lines[at] = words.join(" ");
                joined(&lines)
            }
        };
        // In these formats, which have no line count or no fixed columns, a surplus line or column is valid.
        let uncounted = ["percent", "share", "config", "htsim topo", "node-link"];
        let loose = uncounted.contains(&name) || (what == 4 && uncounted.contains(&other_name));
        for reader in READERS {
            let outcome_now = outcome(reader, &text);
            let Ok(now) = outcome_now else {
                refused += 1;
                if what <= 1 && reader == own {
                    wrong.push(format!("{name} by {reader:?}: {outcome_now:?}\n{text}"));
                }
                continue;
            };
            read += 1;
            let originals = [(own, content), (other_own, other)];
            let taken = originals.iter().filter(|(of, _)| *of == reader).map(|(_, content)| outcome(reader, content));
            let same = taken.clone().any(|original| original.as_ref() == Ok(&now));
            if !(same || loose && taken.count() > 0) {
                wrong.push(format!("{name} ({what}, line {at}, {other_name}) by {reader:?} is {now}\n{text}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of 10,000 files, for instance\n{}",
        wrong.len(),
        wrong[..wrong.len().min(12)].join("\n")
    );
    assert!(read > 2_000 && refused > 20_000, "{read} read, {refused} refused");
}
