//! Summary lines about trimming in switch pipelines.

use record::pipelines::PipelineSummary;
use text::numbers::{counted, grouped, span_ps};

/// Returns the total counts of all pipelines, and the maximum recirculation queue if packets were recirculated.
pub fn lines(inside: &PipelineSummary) -> Vec<String> {
    let (trims, round) = (grouped(inside.ingress_trims), grouped(inside.recirculated));
    let mut lines = vec![format!("{trims} trimmed at ingress, {round} went round a recirculation port")];
    let each: Vec<_> =
        inside.switches.iter().flat_map(|switch| switch.pipelines.iter().map(move |one| (switch, one))).collect();
    // Of several pipelines with the maximum, the first is reported.
    let most = each.into_iter().rev().max_by_key(|(_, one)| one.max_waiting).filter(|(_, one)| one.max_waiting > 0);
    if let Some((switch, one)) = most {
        let waited = counted(one.max_waiting, "frame");
        let at = span_ps(one.max_waiting_at_ps);
        lines.push(format!("longest queue for one: {waited}, {} pipeline {} at {at}", switch.node, one.pipeline));
    }
    let signals =
        inside.switches.iter().flat_map(|switch| &switch.pipelines).map(|one| one.signals_received).sum::<u64>();
    if signals > 0 {
        let ports = inside.switches.iter().map(|switch| switch.ports.len() as u64).sum();
        let about = counted(ports, "port");
        lines.push(format!("{} heard, about {about}", counted(signals, "signal")));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::pipelines::{PipelineStatistics, PortMode, SwitchPipelines};

    #[test]
    fn the_longest_queue_is_reported_with_its_location() {
        let one = |pipeline, max_waiting, signals_received| PipelineStatistics {
            pipeline,
            max_waiting,
            max_waiting_at_ps: 1_500_000,
            signals_received,
            ..PipelineStatistics::default()
        };
        let switch = |node: &str, pipelines| SwitchPipelines { node: node.to_owned(), pipelines, ports: Vec::new() };
        let mut inside = PipelineSummary {
            ingress_trims: 1200,
            recirculated: 30,
            max_waiting: 7,
            switches: vec![switch("S1", vec![one(0, 0, 0), one(1, 7, 0)]), switch("S2", vec![one(0, 7, 0)])],
        };
        let expected = [
            "1,200 trimmed at ingress, 30 went round a recirculation port",
            "longest queue for one: 7 frames, S1 pipeline 1 at 1.5us",
        ];
        assert_eq!(lines(&inside), expected);
        inside.switches[1] = SwitchPipelines { ports: vec![PortMode::default()], ..switch("S2", vec![one(0, 0, 4)]) };
        assert_eq!(lines(&inside)[2], "4 signals heard, about 1 port");
        assert_eq!(lines(&PipelineSummary::default()), ["0 trimmed at ingress, 0 went round a recirculation port"]);
    }
}
