//! Invalid uses of trimming are errors that state the reason.

use model::parameters::{Overload, QueueLimit};
use protocols::trim::{HeaderDestination, HeaderFull, Victim};
use scenario::Scenario;

const GOOD: &str = r#"name = "test"
duration = "1ms"

[fabric]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 2
link = { rate = "10Gbps", delay = "50ns" }

[switch]
queue = "10 packets"
overload = { kind = "trim" }

[host]
reply_class = 7

[[traffic]]
kind = "permutation"
class = 0
size = "1MB"
"#;

fn lower(text: &str) -> Result<scenario::Lowered, String> {
    Scenario::parse(text, "test.toml", "".as_ref(), &[], None)
        .and_then(|scenario| scenario.lower())
        .map_err(|errors| errors.to_string())
}

/// Lowers `GOOD` with another value of `overload`.
fn with(overload: &str) -> Result<scenario::Lowered, String> {
    lower(&GOOD.replace("{ kind = \"trim\" }", overload))
}

fn wrong(from: &str, to: &str) -> String {
    assert_eq!(GOOD.matches(from).count(), 1, "{from}");
    lower(&GOOD.replace(from, to)).map(|_| ()).expect_err("must be refused")
}

#[test]
fn defaults_are_those_of_the_pages() {
    let lowered = lower(GOOD).unwrap();
    assert!(lowered.warnings.is_empty(), "{:?}", lowered.warnings);
    let Overload::Trim { trim, header_queue, .. } = lowered.setup.switch.overload else { panic!("no trimming") };
    assert_eq!((trim.size_bytes, trim.header_class, trim.classes), (64, 7, 0x7f));
    assert_eq!(
        (trim.victim, trim.full, trim.scheme),
        (Victim::Arriving, HeaderFull::Return, HeaderDestination::OwnQueue)
    );
    assert_eq!((trim.watermark, trim.tiers, header_queue), (None, 0xff, QueueLimit::Bytes(1_000_000)));
    let messages = |overload: &str| match with(overload).unwrap().setup.switch.overload {
        Overload::Trim { trim, header_queue, .. } => (trim, header_queue),
        other => panic!("{other:?}"),
    };
    let (cut, _) = messages("{ kind = \"cut-payload\", tiers = [1] }");
    assert_eq!(
        (cut.scheme, cut.full, cut.classes, cut.tiers),
        (HeaderDestination::SameQueue, HeaderFull::Drop, 0xff, 0b10)
    );
    let (sfc, queue) = messages("{ kind = \"sfc\", watermark = \"6 packets\", header_queue = \"50 packets\" }");
    assert_eq!((sfc.scheme, sfc.watermark), (HeaderDestination::Source, Some(QueueLimit::Packets(6))));
    assert_eq!(queue, QueueLimit::Packets(50));
}

#[test]
fn values_out_of_range() {
    for (overload, expected) in [
        ("{ kind = \"trim\", size = \"40B\" }", "`size` = 40B is out of range"),
        ("{ kind = \"trim\", size = \"9KB\" }", "none is longer than 1.062KB: nothing would be cut"),
        ("{ kind = \"trim\", size = \"70KB\" }", "`size` cannot be 70KB"),
        ("{ kind = \"trim\", victim = \"head\" }", "`victim` is \"head\"; expected one of arriving, tail, coin"),
        ("{ kind = \"trim\", header_class = 8 }", "`8` is out of range"),
        ("{ kind = \"trim\", header_class = 0 }", "behind the data that they must overtake"),
        ("{ kind = \"trim\", priorities = [] }", "the list of classes is empty"),
        ("{ kind = \"trim\", priorities = [3] }", "no class of the traffic is trimmed"),
        ("{ kind = \"trim\", tiers = [3] }", "no switch is in a tier that trims"),
        ("{ kind = \"trim\", tiers = [] }", "the list of tiers that trim is empty"),
        ("{ kind = \"trim\", watermark = \"2 packets\" }", "has no key `watermark`"),
        ("{ kind = \"cut-payload\", header_class = 3 }", "has no key `header_class`"),
        ("{ kind = \"sfc\", watermark = \"11 packets\" }", "the watermark exceeds the queue limit"),
    ] {
        let message = with(overload).map(|_| ()).expect_err(overload);
        assert!(message.contains(expected), "{overload}: {message}");
        let states_valid = message.contains("help: ") || message.contains("expected one of");
        assert!(message.contains("test.toml:") && states_valid, "{overload}: {message}");
    }
}

#[test]
fn what_must_be_true_elsewhere() {
    let pfc = |rest: &str| wrong("queue = \"10 packets\"", &format!("flow_control = {{ kind = \"pfc\", {rest} }}"));
    assert!(pfc("priorities = [0]").contains("no class of the traffic is trimmed"));
    assert!(pfc("priorities = [7]").contains("headers would wait in class 7, which is lossless"));
    let both = "flow_control = { kind = \"pfc\", priorities = [3] }\noverload = { kind = \"trim\", priorities = [3] }";
    let message = wrong("queue = \"10 packets\"\noverload = { kind = \"trim\" }", both);
    assert!(message.contains("class 3 is lossless"), "{message}");
    let shared = "overload = { kind = \"trim\", header_queue = \"1KB\" }";
    let message = wrong("queue = \"10 packets\"\noverload = { kind = \"trim\" }", shared);
    assert!(message.contains("`header_queue` and a shared buffer exclude each other"), "{message}");
    let long = "reply_class = 7\ntransport = { kind = \"roce\", header = \"100B\" }";
    assert!(wrong("reply_class = 7", long).contains("is smaller than the headers (100B)"));
    let warnings = |text: &str| lower(text).unwrap().warnings.iter().map(|w| w.key.clone()).collect::<Vec<_>>();
    assert_eq!(warnings(&GOOD.replace("reply_class = 7", "")), ["host.reply_class"]);
    let low =
        GOOD.replace("class = 0", "class = 4").replace("{ kind = \"trim\" }", "{ kind = \"trim\", header_class = 1 }");
    assert_eq!(warnings(&low), ["switch.overload.header_class"]);
}
