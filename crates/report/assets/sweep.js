  // A sweep: the selected metric for every combination of values, as dots with their 95 % interval.
  const { keys, metrics, rows, about } = DATA.sweep;
  // Student's t at 95 %, two-sided, by degrees of freedom.
  const STUDENT = [0, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11, 2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042];
  const interval = (samples) => {
    const found = samples.filter((value) => value !== null);
    const count = found.length;
    if (count === 0) return null;
    const mean = found.reduce((a, b) => a + b, 0) / count;
    if (count === 1) return { mean, half: null, found };
    const variance = found.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (count - 1);
    return { mean, half: (STUDENT[count - 1] || 1.96) * Math.sqrt(variance / count), found };
  };
  // Statistics of completed flows, which differ between combinations if some flows did not complete.
  const sumOf = (row, name) => {
    const at = metrics.findIndex((metric) => metric.name === name);
    return at < 0 ? 0 : row.samples[at].reduce((sum, value) => sum + (value || 0), 0);
  };
  const isOfFlows = (metric) => /^(fct_|slowdown_|jain|goodput)/.test(metric.name);
  const coverage = (row) => {
    const completed = sumOf(row, "completed");
    return { completed, started: completed + sumOf(row, "unfinished") };
  };
  const valuesOf = (row) => row.values.map((value, key) => keys[key].values[value]).join(" ");
  const undecided = (metric) => !isOfFlows(metric) ? null : rows.map((row) => ({ row, ...coverage(row) })).filter(({ completed, started }) => completed < started);
  const said = (metric, value) => quantity(metric.unit, value);
  const cellText = (metric, found) => {
    if (found === null) return "-";
    if (found.half === null || found.half === 0) return said(metric, found.mean);
    const [size, name] = unitOf(metric.unit, found.mean);
    return `${bare(found.mean / size, 4)} ± ${bare(found.half / size, 3)}${name ? ` ${name}` : ""}`;
  };
  const keyName = (key) => {
    const words = key.name.split(".");
    // The last two words, or three if one is the index of an entry.
    return words.slice(/^\d+$/.test(words.at(-2) ?? "") ? -3 : -2).join(".");
  };

  // The axis is a key of numbers, if there is one. Colours are the other key with the most values, as many as are
  // distinguishable. Further keys make separate figures.
  const numbers = (key) => key.values.map(Number);
  const isNumeric = (key) => key.values.length > 1 && key.values.every((value) => value !== "" && Number.isFinite(Number(value)));
  const byCount = keys.map((_, at) => at).sort((a, b) => keys[b].values.length - keys[a].values.length);
  const axisKey = byCount.find((at) => isNumeric(keys[at]) && keys[at].values.length > 2) ?? byCount[0] ?? null;
  const colorKey = byCount.find((at) => at !== axisKey && keys[at].values.length > 1 && keys[at].values.length <= PALETTE.light.length) ?? null;
  const chosen = { metric: Math.max(0, metrics.findIndex((metric) => metric.name === "fct_mean_ns")), line: axisKey, color: colorKey, log: false, own: false };
  const select = (label, options, value, changed) => {
    const list = element("select", {}, ...options.map(([key, text]) => {
      const option = element("option", { value: String(key) }, text);
      if (key === value) option.selected = true;
      return option;
    }));
    list.addEventListener("change", () => changed(list.value));
    return element("label", {}, `${label} `, list);
  };
  const keyOptions = (none) => [...(none ? [[null, "none"]] : []), ...keys.map((key, at) => [at, key.name])];
  const toKey = (text) => text === "null" ? null : Number(text);
  const area = element("div");
  // One figure: the metric over the axis, a colour per value of the second key.
  const panel = (title, metric, group, most) => {
    const line = chosen.line === null ? null : keys[chosen.line];
    const numeric = line !== null && isNumeric(line);
    const names = line === null ? ["all"] : line.values;
    const places = numeric ? numbers(line) : names.map((_, at) => at);
    const colors = chosen.color === null ? [null] : keys[chosen.color].values.map((_, at) => at);
    // Side by side if they would overlap.
    const aside = (which) => numeric ? (which - (colors.length - 1) / 2) * 0.008 * (Math.max(...places) - Math.min(...places)) : (which - (colors.length - 1) / 2) * Math.min(0.16, 0.7 / colors.length);
    const spread = numeric && Math.min(...places) > 0 && Math.max(...places) / Math.min(...places) >= 30;
    const cells = colors.map((color) => group.filter((row) => color === null || row.values[chosen.color] === color).map((row) => {
      const at = line === null ? 0 : row.values[chosen.line];
      return { at, x: places[at] + (spread ? 0 : aside(color ?? 0)), found: interval(row.samples[chosen.metric]) };
    }).filter(({ found }) => found !== null && (!chosen.log || found.mean > 0)).sort((a, b) => a.x - b.x));
    const low = Math.min(...places), high = Math.max(...places), edge = (high - low) * 0.05 || 1;
    const lines = cells.map((own, which) => ({
      name: colors[which] === null ? metric.title : keys[chosen.color].values[colors[which]], x: own.map(({ x }) => x), y: own.map(({ found }) => found.mean),
      dots: numeric ? true : "only", color: () => colorOf(which),
    }));
    return plot({
      title: title || metric.title, caption: line === null ? "" : `${title ? `${metric.title} ` : ""}over ${keyName(line)}`, small: true, width: 520, lines,
      x: numeric ? { kind: "", log: spread, at: places.length <= 10 ? places : null, full: spread ? [low / 1.1, high * 1.1] : [low - edge, high + edge] } : { names },
      y: { kind: metric.unit, log: chosen.log, most: chosen.own || chosen.log ? undefined : most },
      ends: (fits) => cells.flat().flatMap(({ found }) => [found.mean + (found.half || 0), ...found.found]).filter(fits),
      // An interval may extend below the possible range, or below a logarithmic scale: it is clipped.
      marks: (pen) => cells.forEach((own, which) => own.forEach(({ x, found }) => {
        if (found.half) pen.line(x, Math.max(found.mean - found.half, chosen.log ? found.mean / 1e3 : 0), x, found.mean + found.half, colorOf(which), 2);
        for (const value of found.found.length > 1 ? found.found : []) if (!chosen.log || value > 0) pen.dot(x, value, 1.7, `${colorOf(which)}99`);
      })),
      read: (place) => {
        const near = places.reduce((best, at, index) => Math.abs(at - place) < Math.abs(places[best] - place) ? index : best, 0);
        const words = cells.map((own, which) => {
          const cell = own.find(({ at }) => at === near);
          return cell ? `${colors[which] === null ? "" : `${lines[which].name} `}${cellText(metric, cell.found)}` : null;
        }).filter(Boolean);
        return `${line === null ? "" : `${keyName(line)} ${names[near]}: `}${words.join(", ")}`;
      },
    });
  };

  const show = () => {
    const metric = metrics[chosen.metric];
    const others = keys.map((_, at) => at).filter((at) => at !== chosen.line && at !== chosen.color && keys[at].values.length > 1);
    const groups = new Map();
    for (const row of rows) {
      const title = others.map((at) => `${keyName(keys[at])} ${keys[at].values[row.values[at]]}`).join(", ");
      if (!groups.has(title)) groups.set(title, []);
      groups.get(title).push(row);
    }
    const tops = rows.map((row) => interval(row.samples[chosen.metric])).filter((found) => found !== null).map((found) => Math.max(found.mean + (found.half || 0), ...found.found));
    const most = greatestOf(tops);
    for (const one of all) { one.destroy(); all.delete(one); }
    const head = [...keys.map((key) => key.name), "runs", ...(isOfFlows(metric) ? ["completed/started"] : []), { text: metric.title, csv: metric.unit ? `${metric.title} mean, ${metric.unit}` : `${metric.title} mean` }, { text: "± 95 %", csv: "half of the 95 % interval" }, "least", "most"];
    const body = rows.map((row) => {
      const found = interval(row.samples[chosen.metric]);
      const ends = found === null ? [null, null] : [Math.min(...found.found), Math.max(...found.found)].map((value) => amount(metric.unit, value));
      return [...row.values.map((value, key) => ({ text: keys[key].values[value], left: keys[key].values[value].length > 24 })), row.seeds, ...(isOfFlows(metric) ? [{ text: `${digits(coverage(row).completed)}/${digits(coverage(row).started)}` }] : []), found && amount(metric.unit, found.mean), found && found.half !== null ? amount(metric.unit, found.half) : null, ...ends];
    });
    const incomplete = undecided(metric) || [];
    const warning = incomplete.length ? [element("div", { class: "alarm" }, `Undecided: ${metric.title} covers only completed flows, which differ between these combinations: they cannot be ranked. Mostly slow flows are missing. ${incomplete.slice(0, 6).map(({ row, completed, started }) => `${valuesOf(row)}: ${digits(started - completed)} of ${digits(started)} flows unfinished`).join("; ")}${incomplete.length > 6 ? "; ..." : ""}`)] : [];
    area.replaceChildren(...warning, element("div", { class: groups.size > 1 ? "multiples" : "" }, ...[...groups].map(([title, group]) => panel(title, metric, group, most))),
      element("h2", {}, "Table"), table(head, body));
  };
  const box = (text, key) => {
    const input = element("input", { type: "checkbox" });
    input.addEventListener("change", () => { chosen[key] = input.checked; show(); });
    return element("label", {}, input, ` ${text}`);
  };
  main.append(
    note(about),
    element("div", { class: "choices" },
      select("Metric", metrics.map((metric, at) => [at, metric.title]), chosen.metric, (value) => { chosen.metric = Number(value); show(); }),
      select("Axis", keyOptions(true), chosen.line, (value) => { chosen.line = toKey(value); if (chosen.color === chosen.line) chosen.color = null; show(); }),
      select("Colours", keyOptions(true), chosen.color, (value) => { chosen.color = toKey(value); if (chosen.color === chosen.line) chosen.line = null; show(); }),
      box("logarithmic", "log"), box("own scale per figure", "own")),
    note("Large dots are means over seeds, bars their 95 % confidence interval (Student's t), small dots single runs."),
    area);
  show();
