  // A sweep: the metric that is chosen, for every combination of values, as dots with their 95 % interval.
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
  const UNITS = {
    ns: [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]],
    bytes: [[1e9, "GB"], [1e6, "MB"], [1e3, "KB"], [1, "B"]],
    bps: [[1e12, "Tbps"], [1e9, "Gbps"], [1e6, "Mbps"], [1e3, "Kbps"], [1, "bps"]],
  };
  const unitOf = (metric, value) => (UNITS[metric.unit] || [[1, ""]]).find(([size]) => Math.abs(value) >= size) || (UNITS[metric.unit] || [[1, ""]]).at(-1);
  const short = (value) => Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en-US") : String(Number(value.toPrecision(3)));
  const said = (metric, value) => {
    const [size, name] = unitOf(metric, value);
    return `${short(value / size)}${name ? ` ${name}` : ""}`;
  };
  const cellText = (metric, found) => {
    if (found === null) return "-";
    if (found.half === null || found.half === 0) return said(metric, found.mean);
    const [size, name] = unitOf(metric, found.mean);
    return `${short(found.mean / size)} ± ${short(found.half / size)}${name ? ` ${name}` : ""}`;
  };

  // The key with the most values makes the lines of a figure, the next the figures, the next the colours; the rest the figures too.
  const bySize = keys.map((_, at) => at).sort((a, b) => keys[b].values.length - keys[a].values.length);
  const chosen = { metric: Math.max(0, metrics.findIndex((metric) => metric.name === "fct_mean_ns")), line: bySize[0] ?? null, color: bySize[2] ?? null, log: false };
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
  const swatch = (index) => element("span", { class: "dot", style: `background:${COLORS[index % COLORS.length]}` });

  const dots = (title, metric, group, lines, colors) => {
    const left = 170, width = 560, top = 6, step = Math.max(18, 9 * colors.length + 8), bottom = 34;
    const height = top + step * lines.length + bottom;
    const cells = group.map((row) => ({ row, found: interval(row.samples[chosen.metric]) })).filter(({ found }) => found !== null);
    // An interval may reach below what is possible, or shown on a logarithmic scale: it is cut there.
    const ends = cells.flatMap(({ found }) => [found.mean + (found.half || 0), ...found.found]);
    const positive = ends.filter((value) => value > 0);
    const log = chosen.log && positive.length > 0;
    let low = log ? Math.min(...positive) : Math.min(0, ...ends), high = Math.max(...ends, log ? low * 1.01 : low + 1e-9);
    if (!Number.isFinite(high) || high <= low) high = low + 1;
    const [unit, unitName] = unitOf(metric, high);
    const place = (value) => left + (width - left - 14) * (log ? Math.log(Math.max(value, low) / low) / Math.log(high / low) : (value - low) / (high - low));
    const svg = drawn("svg", { class: "figure small", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title, xmlns: SVG });
    const style = getComputedStyle(document.documentElement);
    const [text, line, back] = ["--text", "--line", "--back"].map((name) => style.getPropertyValue(name).trim());
    svg.append(drawn("rect", { x: 0, y: 0, width, height, fill: back }));
    const label = (attributes, words) => svg.append(drawn("text", { fill: text, "font-size": 12, "font-family": "sans-serif", ...attributes }, words));
    for (const at of log ? decades(low, high) : ticks(low / unit, high / unit, 4).map((tick) => tick * unit)) {
      svg.append(drawn("line", { x1: place(at), x2: place(at), y1: top, y2: height - bottom, stroke: line }));
      label({ x: place(at), y: height - bottom + 15, "text-anchor": "middle" }, digits(Number((at / unit).toPrecision(6))));
    }
    label({ x: (left + width) / 2, y: height - 4, "text-anchor": "middle" }, unitName ? `${metric.title}, ${unitName}` : metric.title);
    lines.forEach((name, index) => {
      const middle = top + step * (index + 0.5);
      label({ x: left - 8, y: middle + 4, "text-anchor": "end" }, name.length > 24 ? `${name.slice(0, 23)}…` : name);
      if (index > 0) svg.append(drawn("line", { x1: left, x2: width - 14, y1: top + step * index, y2: top + step * index, stroke: line, "stroke-dasharray": "1 3" }));
      colors.forEach((_, color) => {
        const cell = cells.find(({ row }) => (chosen.line === null || row.values[chosen.line] === index) && (chosen.color === null || row.values[chosen.color] === color));
        if (!cell) return;
        const { mean, half, found } = cell.found;
        const y = middle + (color - (colors.length - 1) / 2) * 9;
        const fill = COLORS[color % COLORS.length];
        if (half) svg.append(drawn("line", { x1: place(Math.max(mean - half, low)), x2: place(mean + half), y1: y, y2: y, stroke: fill, "stroke-width": 2 }));
        for (const value of found.length > 1 ? found : []) svg.append(drawn("circle", { cx: place(value), cy: y, r: 1.6, fill, opacity: 0.5 }));
        const dot = drawn("circle", { cx: place(mean), cy: y, r: 4, fill });
        dot.append(drawn("title", {}, `${cell.row.values.map((value, key) => `${keys[key].name}: ${keys[key].values[value]}`).join(", ")}: ${cellText(metric, cell.found)}`));
        svg.append(dot);
      });
    });
    const saver = element("button", { type: "button", class: "save" }, "Save as SVG");
    saver.addEventListener("click", () => save(`${`${metric.name} ${title}`.replace(/[^A-Za-z0-9]+/g, "-").toLowerCase()}.svg`, "image/svg+xml", new XMLSerializer().serializeToString(svg)));
    return element("figure", {}, element("figcaption", {}, title || metric.title, saver), svg);
  };

  const show = () => {
    const metric = metrics[chosen.metric];
    const lines = chosen.line === null ? ["all"] : keys[chosen.line].values;
    const colors = chosen.color === null ? [null] : keys[chosen.color].values;
    const others = keys.map((_, at) => at).filter((at) => at !== chosen.line && at !== chosen.color);
    const groups = new Map();
    for (const row of rows) {
      const title = others.map((at) => keys[at].values[row.values[at]]).join(", ");
      if (!groups.has(title)) groups.set(title, []);
      groups.get(title).push(row);
    }
    const legend = chosen.color === null ? null : element("div", { class: "legend" }, `${keys[chosen.color].name}: `, ...colors.map((name, index) => element("span", {}, swatch(index), ` ${name}`)));
    const figures = [...groups].map(([title, group]) => dots(title, metric, group, lines, colors));
    const head = [...keys.map((key) => key.name), "runs", metric.title, "least", "most"];
    const body = rows.map((row) => {
      const found = interval(row.samples[chosen.metric]);
      const ends = found === null ? ["-", "-"] : [Math.min(...found.found), Math.max(...found.found)].map((value) => said(metric, value));
      return [...row.values.map((value, key) => keys[key].values[value]), row.seeds, cellText(metric, found), ...ends];
    });
    area.replaceChildren(...[legend, element("div", { class: "multiples" }, ...figures), element("h2", {}, "Table"), table(head, body)].filter(Boolean));
  };
  const scale = element("input", { type: "checkbox" });
  scale.addEventListener("change", () => { chosen.log = scale.checked; show(); });
  main.append(
    note(about),
    element("div", { class: "choices" },
      select("Metric", metrics.map((metric, at) => [at, metric.title]), chosen.metric, (value) => { chosen.metric = Number(value); show(); }),
      select("Lines", keyOptions(true), chosen.line, (value) => { chosen.line = toKey(value); if (chosen.color === chosen.line) chosen.color = null; show(); }),
      select("Colours", keyOptions(true), chosen.color, (value) => { chosen.color = toKey(value); if (chosen.color === chosen.line) chosen.line = null; show(); }),
      element("label", {}, scale, " logarithmic")),
    note("Large dots are means over seeds, bars their 95 % confidence interval (Student's t), small dots single runs. Point at a dot for its numbers."),
    area);
  document.addEventListener("theme", show);
