//! Stability of a fluid model, as text and JSON.

use fluid::models::Control;
use fluid::stability::{Report, Verdict, report, thesis};
use scenario::FluidFile;
use serde_json::{Value, json};
use std::fmt::Write as _;
use text::numbers::{rate, size, span};

/// The fixed point, and the values of the stability conditions of the thesis.
pub struct FixedPointReport {
    report: Result<Report, String>,
    thesis_lines: Vec<String>,
}

impl FixedPointReport {
    /// Analyses the fluid model of a file.
    pub fn of(file: &FluidFile) -> FixedPointReport {
        FixedPointReport { report: report(&*file.model()), thesis_lines: thesis_lines(file) }
    }

    /// Returns the text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail.
        match &self.report {
            Err(why) => {
                let _ = writeln!(text, "fixed point   none: {why}");
            }
            Ok(report) => {
                let rates: Vec<String> = report.rates.iter().map(|bps| rate(*bps)).collect();
                let queue = size((report.queue / 8.0).round() as u64);
                let _ = writeln!(text, "fixed point   {} per flow, queue {queue}", rates.join(", "));
                let _ = writeln!(text, "verdict       {}", verdict(report));
                for (at, root) in report.roots.iter().enumerate() {
                    let label = if at == 0 { "roots, 1/s" } else { "" };
                    // A root with an absolute value below 1e-6 is a rounding error of 0.
                    let real = if root.norm() < 1e-6 { "0".to_owned() } else { format!("{:.4e}", root.re) };
                    let imaginary = if root.im == 0.0 { String::new() } else { format!(" +- {:.4e} i", root.im) };
                    let _ = writeln!(text, "{label:<14}{real}{imaginary}");
                }
                if let Some(radius) = report.neutral_radius {
                    let _ = writeln!(text, "neutral       radius {radius:.4}; above 1 unstable");
                }
            }
        }
        for (at, line) in self.thesis_lines.iter().enumerate() {
            let label = if at == 0 { "thesis" } else { "" };
            let _ = writeln!(text, "{label:<14}{line}");
        }
        text
    }

    /// Returns JSON.
    pub fn json(&self) -> Value {
        let report = match &self.report {
            Err(why) => json!({ "fixed_point": null, "why": why }),
            Ok(report) => json!({
                "fixed_point": { "rates_bps": report.rates, "queue_bytes": report.queue / 8.0 },
                "verdict": word(report.verdict),
                "roots_per_s": report.roots.iter().map(|root| [root.re, root.im]).collect::<Vec<_>>(),
                "neutral_radius": report.neutral_radius,
                "rtt_factor": report.rtt_factor,
            }),
        };
        json!({ "linear": report, "thesis": self.thesis_lines })
    }
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Stable => "stable",
        Verdict::Marginal => "marginal",
        Verdict::Unstable => "unstable",
    }
}

fn verdict(report: &Report) -> String {
    let meaning = match report.verdict {
        Verdict::Stable => "stable: all small disturbances decay",
        Verdict::Marginal => "marginal: no small disturbance grows, and one persists",
        Verdict::Unstable => "unstable: a small disturbance grows",
    };
    let margin = match (report.rtt_factor, report.verdict) {
        (Some(factor), Verdict::Unstable) => format!("; stable with round trips below {factor:.4} times these"),
        (Some(factor), _) => format!("; until round trips are {factor:.4} times as long"),
        (None, Verdict::Unstable) => "; down to a hundredth of these round trips".to_owned(),
        (None, _) => "; up to a hundred times these round trips".to_owned(),
    };
    meaning.to_owned() + &margin
}

/// Returns the values of the thesis's stability conditions for this file, as printed and as corrected.
fn thesis_lines(file: &FluidFile) -> Vec<String> {
    let flows: f64 = file.flows.iter().map(|flows| f64::from(flows.count)).sum();
    let tau = file.flows.iter().map(|flows| flows.rtt).fold(0.0, f64::max);
    match &file.control {
        Control::Eccp(parameters) => {
            let lemma = thesis::Lemma21::of(parameters, flows);
            let least = thesis::least_byte_counter(file.bottleneck.rate, flows, parameters.cycle, tau);
            let roots = thesis::second_order_roots(parameters, flows, tau / parameters.cycle);
            let positive = roots.iter().filter(|root| root.0 > 0.0).count();
            vec![
                format!(
                    "lemma 2.1: tau / T = {:.4} below {:.4} as printed, {:.4} with its sign corrected",
                    tau / parameters.cycle,
                    lemma.printed_limit(),
                    lemma.corrected_limit()
                ),
                format!("its second-order model has {positive} of 2 roots with positive real part"),
                format!("lemma 2.2: byte counter above {}", size((least / 8.0).round() as u64)),
            ]
        }
        Control::HetFlow(parameters) => {
            let eta = (parameters.byte_counter * flows / file.bottleneck.rate).min(parameters.timer);
            let (slope, product) =
                (thesis::hetflow_slope(parameters, eta, tau), thesis::hetflow_product(parameters, eta, tau));
            vec![
                format!(
                    "equation 3.18: dR'/dR = {slope:.4e} 1/s at eta = {}; stable below 0 by the thesis",
                    span(eta * 1e9)
                ),
                format!(
                    "the condition approximated by 3.18: Gd Kc (eta + tau) / eta = {product:.4}, stable below pi / 2"
                ),
            ]
        }
        Control::Dcqcn(_) | Control::Timely(_) => Vec::new(),
    }
}
