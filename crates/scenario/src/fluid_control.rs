//! `[model]` of a fluid model's file: the congestion control and its parameters.

use crate::section::Section;
use fluid::models::{Control, dcqcn, eccp, hetflow, timely};
use units::{Rate, Time};

/// Congestion controls that have a fluid model.
pub(crate) const KINDS: [&str; 5] = ["dcqcn", "timely", "patched-timely", "hetflow", "eccp"];

/// Converts a time to seconds.
pub(crate) fn seconds(time: Time) -> f64 {
    time.as_ps() as f64 / 1e12
}

/// Converts a rate to bit/s.
pub(crate) fn bps(rate: Rate) -> f64 {
    rate.as_bps() as f64
}

/// Reads the congestion control of `[model]`. Returns its kind and parameters.
pub(crate) fn control(section: &Section<'_, '_>) -> Option<(&'static str, Control)> {
    let kind = section.kind("fluid model", &KINDS);
    let control = match kind {
        Some("dcqcn") => dcqcn(section).map(Control::Dcqcn),
        Some("timely") => timely(section, false).map(Control::Timely),
        Some("patched-timely") => timely(section, true).map(Control::Timely),
        Some("hetflow") => hetflow(section).map(Control::HetFlow),
        Some(_) => eccp(section).map(Control::Eccp),
        None => None,
    };
    section.finish();
    kind.zip(control)
}

/// Reports an error at `key` unless `holds` is true.
fn require(section: &Section<'_, '_>, holds: bool, key: &str, message: &str, right: &str) {
    if !holds {
        section.fail(key, message, Some(format!("write {right}")));
    }
}

/// Reads a size above 0, in bits.
fn bits(section: &Section<'_, '_>, key: &'static str) -> Option<f64> {
    let size = section.size(key)?;
    require(section, size > 0, key, &format!("`{key}` is 0"), "a size above 0");
    Some(size as f64 * 8.0)
}

/// Reads a rate, in bit/s.
fn rate(section: &Section<'_, '_>, key: &'static str) -> Option<f64> {
    section.rate(key).map(bps)
}

fn span(section: &Section<'_, '_>, key: &'static str) -> Option<f64> {
    section.positive_time(key).map(seconds)
}

fn dcqcn(section: &Section<'_, '_>) -> Option<dcqcn::Parameters> {
    let gain = section.probability("gain");
    let times = ["cnp_interval", "alpha_timer", "increase_timer"].map(|key| span(section, key));
    let byte_counter = bits(section, "byte_counter");
    let stages = section.whole("recovery_stages", 1..=1000);
    let rates = (rate(section, "additive_increase"), rate(section, "min_rate"));
    let packet = bits(section, "packet");
    let (k_min, k_max) = (section.size("k_min"), section.size("k_max"));
    let p_max = section.probability("p_max");
    let mark_at = section.word("mark_at", &["dequeue", "enqueue"]);
    let averaging = section.word("averaging", &["paper", "cycles"]);
    let (gain, p_max, [cnp_interval, alpha_timer, increase_timer]) = (gain?, p_max?, times);
    require(section, gain > 0.0, "gain", "a gain of 0 never changes alpha", "a share above 0, like 0.00390625");
    require(section, p_max > 0.0, "p_max", "no packet would be marked", "a probability above 0, like 0.01");
    let (k_min, k_max) = (k_min? as f64 * 8.0, k_max? as f64 * 8.0);
    require(section, k_max > k_min, "k_max", "`k_max` is not above `k_min`", "a size above k_min");
    Some(dcqcn::Parameters {
        gain,
        cnp_interval: cnp_interval?,
        alpha_timer: alpha_timer?,
        increase_timer: increase_timer?,
        byte_counter: byte_counter?,
        recovery_stages: stages? as f64,
        additive_increase: rates.0?,
        min_rate: rates.1?,
        packet: packet?,
        k_min,
        k_max,
        p_max,
        at_enqueue: mark_at? == "enqueue",
        cycles: averaging? == "cycles",
    })
}

fn timely(section: &Section<'_, '_>, patched: bool) -> Option<timely::Parameters> {
    let (ewma, beta) = (section.probability("ewma"), section.number("beta", 0.0..=1e6));
    let rates = (rate(section, "additive_increase"), rate(section, "min_rate"));
    let [t_low, t_high, min_rtt] = ["t_low", "t_high", "min_rtt"].map(|key| span(section, key));
    let sizes = (bits(section, "segment"), bits(section, "packet"));
    let (ewma, beta, t_low, t_high) = (ewma?, beta?, t_low?, t_high?);
    require(section, ewma > 0.0, "ewma", "a weight of 0 never changes the gradient", "a share above 0, like 0.875");
    let message = format!("a gradient of 1 cuts by {beta} of the rate: rates would fall to 0 and below");
    require(section, beta > 0.0 && beta < 1.0, "beta", &message, "a number above 0 and below 1, like 0.8");
    require(section, t_high > t_low, "t_high", "`t_high` is not above `t_low`", "a time above t_low");
    Some(timely::Parameters {
        ewma,
        beta,
        additive_increase: rates.0?,
        t_low,
        t_high,
        min_rtt: min_rtt?,
        segment: sizes.0?,
        packet: sizes.1?,
        min_rate: rates.1?,
        patched,
    })
}

fn hetflow(section: &Section<'_, '_>) -> Option<hetflow::Parameters> {
    let (gain, scaling) = (section.number("gain", 0.0..=1e6), section.number("scaling", 0.0..=1e12));
    let (timer, recovery) = (span(section, "timer"), span(section, "recovery"));
    let byte_counter = bits(section, "byte_counter");
    let (quantum, min_rate) = (section.number("quantum", 0.0..=64.0), rate(section, "min_rate"));
    let slope_age = section.probability("slope_age");
    let gain = gain?;
    let cut = gain * hetflow::MOST_FEEDBACK;
    let message = format!("a feedback of 64 cuts by {cut} of the rate: rates would fall to 0 and below");
    require(section, gain > 0.0 && cut < 1.0, "gain", &message, "a gain above 0 and below 0.015625, like 0.0078125");
    Some(hetflow::Parameters {
        gain,
        scaling: scaling?,
        timer: timer?,
        byte_counter: byte_counter?,
        recovery: recovery?,
        quantum: quantum?,
        slope_age: slope_age?,
        min_rate: min_rate?,
    })
}

fn eccp(section: &Section<'_, '_>) -> Option<eccp::Parameters> {
    let (gain, largest_cut) = (section.number("gain", 0.0..=1e6), section.number("largest_cut", 0.0..=1e6));
    let (weight, available) = (section.number("weight", 0.0..=1e6), section.number("available", 0.0..=1.0));
    let (equilibrium, cycle) = (section.probability("equilibrium"), span(section, "cycle"));
    let byte_counter = bits(section, "byte_counter");
    let rates = (rate(section, "additive_increase"), rate(section, "min_rate"));
    let feedback = section.word("feedback", &["difference", "slope"]);
    let (gain, largest_cut, available) = (gain?, largest_cut?, available?);
    require(section, gain > 0.0, "gain", "a gain of 0 never lowers rates", "a gain above 0, like 0.78125");
    let message = format!("a cut by {largest_cut} of the rate gives 0 or less");
    require(
        section,
        largest_cut > 0.0 && largest_cut < 1.0,
        "largest_cut",
        &message,
        "a share above 0 and below 1, like 0.5",
    );
    let message = "the unused share must be above 0 and below 1";
    require(section, available > 0.0 && available < 1.0, "available", message, "a share above 0 and below 1, like 0.1");
    Some(eccp::Parameters {
        gain,
        largest_cut,
        weight: weight?,
        available,
        equilibrium: equilibrium?,
        cycle: cycle?,
        byte_counter: byte_counter?,
        additive_increase: rates.0?,
        min_rate: rates.1?,
        slope: feedback? == "slope",
    })
}
