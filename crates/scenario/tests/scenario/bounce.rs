//! Invalid uses of bouncing are errors that state the reason.

use scenario::Scenario;

const GOOD: &str = r#"name = "test"
duration = "1ms"

[fabric]
kind = "tree"
arity = [3, 1]
hosts_per_leaf = 1
root_hosts = 1
link = { rate = "1Gbps", delay = "50ns" }

[switch]
queue = { normal = "500 packets", bounce = "300 packets" }
flow_control = { kind = "pfc", priorities = [3], xoff = "100KB" }
overload = { kind = "bounce" }

[[traffic]]
kind = "pairs"
pairs = [["H1", "H4"]]
class = 0
size = "1MB"
"#;

fn lower(text: &str) -> Result<scenario::Lowered, String> {
    Scenario::parse(text, "test.toml", "".as_ref(), &[], None)
        .and_then(|scenario| scenario.lower())
        .map_err(|errors| errors.to_string())
}

fn wrong(from: &str, to: &str) -> String {
    assert_eq!(GOOD.matches(from).count(), 1, "{from}");
    lower(&GOOD.replace(from, to)).map(|_| ()).expect_err("must be refused")
}

#[test]
fn the_papers_parameters_are_the_defaults() {
    use model::parameters::{Overload, QueueLimit};
    use protocols::pabo::ReturnRoute;
    let lowered = lower(GOOD).unwrap();
    let Overload::Bounce { pabo, queue } = lowered.setup.switch.overload else { panic!("{:?}", lowered.setup.switch) };
    assert_eq!((pabo.theta, pabo.lambda, pabo.limit, pabo.back), (0.8, 50.0, None, ReturnRoute::ArrivalPort));
    assert_eq!(queue, QueueLimit::Packets(300));
    assert_eq!(pabo.classes, !(1 << 3), "all classes that PFC does not own");
    assert!(lower(&GOOD.replace("\"bounce\" }", "\"bounce\", theta = 1, lambda = 0, limit = 5 }")).is_ok());
}

#[test]
fn parameters_out_of_range() {
    let set = |key: &str| wrong("{ kind = \"bounce\" }", &format!("{{ kind = \"bounce\", {key} }}"));
    for (key, expected) in [
        ("theta = 1.5", "`1.5` is more than 1"),
        ("theta = -0.1", "-0.1"),
        ("lambda = -1", "a negative one would make frames bounce less the fuller their queue is"),
        ("lambda = nan", "is not a number"),
        ("limit = 0", "whole number from 1 to 255"),
        ("return = \"home\"", "`return` is \"home\"; expected one of "),
        ("priorities = []", "the list of classes is empty"),
        ("theat = 0.5", "unknown key `theat`"),
    ] {
        let message = set(key);
        assert!(message.starts_with("test.toml:1") && message.contains(expected), "{key}: {message}");
        assert!(message.contains("help: ") || message.contains("expected one of"), "{key}: {message}");
    }
    for queue in ["\"0 packets\"", "\"0B\""] {
        let message = wrong("\"300 packets\"", queue);
        assert!(
            message.contains("not a queue limit") || message.contains("not a valid number of packets"),
            "{message}"
        );
    }
    assert!(wrong("bounce = \"300 packets\"", "back = \"3 packets\"").contains("a queue has no key `back`"));
}

#[test]
fn combinations_that_make_no_sense() {
    let pfc = wrong("{ kind = \"bounce\" }", "{ kind = \"bounce\", priorities = [0, 3] }");
    assert!(pfc.contains("class 3 is lossless by PFC: its senders stop before the queue is full"), "{pfc}");
    let all = wrong("class = 0", "class = 3");
    assert!(all.contains("switch.flow_control excludes every class of the traffic"), "{all}");
    let own = wrong("{ kind = \"bounce\" }", "{ kind = \"bounce\", priorities = [1] }");
    assert!(own.contains("switch.overload.priorities excludes every class"), "{own}");
    let pause =
        wrong("{ kind = \"pfc\", priorities = [3], xoff = \"100KB\" }", "{ kind = \"pause\", xoff = \"100KB\" }");
    assert!(pause.contains("PAUSE stops whole ports before their queues are full"), "{pause}");
    let shared = lower(&GOOD.replace("queue = { normal = \"500 packets\", bounce = \"300 packets\" }", ""));
    let shared = shared.map(|_| ()).unwrap_err();
    assert!(shared.contains("queues of a shared buffer have no capacity"), "{shared}");
    let up_down = wrong("[[traffic]]", "[routing]\nmode = \"up-down\"\n\n[[traffic]]");
    assert!(up_down.contains("up-down routing depends on the ingress port"), "{up_down}");
    let tree = "kind = \"tree\"\narity = [3, 1]\nhosts_per_leaf = 1\nroot_hosts = 1";
    let relays = lower(&GOOD.replace(tree, "kind = \"bcube\"\nn = 2\nlevels = 1"));
    let relays = relays.map(|_| ()).unwrap_err();
    assert!(relays.contains("forward frames of others"), "{relays}");
}

#[test]
fn senders_that_slow_down() {
    use protocols::bounce_reaction::HalveParameters;
    let host = |table: &str| GOOD.replace("[[traffic]]", &format!("[host]\n{table}\n\n[[traffic]]"));
    let on = |table: &str| lower(&host(table)).map(|lowered| (lowered.setup.host.on_bounce, lowered.warnings.len()));
    let dctcp = "transport = { kind = \"dctcp\" }\n";
    let quiet = lower(GOOD).unwrap();
    assert_eq!(quiet.setup.host.on_bounce, None, "off unless asked for");
    let marks = on(dctcp).unwrap().1;
    assert_eq!(on(&format!("{dctcp}on_bounce = \"halve\"")), Ok((Some(HalveParameters { every: 1 }), marks)));
    let eight = format!("{dctcp}on_bounce = {{ kind = \"halve\", every = 8 }}");
    assert_eq!(on(&eight), Ok((Some(HalveParameters { every: 8 }), marks)));
    for (table, expected) in [
        ("on_bounce = \"halve\"", "nothing to halve"),
        ("transport = \"datagram\"\non_bounce = \"halve\"", "nothing to halve"),
        ("transport = { kind = \"tcp\", congestion_control = \"none\" }\non_bounce = \"halve\"", "nothing to halve"),
        ("transport = \"dctcp\"\non_bounce = { kind = \"halve\", every = 0 }", "`0` is out of range"),
        ("on_bounce = { kind = \"none\", every = 2 }", "`every` belongs to halve"),
        ("on_bounce = \"stop\"", "`stop` is not a valid reaction to returned frames"),
    ] {
        let message = on(table).expect_err(table);
        assert!(message.contains(expected) && message.contains("help: "), "{table}: {message}");
    }
    let messages = |text: &str| {
        let lowered = lower(text).unwrap();
        lowered.warnings.iter().filter(|warning| warning.key == "host.on_bounce").map(|w| w.message.clone()).collect()
    };
    let drop: Vec<String> = messages(&host(&eight).replace("kind = \"bounce\"", "kind = \"drop\""));
    assert!(matches!(&drop[..], [only] if only.contains("no switch bounces any")), "{drop:?}");
    let sources = host(&eight).replace("size = \"1MB\"", "process = \"poisson\"\nrate = \"100Mbps\"");
    let sources: Vec<String> = messages(&sources);
    assert!(matches!(&sources[..], [only] if only.contains("sources of datagrams")), "{sources:?}");
}

#[test]
fn storm_detection_follows_its_keys() {
    use model::parameters::StormParameters;
    use units::Time;
    let with = |check: &str| lower(&format!("{GOOD}\n[check]\n{check}\n")).map(|lowered| lowered.setup.storm);
    assert_eq!(lower(GOOD).unwrap().setup.storm, Some(StormParameters::default()));
    assert_eq!(with("bounce_storm = true"), Ok(Some(StormParameters::default())));
    assert_eq!(with("bounce_storm = false"), Ok(None));
    let own = StormParameters { samples: 3, every: Some(Time::from_us(5)), ratio: 2.5 };
    assert_eq!(with("bounce_storm = { samples = 3, every = \"5us\", ratio = 2.5 }"), Ok(Some(own)));
    for (check, expected) in [
        ("bounce_storm = { samples = 0 }", "`0` is out of range"),
        ("bounce_storm = { every = \"0s\" }", "must be above zero"),
        ("bounce_storm = { ratio = -1 }", "is not a ratio of frames"),
        ("bounce_storm = { often = 3 }", "unknown key `often`"),
        ("bounce_storm = 3", "is a whole number, not a table"),
    ] {
        let message = with(check).expect_err(check);
        assert!(message.contains(expected) && message.contains("help: "), "{check}: {message}");
    }
}
