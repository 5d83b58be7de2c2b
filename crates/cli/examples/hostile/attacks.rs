//! Kinds of inputs, and the commands that read them.

use crate::corpus::{CLOS, Corpus, Sample};

/// A kind of input, and the commands that read it.
pub struct Attack {
    /// Name in the printed summary.
    pub name: &'static str,
    /// Weight in the random choice among attacks.
    pub weight: u64,
    /// Valid inputs, which are mutated.
    pub samples: Vec<Sample>,
    /// Commands that read the input; one is drawn at random for each input.
    pub commands: Vec<Line>,
}

/// A command line, and a command that must accept its output.
pub struct Line {
    /// Words of the command, without `tidegate`. A word in braces is a value that is mutated in two of three cases.
    pub words: String,
    /// Second command, which reads the output of the first and must not reject it.
    pub then: Option<String>,
}

fn line(words: &str) -> Line {
    Line { words: words.to_owned(), then: None }
}

fn and(words: &str, then: &str) -> Line {
    Line { words: words.to_owned(), then: Some(then.to_owned()) }
}

fn lines(words: &str) -> Vec<Line> {
    words.lines().map(str::trim).filter(|words| !words.is_empty()).map(line).collect()
}

/// Returns all attacks, with the inputs of this corpus.
pub fn all(corpus: Corpus) -> Vec<Attack> {
    let attack = |name, weight, samples, commands| Attack { name, weight, samples, commands };
    let with = |samples: Vec<Sample>, name: &str, text: &str| -> Vec<Sample> {
        samples.into_iter().map(|sample| sample.with(name, text.as_bytes())).collect()
    };
    vec![
        attack("scenarios", 6, corpus.scenarios, scenarios()),
        attack("topologies", 6, with(corpus.fabrics, "s.toml", &over("file = \"input\"")), topologies()),
        attack("SONiC folders", 1, with(corpus.sonic_folders, "s.toml", &over("file = \"input\"")), sonic_folders()),
        attack("rule files", 3, with(corpus.rules, "s.toml", &tagged()), rules()),
        attack("path lists", 1, corpus.paths, paths()),
        attack("routes", 1, corpus.routes, lines("tagger rules clos.json --paths routes:input --out out.json --json")),
        attack(
            "OpenSM dumps",
            1,
            corpus.dumps,
            lines("tagger rules clos.json --paths fdbs:input --subnet subnet --out out.json --json"),
        ),
        attack("ASIC profiles", 1, corpus.profiles, profiles()),
        attack("interface names", 1, corpus.interfaces, interfaces()),
        attack(
            "sweep files",
            2,
            corpus.sweeps,
            lines("sweep input --out out --quiet\nsweep input --out out --json --shard 1/2"),
        ),
        attack(
            "fluid models",
            1,
            corpus.fluids,
            lines(
                "fluid input --set duration=1ms --set sample=1us --out out --quiet
                 fluid input --set duration=1ms --set sample=1us --json --stability
                 fluid input --explain",
            ),
        ),
        attack("sweep folders", 1, corpus.stores, stores()),
        attack("results", 4, corpus.results, results()),
        attack(
            "flow files",
            1,
            with(corpus.flows, "s.toml", &replay()),
            lines("run s.toml --out out --quiet\nrun s.toml --json --threads 2"),
        ),
        attack("streams", 1, corpus.streams, streams()),
        attack(
            "schedules",
            1,
            corpus.schedules,
            lines("schedule verify input --fabric clos.json\nschedule verify input --fabric clos.json --json"),
        ),
        attack("HPCC configurations", 1, corpus.configurations, configurations()),
        attack(
            "size files",
            1,
            with(corpus.sizes, "s.toml", &sized()),
            lines("run s.toml --out out --quiet\nrun s.toml --explain"),
        ),
        attack("arguments", 3, vec![Sample::default().with("s.toml", over("").as_bytes())], arguments()),
    ]
}

fn scenarios() -> Vec<Line> {
    lines(
        "run input.toml --set duration=3us --out out --quiet
         run input.toml --set duration=3us --out out --quiet --threads 2
         run input.toml --set duration=3us --json
         run input.toml --set duration=3us --out out
         run input.toml --explain
         fabric check input.toml --json
         fabric check input.toml --pfc
         fabric show input.toml --svg out.svg
         fabric headroom input.toml --json
         trim export input.toml --to sonic
         compare input.toml --set duration=2us --vary seed=1,2 --out out --quiet
         sweep input.toml --set duration=2us --seeds 1..2 --out out --quiet",
    )
}

fn topologies() -> Vec<Line> {
    let given = "--hosts-per-switch 1 --rate 10Gbps --delay 1us";
    let mut all = lines(&format!(
        "fabric check input {given}
         fabric check input --json
         fabric check input --pfc {given}
         fabric check input --pfc --routing up-down --bounces 1
         fabric show input --svg out.svg {given}
         fabric show input --json {given}
         fabric headroom input --json {given}
         tagger rules input --paths shortest --json {given}
         run s.toml --out out --quiet
         run s.toml --out out --quiet --threads 3"
    ));
    for out in ["out.json", "out.graphml", "out.clab.yml", "out.csv", "out.ibnet", "out.txt"] {
        all.push(and(
            &format!("fabric convert input {out} {given}"),
            &format!("fabric check {out} --rate 10Gbps --delay 1us"),
        ));
    }
    all.push(and(
        &format!("fabric convert input out --to config-db {given}"),
        "fabric check out --rate 10Gbps --delay 1us",
    ));
    let verify = format!("tagger verify out.json --fabric input {given}");
    all.push(and(&format!("tagger rules input --paths up-down --out out.json {given}"), &verify));
    all
}

fn sonic_folders() -> Vec<Line> {
    let given = "--hosts-per-switch 1 --rate 10Gbps --delay 1us";
    let mut all =
        lines(&format!("fabric check input {given}\nfabric show input --json {given}\nrun s.toml --out out --quiet"));
    all.extend(lines(
        "fabric check --running input
         fabric check --running input --asic-table input --ignore S1
         fabric check --running input --forwarding any --json",
    ));
    all.push(and(&format!("fabric convert input out.json {given}"), "fabric check out.json --rate 10Gbps --delay 1us"));
    all
}

fn rules() -> Vec<Line> {
    let on = "--fabric clos.json";
    let mut all = lines(&format!(
        "tagger verify input {on}
         tagger verify input {on} --paths shortest --json
         tagger explain input {on} H1 T1 L1 T2 H2
         tagger diff input other.json {on}
         tagger diff other.json input {on} --json
         tagger what-if input {on}
         tagger what-if input {on} --routing up-down --json --all
         run s.toml --out out --quiet"
    ));
    for format in ["table", "json", "csv", "sonic", "acl", "nftables", "eos"] {
        all.push(line(&format!("tagger export input {on} --to {format} --out out")));
        all.push(line(&format!("tagger export input {on} --to {format} --unproved --trust-hosts any")));
    }
    all
}

fn paths() -> Vec<Line> {
    let mut all = lines(
        "tagger verify rules.json --fabric clos.json --paths input
         fabric check clos.json --pfc --paths input
         tagger rules clos.json --paths file:input --algorithm fewest --json",
    );
    all.push(and(
        "tagger rules clos.json --paths file:input --out out.json --paths-out out.txt",
        "tagger verify out.json --fabric clos.json --paths out.txt",
    ));
    all
}

fn profiles() -> Vec<Line> {
    lines(
        "tagger budget rules.json --fabric clos.json --profile input
         tagger budget rules.json --fabric clos.json --profile input --json
         tagger export rules.json --fabric clos.json --to sonic --profile input --out out",
    )
}

fn interfaces() -> Vec<Line> {
    lines(
        "tagger export rules.json --fabric clos.json --to sonic --interfaces input --out out
         tagger export rules.json --fabric clos.json --to nftables --interfaces input
         tagger export rules.json --fabric clos.json --to eos --interfaces input",
    )
}

fn streams() -> Vec<Line> {
    let mut all = lines(
        "schedule input --fabric dumbbell --left 2 --right 2 --rate 10Gbps --delay 1us
         schedule input --tsnkit-network network.csv --algorithm dtscoe --json
         schedule input --tsnkit-network network.csv --algorithm per-hop --to svg --out out.svg
         schedule input --tsnkit-network network.csv --to taprio --out out --guard-frame 1518B
         schedule input --tsnkit-network network.csv --to tsnkit --grid 100ns",
    );
    all.push(and(
        "schedule input --tsnkit-network network.csv --to json --out out.json",
        "schedule verify out.json --tsnkit-network network.csv",
    ));
    all
}

fn configurations() -> Vec<Line> {
    let mut all = lines(
        "import hpcc input
         import hpcc input --transport roce
         import hpcc input --transport tcp",
    );
    all.push(and("import hpcc input --out out.toml", "run out.toml --explain"));
    all
}

fn stores() -> Vec<Line> {
    lines(
        "sweep s.toml --vary switch.flow_control.xoff=10KB,20KB --seeds 1..2 --out store --resume --quiet
         sweep s.toml --vary switch.flow_control.xoff=10KB,20KB --seeds 1..2 --out store --resume --json
         report store --out out.html",
    )
}

fn results() -> Vec<Line> {
    lines(
        "report result --out out.html
         why result --flow 0
         why result --flow 1 --json
         why result --packet 0
         why result --packet 7 --json
         why result --port L1:0
         why result --port H1 --json
         why result --pauses
         why result --pauses --json",
    )
}

fn arguments() -> Vec<Line> {
    let mut all = lines(
        "run s.toml --seed {7} --quiet
         run s.toml --threads {2} --quiet
         run s.toml --set {fabric.leaves=2} --explain
         run s.toml --set {switch.buffer=1MB} --quiet
         run s.toml --set {traffic.0.size=10KB} --quiet
         run s.toml --set {host.transport.kind=dcqcn} --quiet
         run s.toml --set {fabric.link.rate=10Gbps} --quiet
         compare s.toml --vary {switch.buffer=1MB,2MB} --seeds {1..2} --quiet
         compare s.toml --vary {seed=1,2} --metric {fct} --jobs {2}
         sweep s.toml --vary {host.transport.kind=roce,dcqcn} --seeds {1,2} --out out --quiet
         sweep s.toml --seeds {1..3} --shard {1/2} --out out --jobs {2} --quiet
         fabric check fat-tree --k {4} --hosts-per-edge {2} --rate {10Gbps} --delay {1us}
         fabric check leaf-spine --leaves {2} --spines {2} --hosts-per-leaf {2} --links-per-pair {2} --rate 10Gbps \
           --delay 1us
         fabric check clos --pods {2} --tors-per-pod {2} --leaves-per-pod {2} --spines {2} --hosts-per-tor {1} --rate \
           10Gbps --delay 1us
         fabric show jellyfish --switches {6} --degree {3} --hosts-per-switch {1} --seed {3} --rate 10Gbps --delay 1us
         fabric show tree --arity {2,2} --hosts-per-leaf {2} --root-hosts {1} --rate 10Gbps --delay 1us --svg out.svg
         fabric show star --arms {3} --hosts-per-arm {2} --hub-hosts {1} --rate 10Gbps --delay 1us --json
         fabric build bcube --n {2} --levels {2} --rate 10Gbps --delay 1us --out out.json
         fabric build dumbbell --left {2} --right {2} --rate {40Gbps} --delay {5us} --loss {0.1} --out out.json
         fabric build ring --switches {4} --hosts-per-switch {1} --host-rate {1Gbps} --edge-rate {2Gbps} --host-delay \
           {1us} --edge-delay {1ns} --format {graphml}
         fabric check ring --switches 4 --hosts-per-switch 1 --rate 10Gbps --delay 1us --pfc --fail {S1-S2} --bounces \
           {1}
         fabric headroom --rate {100Gbps} --length {300m} --mtu {9216B} --reaction {3840} --classes {2} --ports {32} \
           --buffer {16MB}
         fabric headroom --rate {400Gbps} --delay {2us}
         new {incast} --out out.toml
         mechanisms {dcqcn}
         why s.toml --flow {0}
         report {result} --out out.html --title {text}",
    );
    all.extend(lines(&format!(
        "tagger rules {CLOS} --paths {{bounces=1}} --classes {{2}} --json
         tagger rules {CLOS} --paths {{n-shortest=2}} --paths-seed {{1}} --json
         tagger rules {CLOS} --paths {{random=20}} --paths-seed {{1}} --out out.json
         tagger rules {CLOS} --paths bounces=1 --classes {{storage,training}} --json"
    )));
    all
}

/// Returns a scenario over the fabric with the keys `what`; over a small leaf-spine fabric if `what` is empty.
fn over(what: &str) -> String {
    let fabric = match what {
        "" => "kind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n\
             link = { rate = \"10Gbps\", delay = \"1us\" }"
            .to_owned(),
        file => format!(
            "kind = \"file\"\n{file}\nhosts_per_switch = 1\n\
             link = {{ rate = \"10Gbps\", delay = \"1us\" }}"
        ),
    };
    format!(
        "duration = \"20us\"\n[fabric]\n{fabric}\n[switch]\nbuffer = \"2MB\"\n\
         flow_control = {{ kind = \"pfc\", priorities = [3] }}\n\
         [[traffic]]\nkind = \"permutation\"\nsize = \"20KB\"\n"
    )
}

fn tagged() -> String {
    let text = over("file = \"clos.json\"").replace("hosts_per_switch = 1\n", "");
    let tags = "buffer = \"2MB\"\ntags = { kind = \"tagger\", rules = \"input\" }";
    text.replace("buffer = \"2MB\"", tags).replace("priorities = [3]", "priorities = [1, 2, 3]")
        + "class = 1\n[host]\nreply_class = 1\n"
}

fn replay() -> String {
    let traffic = "kind = \"replay\"\nfile = \"input\"\n";
    over("")
        .replace("hosts_per_leaf = 2", "hosts_per_leaf = 8")
        .replace("kind = \"permutation\"\nsize = \"20KB\"\n", traffic)
}

fn sized() -> String {
    let traffic = "kind = \"poisson\"\nload = 0.5\nsizes = { file = \"input\" }\n";
    over("").replace("kind = \"permutation\"\nsize = \"20KB\"\n", traffic)
}
