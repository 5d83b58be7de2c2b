//! Valid inputs of every format: files of the project, and files that the command itself writes.

use crate::committed::inputs;
use crate::process::{self, Ran};
use std::fs;
use std::path::{Path, PathBuf};

/// The files of one test case, some of which may be mutated.
#[derive(Clone, Default)]
pub struct Sample {
    /// Names (paths relative to the test folder) and contents.
    pub files: Vec<(String, Vec<u8>)>,
    /// Indices in `files` of the files that may be mutated.
    pub targets: Vec<usize>,
}

impl Sample {
    /// Returns a sample with one file, which may be mutated.
    pub fn of(name: &str, bytes: Vec<u8>) -> Sample {
        Sample { files: vec![(name.to_owned(), bytes)], targets: vec![0] }
    }

    /// Adds a file that is never mutated.
    pub fn with(mut self, name: &str, bytes: &[u8]) -> Sample {
        self.files.push((name.to_owned(), bytes.to_vec()));
        self
    }

    /// Returns a sample of all files below a folder, under the folder name `name`; each of them may be mutated.
    fn folder(path: &Path, name: &str) -> Sample {
        let files = process::tree(path).into_iter().map(|(file, bytes)| (format!("{name}/{file}"), bytes));
        let files: Vec<_> = files.collect();
        Sample { targets: (0..files.len()).collect(), files }
    }

    /// Writes the files into `folder`.
    pub fn write(&self, folder: &Path) {
        for (name, bytes) in &self.files {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder of ours");
            fs::write(path, bytes).expect("a file of ours");
        }
    }
}

/// Valid inputs of all kinds.
pub struct Corpus {
    pub scenarios: Vec<Sample>,
    pub fabrics: Vec<Sample>,
    pub sonic_folders: Vec<Sample>,
    pub rules: Vec<Sample>,
    pub paths: Vec<Sample>,
    pub routes: Vec<Sample>,
    pub dumps: Vec<Sample>,
    pub profiles: Vec<Sample>,
    pub interfaces: Vec<Sample>,
    pub sweeps: Vec<Sample>,
    pub fluids: Vec<Sample>,
    pub stores: Vec<Sample>,
    pub results: Vec<Sample>,
    pub flows: Vec<Sample>,
    pub sizes: Vec<Sample>,
    pub configurations: Vec<Sample>,
    pub streams: Vec<Sample>,
    pub schedules: Vec<Sample>,
}

/// Inputs for building the corpus: the command, a working folder, and the project's root.
pub struct Maker<'a> {
    pub tidegate: &'a Path,
    pub folder: &'a Path,
    pub root: &'a Path,
}

/// Small fabrics of several kinds.
const KINDS: [&str; 8] = [
    "leaf-spine --leaves 2 --spines 2 --hosts-per-leaf 2 --links-per-pair 2",
    "fat-tree --k 4",
    "clos --pods 2 --tors-per-pod 2 --leaves-per-pod 2 --spines 4 --hosts-per-tor 1",
    "ring --switches 4 --hosts-per-switch 1",
    "jellyfish --switches 6 --degree 3 --hosts-per-switch 1",
    "bcube --n 2 --levels 1",
    "tree --arity 2,2 --hosts-per-leaf 1 --root-hosts 1",
    "dumbbell --left 2 --right 2",
];

/// The fabric for which all rules, paths and tables of the corpus are generated.
pub const CLOS: &str = "clos --pods 2 --tors-per-pod 2 --leaves-per-pod 2 --spines 2 --hosts-per-tor 1 --rate 10Gbps \
                        --delay 1us";

const SIZES: &str = "0 0\n1000 15\n10000 60\n100000 90\n1000000 100\n";
const INTERFACES: &str = "# switch,port,interface\nL1,0,Ethernet1/1\nL1,1,Ethernet1/2\nT1,0,eth0\n";

/// A short run in which flows share ports, and frames are queued, ECN-marked and paused.
const SMALL: &str = r#"duration = "60us"

[fabric]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 2
link = { rate = "40Gbps", delay = "1us" }

[switch]
buffer = "1MB"
flow_control = { kind = "pfc", priorities = [3], xoff = "20KB" }
marking = { kind = "ecn", k_min = "10KB", k_max = "40KB", p_max = 0.5 }

[host]
transport = { kind = "dcqcn" }

[[traffic]]
kind = "incast"
fan_in = 3
receiver = "H1"
size = "50KB"
"#;

/// Keys that switch on all recordings.
const RECORD: &str = r#"
[record]
queues = { every = "5us" }
links = { every = "5us" }
throughput = { every = "5us" }
control = { every = "5us" }
pauses = true
trace = {}
capture = [{ port = "L1:1" }]

[measure]
reordering = true
"#;

impl Maker<'_> {
    /// Makes the corpus.
    pub fn make(&self) -> Corpus {
        fs::create_dir_all(self.folder).expect("a folder of ours");
        let fabrics = self.fabrics();
        let scenarios = self.scenarios();
        let clos = |file: &str| self.read(&self.folder.join(file));
        self.run(&format!("fabric build {CLOS} --out clos.json"));
        self.run(&format!("fabric build {CLOS} --out clos.ibnet"));
        let (fabric, subnet) = (clos("clos.json"), clos("clos.ibnet"));
        let beside = |sample: Sample| sample.with("clos.json", &fabric);
        let mut rules = Vec::new();
        let mut paths = Vec::new();
        for (at, source) in ["shortest", "bounces=1", "trees", "random=5"].into_iter().enumerate() {
            self.run(&format!(
                "tagger rules clos.json --paths {source} --classes {} --out rules.json --paths-out paths.txt --force",
                1 + at % 2
            ));
            rules.push(beside(Sample::of("input", clos("rules.json"))).with("other.json", &clos("rules.json")));
            paths.push(beside(Sample::of("input", clos("paths.txt"))).with("rules.json", &clos("rules.json")));
        }
        let tables = Tables::of(&String::from_utf8(subnet.clone()).expect("text"));
        let mut dumps =
            beside(Sample::of("input", tables.dump.into_bytes())).with("subnet", &tables.subnet.into_bytes());
        dumps.targets.push(2);
        let rule = &rules[0].files[0].1;
        let stand = |folder: &str, ending: &str, beside: &dyn Fn(Sample) -> Sample| -> Vec<Sample> {
            let files = self.files(folder).into_iter().filter(|path| path.to_string_lossy().ends_with(ending));
            files.map(|path| beside(Sample::of("input", self.read(&path)))).collect()
        };
        let committed = |target: &str, beside: &dyn Fn(Sample) -> Sample| -> Vec<Sample> {
            inputs(target).into_values().map(|bytes| beside(Sample::of("input", bytes))).collect()
        };
        let mut flows = stand("examples/htsim", ".cm", &|sample| sample);
        flows.extend(stand("examples/replay", "flow.txt", &|sample| sample));
        flows.push(Sample::of("input", b"2\n0 1 3 100 10000 0\n1 2 3 100 500 0.000001\n".to_vec()));
        Corpus {
            scenarios,
            fabrics,
            sonic_folders: vec![self.sonic_folder()],
            paths,
            routes: vec![beside(Sample::of("input", tables.routes.into_bytes()))],
            dumps: vec![dumps],
            profiles: stand("examples/asic", ".toml", &|sample| beside(sample).with("rules.json", rule)),
            interfaces: vec![beside(Sample::of("input", INTERFACES.into())).with("rules.json", rule)],
            rules,
            sweeps: self.sweeps(),
            fluids: self.fluids(),
            stores: self.stores(),
            results: self.results(),
            flows,
            sizes: vec![Sample::of("input", SIZES.into())],
            streams: committed("schedule_streams", &|sample| {
                let network = inputs("schedule_network").into_values();
                sample.with("network.csv", &network.max_by_key(Vec::len).unwrap_or_default())
            }),
            schedules: committed("verify_gates", &beside),
            configurations: {
                let [topology, flow] =
                    ["topology", "flow"].map(|name| self.read(&self.root.join(format!("examples/replay/{name}.txt"))));
                committed("import_hpcc", &|sample| {
                    let mut sample = sample.with("mix/topology.txt", &topology).with("mix/flow.txt", &flow);
                    sample.targets.extend([1, 2]);
                    sample
                })
            },
        }
    }

    fn tidegate(&self, line: &str) -> Ran {
        let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        process::run(self.tidegate, self.folder, &arguments)
    }

    fn run(&self, line: &str) {
        let ran = self.tidegate(line);
        assert!(ran.is_done(), "{line}: {:?} {}", ran.code, ran.err);
    }

    fn read(&self, path: &Path) -> Vec<u8> {
        fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    fn files(&self, folder: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.root.join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
        let mut files: Vec<PathBuf> =
            entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect();
        files.sort();
        files
    }

    fn fabrics(&self) -> Vec<Sample> {
        let mut fabrics = Vec::new();
        for kind in KINDS {
            for format in ["hpcc", "node-link", "graphml", "containerlab", "link-csv", "ibnetdiscover"] {
                // The command fails if the format cannot express hosts that forward, as in a BCube: skip this file.
                let line =
                    format!("fabric build {kind} --rate 10Gbps --delay 1us --format {format} --out fabric --force");
                if self.tidegate(&line).is_done() {
                    fabrics.push(Sample::of("input", self.read(&self.folder.join("fabric"))));
                }
            }
        }
        fabrics.extend(inputs("fabric_formats").into_values().map(|bytes| Sample::of("input", bytes)));
        for folder in ["examples/replay", "examples/htsim"] {
            let files = self.files(folder).into_iter().filter(|path| !path.to_string_lossy().ends_with("toml"));
            fabrics.extend(files.map(|path| Sample::of("input", self.read(&path))));
        }
        fabrics
    }

    fn sonic_folder(&self) -> Sample {
        self.run(
            "fabric build leaf-spine --leaves 2 --spines 1 --hosts-per-leaf 1 --rate 10Gbps --delay 1us --format \
             config-db --out sonic",
        );
        Sample::folder(&self.folder.join("sonic"), "input")
    }

    /// Returns the example and experiment scenarios, each with all files of its folder.
    fn scenarios(&self) -> Vec<Sample> {
        let mut scenarios = Vec::new();
        for folder in [
            "examples",
            "examples/replay",
            "examples/htsim",
            "experiments/physics",
            "experiments/pabo",
            "experiments/florax",
            "experiments/trim",
            "experiments/tagger",
        ] {
            let files = self.files(folder);
            let (main, beside): (Vec<_>, Vec<_>) =
                files.iter().partition(|path| path.extension().is_some_and(|ending| ending == "toml"));
            for path in main {
                let sample = Sample::of("input.toml", self.read(path));
                let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
                let small = |path: &&&PathBuf| path.metadata().is_ok_and(|meta| meta.len() < 100_000);
                scenarios.push(
                    beside.iter().filter(small).fold(sample, |sample, path| sample.with(&name(path), &self.read(path))),
                );
            }
        }
        scenarios
    }

    /// Returns fluid models with a short duration, because the run time grows with the duration in the file.
    fn fluids(&self) -> Vec<Sample> {
        let rest = "\n[bottleneck]\nrate = \"10Gbps\"\nbuffer = \"1MB\"\n[[flow]]\ncount = 2\nrtt = \"10us\"\n\
                    [[flow]]\nstart = \"100us\"\nrtt = \"40us\"\nrate = \"1Gbps\"\n";
        let text = |model: &str| format!("duration = \"2ms\"\n[model]\nkind = {model}{rest}").into_bytes();
        let dcqcn = "\"dcqcn\"\nk_min = \"5KB\"\nk_max = \"200KB\"\np_max = 0.1";
        let models = [dcqcn, "\"hetflow\"\ngain = 0.01", "\"eccp\"\nweight = 2", "\"patched-timely\"\nbeta = 0.01"];
        models.map(|model| Sample::of("input", text(model))).into()
    }

    fn sweeps(&self) -> Vec<Sample> {
        let scenario = SMALL;
        let list = "scenario = \"s.toml\"\nseeds = \"1..2\"\n[vary]\nswitch.flow_control.xoff = [\"10KB\", \"20KB\"]\n\
                    [[run]]\nhost.transport = \"roce\"\n[[run]]\nhost.transport = { kind = \"dcqcn\" }\n";
        let grid = "scenario = \"s.toml\"\nset = { switch.buffer = \"2MB\", traffic.0.fan_in = 2 }\n[vary]\n\
                    switch.flow_control.xoff = [\"10KB\", \"20KB\"]\nseed = [1, 2]\n";
        [list, grid]
            .map(|text| Sample::of("input", text.as_bytes().to_vec()).with("s.toml", scenario.as_bytes()))
            .into()
    }

    /// Returns the output folder of a sweep.
    fn stores(&self) -> Vec<Sample> {
        fs::write(self.folder.join("s.toml"), SMALL).expect("a file of ours");
        self.run("sweep s.toml --vary switch.flow_control.xoff=10KB,20KB --seeds 1..2 --out store --quiet");
        vec![Sample::folder(&self.folder.join("store"), "store").with("s.toml", SMALL.as_bytes())]
    }

    /// Returns result folders with all recordings.
    fn results(&self) -> Vec<Sample> {
        let flows = format!("{SMALL}{RECORD}");
        let datagrams = flows.replace("size = \"50KB\"", "process = \"poisson\"\nload = 0.5");
        let results = [&flows, &datagrams].into_iter().enumerate().map(|(at, text)| {
            fs::write(self.folder.join("r.toml"), text).expect("a file of ours");
            self.run(&format!("run r.toml --out result{at} --quiet"));
            Sample::folder(&self.folder.join(format!("result{at}")), "result")
        });
        results.collect()
    }
}

/// InfiniBand forwarding tables of a subnet. The next hop to a host is the lowest port on a shortest path.
struct Tables {
    subnet: String,
    dump: String,
    routes: String,
}

impl Tables {
    /// Parses the output of `fabric build` in the format of ibnetdiscover, and adds the GUIDs that ibnetdiscover would
    /// print.
    fn of(written: &str) -> Tables {
        let mut subnet = String::new();
        // Per node: name, LID, whether it is a switch, and the LIDs of its neighbours by port.
        let mut nodes: Vec<(String, u16, bool, Vec<u16>)> = Vec::new();
        let lid = |line: &str| line.split("lid ").nth(1).and_then(|rest| rest.split_whitespace().next()?.parse().ok());
        let name =
            |line: &str| line.split("# \"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or("").to_owned();
        for line in written.lines() {
            let is_switch = line.starts_with("Switch");
            if let (true, Some(lid)) = (is_switch || line.starts_with("Ca"), lid(line)) {
                subnet += &format!("{}=0x{lid:x}({lid:x})\n", if is_switch { "switchguid" } else { "caguid" });
                nodes.push((name(line), lid, is_switch, Vec::new()));
            } else if let (Some(node), true, Some(lid)) = (nodes.last_mut(), line.starts_with('['), lid(line)) {
                node.3.push(lid);
            }
            subnet += &format!("{line}\n");
        }
        let (mut dump, mut routes) = (String::new(), Vec::new());
        for (switch, lid, _, ports) in nodes.iter().filter(|node| node.2) {
            dump += &format!("dump_ucast_routes: Switch 0x{lid:016x}\nLID    : Port : Hops : Optimal\n");
            for (host, to, _, _) in nodes.iter().filter(|node| !node.2) {
                let far = |from: u16| distance(&nodes, from, *to);
                let best = (0..ports.len()).min_by_key(|&port| far(ports[port])).unwrap_or_default();
                dump += &format!("0x{to:04x} : {:03}  : 00   : yes\n", best + 1);
                routes
                    .push(format!("{{ \"switch\": \"{switch}\", \"destination\": \"{host}\", \"ports\": [{best}] }}"));
            }
        }
        let routes = format!(
            "{{ \"format\": \"tidegate-routes\", \"version\": 1,\n  \"routes\": [\n{} ] }}\n",
            routes.join(",\n")
        );
        Tables { subnet, dump, routes }
    }
}

/// Returns the number of links on a shortest path between two LIDs.
fn distance(nodes: &[(String, u16, bool, Vec<u16>)], from: u16, to: u16) -> usize {
    let (mut reached, mut steps) = (vec![from], 0);
    while !reached.contains(&to) && steps < nodes.len() {
        let next = nodes.iter().filter(|node| node.2 && reached.contains(&node.1)).flat_map(|node| node.3.clone());
        reached = next.chain(reached.clone()).collect();
        reached.sort_unstable();
        reached.dedup();
        steps += 1;
    }
    steps
}
