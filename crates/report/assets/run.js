  // Sections of the page.
  const section = (title, ...parts) => {
    const found = parts.flat().filter(Boolean);
    // Omit a title that only repeats the heading.
    for (const part of found) if (part.plot && part.plot.title === title) part.classList.add("same");
    main.append(element("h2", {}, title), ...found);
  };
  const runs = DATA.runs;
  const labels = runs.map((run) => run.label);
  const dropped = (run) => Object.values(run.summary.packets.dropped).reduce((a, b) => a + b, 0);
  const checkOf = (run, name) => run.summary.checks.find((check) => check.name === name);
  // A scenario may expect a deadlock: the check then passes because of it.
  const expected = (run) => run.summary.deadlock !== null && Boolean((checkOf(run, "deadlock") || {}).pass);
  const marked = (value, bad) => bad ? { ...(typeof value === "object" && value ? value : { text: value }), mark: "bad" } : value;
  const of = (run, title) => runs.length > 1 ? `${title}: ${run.label}` : title;
  // A statistic of completed flows, with its coverage of the started ones.
  const covered = (run, value) => {
    const { completed, unfinished } = run.summary.flows;
    if (!unfinished || value === null || value === undefined) return value;
    const { text, ...rest } = typeof value === "object" ? value : { text: digits(value), csv: value };
    return { ...rest, text: `${text} [${digits(completed)}/${digits(completed + unfinished.count)}]` };
  };
  const axis = (kind, more = {}) => ({ kind, ...more });
  const TIME = { kind: "us", time: true };

  for (const run of runs) {
    const { deadlock, warnings, partial } = run.summary;
    const at = (ps) => quantity("us", ps / 1e6, 6);
    if (run.damage.length) {
      main.append(element("div", { class: "alarm" }, element("b", {}, `${run.label} is damaged. The readable parts are shown.`), element("ul", {}, ...run.damage.map((what) => element("li", {}, what)))));
    }
    if (deadlock) {
      const edges = deadlock.cycle.map((edge) => element("li", {}, `${edge.node} port ${edge.port} class ${edge.class} is paused by ${edge.peer}`));
      main.append(element("div", { class: expected(run) ? "notice" : "alarm" },
        element("b", {}, `${run.label}: deadlock, closed at ${at(deadlock.closed_ps)}${expected(run) ? ", as expected by the scenario" : ""}`), element("ul", {}, ...edges)));
    }
    if (partial) main.append(element("div", { class: "alarm" }, `${run.label} was interrupted: results are complete up to ${at(run.summary.simulated_ps)}`));
    for (const warning of warnings) main.append(note(`${run.label}: ${warning}`));
  }

  // The runs side by side; rows without a value in any run are omitted.
  const rowsOfRuns = [
    ["scenario", (run) => run.summary.scenario.name],
    ["seed", (run) => ({ text: String(run.summary.scenario.seed) })],
    ["simulated", (run) => amount("us", run.summary.simulated_ps / 1e6), "us"],
    ["packets sent", (run) => run.summary.packets.injected],
    ["packets dropped", (run) => marked(dropped(run), dropped(run) > 0)],
    ["trims", (run) => run.summary.event_counts.trims || null],
    ["bounces and detours", (run) => run.summary.event_counts.bounces + run.summary.event_counts.detours || null],
    ["marks", (run) => run.summary.event_counts.marks],
    ["retransmissions", (run) => run.summary.event_counts.retransmissions],
    ["timeouts", (run) => run.summary.flows.timeouts],
    ["goodput", (run) => run.summary.goodput && amount("bps", run.summary.goodput.bps), "bps"],
    ["flows completed", (run) => marked(`${digits(run.summary.flows.completed)} of ${digits(run.summary.flows.started)}`, false)],
    ...["mean", "p50", "p99"].map((key) => [`FCT ${key}`, (run) => run.summary.flows.fct_ns && (key !== "p99" || run.summary.flows.fct_ns.count > 1) ? covered(run, amount("ns", run.summary.flows.fct_ns[key])) : null, "ns"]),
    ["slowdown p50", (run) => run.summary.flows.slowdown && covered(run, run.summary.flows.slowdown.p50)],
    ["slowdown p99", (run) => run.summary.flows.slowdown && run.summary.flows.completed > 1 ? covered(run, run.summary.flows.slowdown.p99) : null],
    ["delay p99", (run) => run.summary.delay_ns && amount("ns", run.summary.delay_ns.p99), "ns"],
    ["longest queue", (run) => {
      const port = run.summary.links.longest_queues[0];
      return port && port.max_queue_bytes > 0 ? { text: `${bytes(port.max_queue_bytes)}, ${port.node} port ${port.port}`, csv: port.max_queue_bytes } : null;
    }, "bytes"],
    ["pauses", (run) => run.summary.pauses.count],
    ["time paused, all ports", (run) => amount("us", run.summary.pauses.total_ps / 1e6), "us"],
    ["deadlock", (run) => run.summary.deadlock ? { text: expected(run) ? "yes, as expected" : "yes", mark: expected(run) ? "" : "bad" } : "none"],
    ["version", (run) => run.summary.scenario.version],
  ].map(([name, pick, unit]) => [unit ? { text: name, csv: `${name}, ${unit}` } : name, ...runs.map(pick)])
    .filter(([, ...cells]) => cells.some((cell) => cell !== null && cell !== undefined));
  const incomplete = runs.filter((run) => run.summary.flows.unfinished);
  section("Runs", table(["", ...labels], rowsOfRuns), incomplete.length ? note(`${runs.length > 1 ? "Undecided: columns with different sets of completed flows cannot be compared, since mostly slow flows are missing. " : ""}[completed/started]: of the completed flows only. ${incomplete.map((run) => {
    const { count, size_p25_bytes } = run.summary.flows.unfinished;
    return `${run.label}: ${digits(count)} flows unfinished${size_p25_bytes ? `, mostly above ${bytes(size_p25_bytes)}` : ""}`;
  }).join("; ")}.`) : null);

  const byTraffic = runs.flatMap((run) => run.summary.flows.by_traffic.map((entry) => [run.label, entry.label || run.labels[entry.traffic] || `traffic ${entry.traffic}`,
    entry.started, entry.completed, amount("bytes", entry.completed_bytes), ...["mean", "p50", "p99"].map((key) => entry.fct_ns && amount("ns", entry.fct_ns[key]))]));
  if (byTraffic.length > runs.length) {
    section("By traffic", table(["run", "traffic", "flows started", "completed", { text: "payload", csv: "payload, bytes" },
      ...["mean", "p50", "p99"].map((key) => ({ text: `FCT ${key}`, csv: `FCT ${key}, ns` }))], byTraffic));
  }

  const collectives = runs.flatMap((run) => (run.summary.collectives || []).map((entry) => [run.label, run.labels[entry.traffic] || `traffic ${entry.traffic}`,
    `${entry.operation}, ${entry.algorithm}`, entry.ranks, amount("bytes", entry.size_bytes), `${entry.completed} of ${entry.iterations}`,
    ...["min", "mean", "max"].map((key) => entry.time_ns && amount("ns", entry.time_ns[key])), amount("bps", entry.algorithm_bps), amount("bps", entry.bus_bps)]));
  if (collectives.length) {
    section("Collectives", table(["run", "traffic", "operation", "ranks", { text: "size", csv: "size, bytes" }, "iterations",
      ...["least", "mean", "most"].map((key) => ({ text: `${key} time`, csv: `${key} time, ns` })), { text: "algorithm bandwidth", csv: "algorithm bandwidth, bps" }, { text: "bus bandwidth", csv: "bus bandwidth, bps" }], collectives));
  }

  replays();

  // Slowdown by size: a box from the 25th to the 75th percentile, whiskers from the 5th to the 95th.
  const boxed = runs.filter((run) => run.boxes.length);
  const sizeName = (bin) => bin.above_bytes === 0 ? `≤ ${bytes(bin.to_bytes)}` : bin.to_bytes > 1e12 ? `> ${bytes(bin.above_bytes)}` : `≤ ${bytes(bin.to_bytes)}`;
  const bySize = runs.map((run) => ({ run, bins: run.summary.flows.slowdown ? run.summary.flows.slowdown.by_decade : [] })).filter(({ bins }) => bins.length);
  if (boxed.length || bySize.length) {
    const bounds = [...new Map(boxed.flatMap((run) => run.boxes).map((bin) => [bin.to_bytes, bin])).values()].sort((a, b) => a.to_bytes - b.to_bytes);
    const find = (run, index) => run.boxes.find((bin) => bin.to_bytes === (bounds[index] || {}).to_bytes);
    const share = Math.min(0.76 / Math.max(1, boxed.length), 0.1 + 0.07 * bounds.length), half = Math.min(0.16, share * 0.4);
    const boxes = boxed.length ? plot({
      title: "Slowdown by flow size", caption: "box: middle half of the flows, bar: median, whiskers: 5 to 95 %", step: null,
      x: { names: bounds.map(sizeName) }, y: { kind: "", log: greatestOf(boxed.flatMap((run) => run.boxes.map((bin) => bin.at[4]))) > 20 },
      ends: () => boxed.flatMap((run) => run.boxes.flatMap((bin) => [bin.at[0], bin.at[4]])),
      legend: boxed.map((run, index) => boxed.length > 1 ? legendOf(() => colorOf(index), run.label) : null).filter(Boolean),
      marks: (pen) => boxed.forEach((run, which) => bounds.forEach((_, index) => {
        const bin = find(run, index);
        if (!bin) return;
        const middle = index + (which - (boxed.length - 1) / 2) * share, color = colorOf(which);
        pen.line(middle, bin.at[0], middle, bin.at[1], color);
        pen.line(middle, bin.at[3], middle, bin.at[4], color);
        for (const end of [0, 4]) pen.line(middle - half / 2, bin.at[end], middle + half / 2, bin.at[end], color);
        pen.rect(middle - half, bin.at[1], middle + half, bin.at[3], `${color}55`);
        pen.rect(middle - half, bin.at[1], middle + half, bin.at[3], color, true);
        pen.line(middle - half, bin.at[2], middle + half, bin.at[2], color, 3);
      })),
      read: (place) => {
        const index = Math.round(place);
        const which = Math.max(0, Math.min(boxed.length - 1, Math.round((place - index) / share + (boxed.length - 1) / 2)));
        const bin = boxed.length && find(boxed[which], index);
        return bin ? `${boxed.length > 1 ? `${boxed[which].label}, ` : ""}${sizeName(bin)}, ${digits(bin.count)} flows: 5 % ${digits(bin.at[0])}, 25 % ${digits(bin.at[1])}, median ${digits(bin.at[2])}, 75 % ${digits(bin.at[3])}, 95 % ${digits(bin.at[4])}, mean ${digits(bin.mean)}` : "";
      },
    }) : null;
    const ofStarted = (run, bin) => {
      const { unfinished } = run.summary.flows;
      const open = unfinished ? (unfinished.by_decade.find((of) => of.to_bytes === bin.to_bytes) || { count: 0 }).count : 0;
      return unfinished ? { text: `${digits(bin.count)} of ${digits(bin.count + open)}` } : bin.count;
    };
    const head = ["run", "size", "flows", "mean", "p50", "p95", "p99"];
    section("Slowdown by flow size", boxes,
      table(head, bySize.flatMap(({ run, bins }) => bins.map((bin) => [run.label, `${bytes(bin.from_bytes)} to ${bytes(bin.to_bytes)}`, ofStarted(run, bin), bin.mean, bin.p50, bin.p95, bin.p99]))));
  }
  const MOST_TOLD_APART = 6;
  // Cumulative distributions: all runs together, and each by size and by label.
  const shares = (key, title, x) => {
    const some = runs.filter((run) => run[key]);
    if (!some.length) return [];
    const cdf = (name, lines, small) => plot({ title: name, caption: x === "us" ? "CDF: share of flows with FCT ≤ x" : "CDF: share of flows with slowdown ≤ x", x: axis(x, { log: true }), y: axis("%"), lines, step: "cdf", small });
    const parts = some.length > MOST_TOLD_APART ? [] : some.flatMap((run) => [["by_size", "by size"], ["by_label", "by traffic"]].map(([part, name]) => run[key][part].length ? cdf(of(run, `${title} ${name}`), run[key][part], true) : null));
    return [cdf(title, some.map((run) => run[key].all)), ...multiples(parts)];
  };
  const multiples = (figures) => {
    const found = figures.filter(Boolean);
    return found.length ? [element("div", { class: found.length > 1 ? "multiples" : "" }, ...found)] : [];
  };
  const completions = [...shares("fct", "Completion times", "us"), ...shares("slowdown", "Slowdowns", "")];
  if (completions.length) section("Completion times", completions, runs.length > MOST_TOLD_APART ? note(`Curves by size and by traffic are in reports of at most ${MOST_TOLD_APART} runs.`) : null);

  // Over time: one figure per run, as curves of several runs in one would be unreadable.
  const over = (key, title, caption, kind, step, said) => {
    const some = runs.filter((run) => run[key].length);
    if (!some.length) return;
    section(title, some.map((run) => plot({ title: of(run, title), caption, x: TIME, y: axis(kind), lines: run[key].slice(0, 12), step })), said ? note(some.map(said).join("; ")) : null);
  };
  over("throughput", "Throughput", "payload delivered", "Gbps", "mean");
  const controlled = runs.filter((run) => run.controls.length);
  const SHOWN = 12;
  if (controlled.length) {
    section("Congestion control", controlled.flatMap((run) => run.controls.map((panel) => plot({
      title: of(run, panel.title), caption: panel.unit === "share of marks" ? panel.unit : "", x: TIME, y: axis(panel.unit), lines: panel.curves.slice(0, SHOWN),
    }))), controlled.some((run) => run.controls[0].curves.length > SHOWN) ? note(`The first ${SHOWN} flows; click a flow of the replay for other flows.`) : null);
  }
  over("queues", "Queues", "length", "KB", null, (run) => `${run.label}: the ${run.queues.length} longest of ${digits(run.queues_recorded)} non-empty queues`);
  over("utilisation", "Link utilisation", "utilisation per sampling interval", "%", "mean", (run) => `${run.label}: the ${run.utilisation.length} busiest ports`);
  const paused = runs.filter((run) => run.pauses.length);
  if (paused.length) {
    section("Pauses", paused.map((run) => plot({
      title: of(run, "Pauses"), x: TIME, y: { names: run.pauses.map((port) => port.name) },
      marks: (pen) => run.pauses.forEach((port, row) => {
        const color = styleOf("--pause");
        for (const [from, to] of port.spans) if (to >= pen.from && from <= pen.to) pen.rect(from, row - 0.34, to, row + 0.34, color);
      }),
      read: (place, row) => {
        const port = run.pauses[Math.round(row)];
        const span = port && port.spans.find(([from, to]) => place >= from && place <= to);
        return port ? `${port.name} at ${quantity("us", place, 6)}: ${span ? `stopped for ${quantity("us", span[1] - span[0])}, from ${quantity("us", span[0], 6)}` : "not stopped"}` : "";
      },
    })), note(paused.map((run) => `${run.label}: ${digits(run.pauses_recorded)} pauses received; the ports stopped longest`).join("; ")));
  }
  over("happenings", "Marks and losses", "traced frames", "", "mean", (run) => `${run.label}: number per ${quantity("us", run.happenings_every_us)}`);

  const losses = runs.flatMap((run) => run.summary.losses.map((loss) => [run.label, loss.node, loss.cause, loss.packets]));
  const causes = runs.flatMap((run) => Object.entries(run.summary.packets.dropped).map(([cause, packets]) => [run.label, cause, packets]));
  section("Drops", causes.length ? table(["run", "cause", "packets"], causes) : note("No packet was dropped."),
    losses.length ? table(["run", "lost at", "cause", "packets"], losses) : null);
  section("Busiest ports", table(["run", "port", "towards", "utilisation, %", { text: "longest queue", csv: "longest queue, bytes" }, { text: "stopped", csv: "stopped, us" }],
    runs.flatMap((run) => run.summary.links.busiest.slice(0, 8).map((port) => [run.label, `${port.node} port ${port.port}`, port.peer, port.utilisation * 100,
      amount("bytes", port.max_queue_bytes), amount("us", port.paused_ps / 1e6)]))));
  const verdict = (check) => check.applicable === false ? { text: "not applicable" } : { text: check.pass ? "ok" : "FAIL", mark: check.pass ? "good" : "bad" };
  section("Checks", table(["run", "check", "", "detail"],
    runs.flatMap((run) => run.summary.checks.map((check) => [run.label, check.name, verdict(check), { text: check.detail, left: true }]))));
  section("Scenarios", ...runs.map((run) => element("details", {},
    element("summary", {}, `${run.label}: ${run.folder}`), note(`Scenario ${run.summary.scenario.hash.slice(0, 12)}, results ${run.summary.results_hash.slice(0, 12)}.`), element("pre", {}, run.scenario))));
