  const runs = DATA.runs;
  const labels = runs.map((run) => run.label);
  const dropped = (run) => Object.values(run.summary.packets.dropped).reduce((a, b) => a + b, 0);
  const side = (rows) => table(["", ...labels], rows.map(([name, pick]) => [name, ...runs.map(pick)]));
  const fct = (key) => (run) => run.summary.flows.fct_ns ? run.summary.flows.fct_ns[key] / 1000 : null;

  for (const run of runs) {
    const { deadlock, warnings, partial } = run.summary;
    if (deadlock) {
      const edges = deadlock.cycle.map((edge) => element("li", {}, `${edge.node} port ${edge.port} class ${edge.class} is paused by ${edge.peer}`));
      main.append(element("div", { class: "alarm" }, element("b", {}, `${run.label}: deadlock, closed at ${digits(deadlock.closed_ps / 1e6)} us`), element("ul", {}, ...edges)));
    }
    if (partial) main.append(element("div", { class: "alarm" }, `${run.label} was interrupted: everything holds up to ${digits(run.summary.simulated_ps / 1e6)} us`));
    for (const warning of warnings) main.append(note(`${run.label}: ${warning}`));
  }

  section("Runs", side([
    ["scenario", (run) => run.summary.scenario.name],
    ["hash", (run) => run.summary.scenario.hash.slice(0, 12)],
    ["seed", (run) => run.summary.scenario.seed],
    ["version", (run) => run.summary.scenario.version],
    ["simulated, us", (run) => run.summary.simulated_ps / 1e6],
    ["packet-hops", (run) => run.summary.packet_hops],
    ["packets sent", (run) => run.summary.packets.injected],
    ["packets dropped", (run) => ({ text: dropped(run), mark: dropped(run) > 0 ? "bad" : "" })],
    ["marks", (run) => run.summary.happened.marks],
    ["retransmissions", (run) => run.summary.happened.retransmissions],
    ["bytes delivered", (run) => run.summary.bytes.delivered],
    ["flows completed", (run) => `${digits(run.summary.flows.completed)} of ${digits(run.summary.flows.started)}`],
    ["FCT mean, us", fct("mean")], ["FCT p50, us", fct("p50")], ["FCT p99, us", fct("p99")],
    ["slowdown p50", (run) => run.summary.flows.slowdown && run.summary.flows.slowdown.p50],
    ["slowdown p99", (run) => run.summary.flows.slowdown && run.summary.flows.slowdown.p99],
    ["delay p99, us", (run) => run.summary.delay_ns && run.summary.delay_ns.p99 / 1000],
    ["pauses", (run) => run.summary.pauses.count],
    ["time paused, us", (run) => run.summary.pauses.total_ps / 1e6],
    ["deadlock", (run) => run.summary.deadlock ? { text: "yes", mark: "bad" } : "none"],
  ]));

  replays();

  const bySize = runs.map((run) => ({ run, bins: run.summary.flows.slowdown ? run.summary.flows.slowdown.by_decade : [] })).filter(({ bins }) => bins.length);
  if (bySize.length) {
    const curves = ["p50", "p99"].flatMap((key) => bySize.map(({ run, bins }) => ({
      name: `${run.label} ${key}`, x: bins.map((bin) => bin.to_bytes / 1000), y: bins.map((bin) => bin[key]),
    })));
    const rows = bySize.flatMap(({ run, bins }) => bins.map((bin) => [run.label, `${bytes(bin.from_bytes)} to ${bytes(bin.to_bytes)}`, bin.count, bin.mean, bin.p50, bin.p95, bin.p99]));
    section("Slowdown by flow size",
      bySize.some(({ bins }) => bins.length > 1) ? figure({ title: "Slowdown by flow size", x: "flow size up to, KB", y: "slowdown", curves, logX: true }) : null,
      table(["run", "size", "flows", "mean", "p50", "p95", "p99"], rows));
  }
  const cdf = (key) => runs.filter((run) => run[key]).map((run) => run[key]);
  if (cdf("fct").length) {
    section("Completion times",
      figure({ title: "Completion times", x: "FCT, us", y: "flows, %", curves: cdf("fct"), logX: true, step: true }),
      cdf("slowdown").length ? figure({ title: "Slowdowns", x: "slowdown", y: "flows, %", curves: cdf("slowdown"), logX: true, step: true }) : null);
  }
  // Over time: all runs in one figure where they share names would be unreadable, so a figure a run.
  const over = (key, title, y) => {
    const some = runs.filter((run) => run[key].length);
    if (!some.length) return;
    section(title, ...some.map((run) => figure({ title: runs.length > 1 ? `${title}: ${run.label}` : title, x: "time, us", y, curves: run[key] })),
      key === "queues" ? note(some.map((run) => `${run.label}: the ${run.queues.length} longest of ${digits(run.queues_recorded)} queues that held something`).join("; ")) : null);
  };
  over("throughput", "Throughput", "Gbps");
  const controlled = runs.filter((run) => run.controls.length);
  if (controlled.length) {
    section("Congestion control", ...controlled.flatMap((run) => run.controls.map((panel) => figure({
      title: runs.length > 1 ? `${panel.title}: ${run.label}` : panel.title, x: "time, us", y: panel.unit, curves: panel.curves,
    }))));
  }
  over("queues", "Queues", "KB");
  over("utilisation", "Link utilisation", "% of the rate");
  const paused = runs.filter((run) => run.pauses.length);
  if (paused.length) {
    section("Pauses", ...paused.map((run) => figure({ title: runs.length > 1 ? `Pauses: ${run.label}` : "Pauses", x: "time, us", rows: run.pauses })),
      note(paused.map((run) => `${run.label}: ${digits(run.pauses_recorded)} pauses heard; the ports that were stopped longest`).join("; ")));
  }
  const losses = runs.flatMap((run) => run.summary.losses.map((loss) => [run.label, loss.node, loss.cause, loss.packets]));
  const causes = runs.flatMap((run) => Object.entries(run.summary.packets.dropped).map(([cause, packets]) => [run.label, cause, packets]));
  section("Drops", causes.length ? table(["run", "cause", "packets"], causes) : note("No packet was dropped."),
    losses.length ? table(["run", "lost at", "cause", "packets"], losses) : null);
  section("Busiest ports", table(["run", "port", "towards", "utilisation, %", "longest queue, bytes", "stopped, us"],
    runs.flatMap((run) => run.summary.links.busiest.slice(0, 8).map((port) => [run.label, `${port.node} port ${port.port}`, port.peer, port.utilisation * 100, port.max_queue_bytes, port.paused_ps / 1e6]))));
  section("Checks", table(["run", "check", "", "detail"],
    runs.flatMap((run) => run.summary.checks.map((check) => [run.label, check.name, { text: check.pass ? "ok" : "FAIL", mark: check.pass ? "good" : "bad" }, { text: check.detail, left: true }]))));
  section("Scenarios", ...runs.map((run) => element("details", {},
    element("summary", {}, `${run.label}: ${run.folder}, results ${run.summary.results_hash.slice(0, 12)}`), element("pre", {}, run.scenario))));

