//! Overrides of switch parameters: equal to a global setting if they cover all switches on the paths of frames; without
//! effect if they apply only to other switches.

use crate::bench::*;
use fabric::{FabricBuilder, NodeId};
use model::parameters::*;
use units::Time;

/// H1 to H4 at S1 and H5 at S2 send to H6 at S2, in two classes. No frame traverses S3. Returns the results as text.
fn run_with(switch: SwitchParameters, overrides: Vec<SwitchOverride>) -> String {
    let mut builder = FabricBuilder::new("three switches");
    let hosts: Vec<NodeId> = (1..=6).map(|at| builder.add_host(format!("H{at}"))).collect();
    let switches: Vec<NodeId> = (1..=3).map(|at| builder.add_switch(format!("S{at}"), 1)).collect();
    assert_eq!(switches, SWITCHES);
    for (at, &host) in hosts.iter().enumerate() {
        builder.connect(host, switches[usize::from(at >= 4)], link(100, 500));
    }
    builder.connect(switches[0], switches[1], link(100, 500));
    builder.connect(switches[1], switches[2], link(100, 500));
    let flows = (0..5).map(|src| traffic::Flow { class: 2 + (src % 2) as u8, ..flow(src, 5, 400_000) });
    let base = setup(builder.build().unwrap(), plan(6, flows));
    let host = HostParameters { transport: transport("dcqcn", &[]), ..base.host };
    let results = run(Setup { switch, overrides, host, duration: Time::from_ms(1), ..base });
    format!("{:?} {:?} {:?}", results.flows, results.pauses, results.summary.packets)
}

const SWITCHES: [NodeId; 3] = [NodeId(6), NodeId(7), NodeId(8)];

fn shared(bytes: u64, egress_bytes: u64) -> SwitchParameters {
    let buffer = Buffer::Shared { bytes, egress: Threshold::Static { bytes: egress_bytes } };
    SwitchParameters { buffer, ..SwitchParameters::default() }
}

fn pfc(xoff_bytes: u64, xon_offset_bytes: u64, headroom_bytes: Option<u64>) -> SwitchParameters {
    let pause = PauseParameters { classes: 0b1100, xon_offset_bytes, headroom_bytes, ..pause(xoff_bytes) };
    SwitchParameters { flow_control: FlowControl::Pfc(pause), ..shared(2_000_000, 1_000_000) }
}

#[test]
fn overrides_of_the_switches_on_the_path_equal_a_common_setting() {
    let none = SwitchOverride::default;
    let queues = |limit| SwitchParameters { buffer: Buffer::PerQueue { limit }, ..SwitchParameters::default() };
    let ecn = Marking::Ecn(EcnParameters {
        k_min_bytes: 9_000,
        k_max_bytes: Some(9_000),
        p_max: 1.0,
        of_rate: None,
        at: MarkEvent::Enqueue,
    });
    let wrr = Scheduler::Wrr { weights: [1, 1, 5, 1, 1, 1, 1, 1] };
    let plain = shared(2_000_000, 1_000_000);
    let cases = [
        ("buffer", plain, shared(100_000, 1_000_000), SwitchOverride { buffer_bytes: Some(100_000), ..none() }),
        (
            "egress",
            plain,
            shared(2_000_000, 50_000),
            SwitchOverride { egress: Some(Threshold::Static { bytes: 50_000 }), ..none() },
        ),
        (
            "queue",
            queues(QueueLimit::Packets(1_000)),
            queues(QueueLimit::Packets(30)),
            SwitchOverride { queue: Some(QueueLimit::Packets(30)), ..none() },
        ),
        (
            "xoff",
            pfc(60_000, 3_000, None),
            pfc(20_000, 3_000, None),
            SwitchOverride { xoff: Some(Threshold::Static { bytes: 20_000 }), ..none() },
        ),
        (
            "xon",
            pfc(60_000, 3_000, None),
            pfc(60_000, 30_000, None),
            SwitchOverride { xon_offset_bytes: Some(30_000), ..none() },
        ),
        (
            "headroom",
            pfc(60_000, 3_000, None),
            pfc(60_000, 3_000, Some(2_000)),
            SwitchOverride { headroom_bytes: Some(Some(2_000)), ..none() },
        ),
        (
            "headroom, computed",
            pfc(60_000, 3_000, Some(2_000)),
            pfc(60_000, 3_000, None),
            SwitchOverride { headroom_bytes: Some(None), ..none() },
        ),
        ("marking", plain, SwitchParameters { marking: ecn, ..plain }, SwitchOverride { marking: Some(ecn), ..none() }),
        (
            "scheduler",
            plain,
            SwitchParameters { scheduler: wrr, ..plain },
            SwitchOverride { scheduler: Some(wrr), ..none() },
        ),
    ];
    for (what, base, changed, otherwise) in cases {
        let [s1, s2, s3] = SWITCHES;
        let at = |switches: &[NodeId]| SwitchOverride { switches: switches.to_vec(), ..otherwise.clone() };
        let (as_all, as_base) = (run_with(changed, Vec::new()), run_with(base, Vec::new()));
        assert_ne!(as_all, as_base, "{what}: the case shows nothing");
        assert_eq!(run_with(base, vec![at(&[s1, s2])]), as_all, "{what}");
        assert_eq!(run_with(base, vec![at(&[s1]), at(&[s2])]), as_all, "{what}, one by one");
        assert_eq!(run_with(base, vec![at(&[s3])]), as_base, "{what}, where nothing passes");
    }
}

#[test]
fn of_several_that_concern_a_switch_the_last_decides_key_by_key() {
    let [s1, s2, _] = SWITCHES;
    let base = pfc(60_000, 3_000, None);
    let xoff = |bytes| SwitchOverride {
        switches: vec![s1, s2],
        xoff: Some(Threshold::Static { bytes }),
        ..SwitchOverride::default()
    };
    let xon = SwitchOverride { switches: vec![s1, s2], xon_offset_bytes: Some(9_000), ..SwitchOverride::default() };
    assert_eq!(run_with(base, vec![xoff(30_000), xon, xoff(20_000)]), run_with(pfc(20_000, 9_000, None), Vec::new()));
}

#[test]
fn the_last_override_of_a_port_applies() {
    let ecn = |k: u64| {
        Marking::Ecn(EcnParameters {
            k_min_bytes: k,
            k_max_bytes: Some(k),
            p_max: 1.0,
            of_rate: None,
            at: MarkEvent::Dequeue,
        })
    };
    let plain = shared(2_000_000, 1_000_000);
    let [s1, s2, _] = SWITCHES;
    let marking = |switches: &[NodeId], ports: &[(NodeId, u16)], marking| SwitchOverride {
        switches: switches.to_vec(),
        ports: ports.to_vec(),
        marking: Some(marking),
        ..SwitchOverride::default()
    };
    // Port 4 of S1 leads to S2, and port 1 of S2 to the receiver; only these two ports have queues.
    let busy = [(s1, 4), (s2, 1)];
    let all = run_with(SwitchParameters { marking: ecn(9_000), ..plain }, Vec::new());
    let none = run_with(plain, Vec::new());
    assert_ne!(all, none);
    assert_eq!(run_with(plain, vec![marking(&[], &busy, ecn(9_000))]), all);
    assert_eq!(run_with(plain, vec![marking(&[], &[(s1, 0), (s2, 0)], ecn(9_000))]), none);
    assert_ne!(run_with(plain, vec![marking(&[], &busy[..1], ecn(9_000))]), all, "the second port matters");
    // A later override of the whole switch also applies to ports with an earlier override.
    let later = vec![marking(&[], &busy, ecn(500_000)), marking(&[s1, s2], &[], ecn(9_000))];
    assert_eq!(run_with(plain, later), all);
    let scheduler = Scheduler::Wrr { weights: [1, 1, 5, 1, 1, 1, 1, 1] };
    let scheduled = |ports: &[(NodeId, u16)]| SwitchOverride {
        ports: ports.to_vec(),
        scheduler: Some(scheduler),
        ..SwitchOverride::default()
    };
    let weighted = run_with(SwitchParameters { scheduler, ..plain }, Vec::new());
    assert_ne!(weighted, none);
    assert_eq!(run_with(plain, vec![scheduled(&busy)]), weighted);
    assert_eq!(run_with(plain, vec![scheduled(&[(s1, 1)])]), none);
}
