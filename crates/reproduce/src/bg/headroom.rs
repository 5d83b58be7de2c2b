//! Figure 1.4: PFC headroom required as a function of cable length.

use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::registry::{Choice, HEADROOM};
use crate::trial::Trial;
use protocols::headroom::{Conditions, Headroom};
use protocols::reaction::Reaction;
use text::{Layout, table};
use units::{Rate, Time, WIRE_OVERHEAD_BYTES};

/// Reaction time of a port to a pause frame. The standard bounds it; the source does not specify it.
const REACTIONS: &[&str] = &["0ns", "\"1000 bit times\"", "\"61440 bit times\"", "standard"];
/// Parameter that the source does not specify.
pub const CHOICES: &[Choice] =
    &[Choice { source: &HEADROOM, key: "switch.flow_control.reaction", alternatives: REACTIONS }];

/// Frame size in the scenario, in bytes from destination address to FCS.
const FRAME: u64 = 1518;
/// Cable lengths in m; the propagation delay is 5 ns per metre.
const METRES: [u64; 6] = [1, 10, 100, 300, 1_000, 10_000];
/// Number of start offsets of the third flow (`traffic.2.start`) within one frame time. The offset determines which
/// part of a frame is already sent when a pause frame must wait for it.
const PHASES: u64 = 6;

struct Cable<'a> {
    trial: &'a Trial,
    delay: Time,
    rate: Rate,
}

impl Cable<'_> {
    /// Returns the number of lossless frames that are lost with this headroom, for the start offset with the largest
    /// loss.
    fn lost(&self, headroom: Option<u64>) -> Result<u64, Failure> {
        let frame = self.rate.serialise(FRAME + WIRE_OVERHEAD_BYTES);
        let mut worst = 0;
        for phase in 0..PHASES {
            // The run is long enough for the ingress account to reach XOFF and for the pause to take effect.
            let duration = self.rate.serialise(300_000) + self.delay * 4;
            let mut changes = vec![
                ("fabric.link.delay", format!("\"{}ns\"", self.delay.as_ps() / 1000)),
                ("traffic.2.start", format!("\"{}ps\"", (frame * phase / PHASES).as_ps())),
                ("duration", format!("\"{}ns\"", duration.as_ps() / 1000)),
            ];
            if let Some(bytes) = headroom {
                changes.push(("switch.flow_control.headroom", format!("\"{bytes}B\"")));
            }
            worst = worst.max(self.trial.run(&HEADROOM, &changes)?.overflowed());
        }
        Ok(worst)
    }

    /// Returns the minimum headroom without loss, in frames. Bisection is valid because the loss does not increase with
    /// the headroom.
    fn least_frames(&self, mut enough: u64) -> Result<u64, Failure> {
        let mut too_few = 0;
        while enough - too_few > 1 {
            let middle = (enough + too_few) / 2;
            if self.lost(Some(middle * FRAME))? == 0 {
                enough = middle;
            } else {
                too_few = middle;
            }
        }
        Ok(enough)
    }
}

/// Runs the experiment `bg/fig1.4`.
pub fn headroom(trial: &mut Trial) -> Result<(), Failure> {
    let lengths = trial.shorten("cable lengths", METRES.len() as u64, 3) as usize;
    let setup = trial.setup(&HEADROOM, &[])?;
    let rate = setup.fabric.links()[0].rate;
    let reaction = setup.switch.flow_control.reaction().unwrap_or(Reaction::Standard);
    let mtu = FRAME + WIRE_OVERHEAD_BYTES;
    let mut rows = Vec::new();
    let mut checks = Vec::new();
    for &metres in METRES.iter().step_by(METRES.len() / lengths) {
        let cable = Cable { trial, delay: Time::from_ns(5 * metres), rate };
        let computed = Headroom::of(rate, cable.delay, &Conditions::new(FRAME, reaction, 1)).bytes;
        // Formula of the source, in bytes on the wire: 2 C t_prop + C (t_pause + t_reaction) + 3 MTU, where C is the
        // link rate.
        let wire = |time: Time| time.as_ps() as f64 * rate.as_bps() as f64 / 8e12;
        let formula = wire(cable.delay * 2) + (64.0 + 20.0) + wire(reaction.on(rate)) + 3.0 * mtu as f64;
        let least = cable.least_frames(computed / FRAME + 8)?;
        let (stored, on_wire) = (least * FRAME, least * mtu);
        let loses = cable.lost(Some(stored - FRAME))?;
        rows.push(vec![
            format!("{metres} m"),
            computed.to_string(),
            stored.to_string(),
            on_wire.to_string(),
            loses.to_string(),
        ]);
        let note = "as bytes of the wire: each frame costs 20 bytes of time for which no buffer is needed";
        let at = |what: &str| format!("{metres} m: {what}");
        let exact = |name: String, unit, ours: u64, relation, paper: f64| {
            Check::exact(name, unit, ours as f64, relation, paper)
        };
        let lost = cable.lost(None)?;
        checks.push(exact(at("frames lost with the computed headroom"), "frames", lost, Relation::Equal, 0.0));
        let name = at("the computed headroom is that of the formula");
        let computed_on_wire = computed as f64 * mtu as f64 / FRAME as f64;
        checks.push(Check::new(name, "B", computed_on_wire, Relation::Equal, formula, 2.0).consistency().note(note));
        let name = at("the computed headroom is at most two frames above the smallest without loss");
        checks.push(exact(name, "B", computed, Relation::AtMost, (stored + 2 * FRAME) as f64).consistency());
        let name = at("the smallest headroom without loss is at most the computed");
        checks.push(Check::new(name, "B", on_wire as f64, Relation::AtMost, formula, 0.0).note(note));
        let name = at("and within two frames of it");
        checks
            .push(Check::new(name, "B", on_wire as f64, Relation::AtLeast, formula - 2.0 * mtu as f64, 0.0).note(note));
        let name = at("negative control: frames lost with one frame less than the smallest");
        checks.push(exact(name, "frames", loses, Relation::Above, 0.0).consistency());
        let two_less = cable.lost(Some(computed - 2 * FRAME))?;
        let name = at("negative control: frames lost with two frames less than computed");
        checks.push(exact(name, "frames", two_less, Relation::Above, 0.0).consistency().note(note));
    }
    trial.show(
        "  headroom in bytes: computed, the smallest without loss as stored and as on the wire, and frames lost with \
         one less\n",
    );
    trial.show(&table(&["cable", "computed", "smallest", "on the wire", "lost"], &rows, 1, Layout::Fixed, 2));
    checks.into_iter().for_each(|check| trial.check(check));
    Ok(())
}
