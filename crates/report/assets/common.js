  const DATA = JSON.parse(document.getElementById("data").textContent);
  const main = document.getElementById("main");
  const COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b08a00", "#56b4e9", "#7a5195", "#888888", "#a05a2c", "#3f8f8f", "#c44e52", "#5a7d2a"];
  const SVG = "http://www.w3.org/2000/svg";

  // Elements.
  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "onclick") made.addEventListener("click", value);
      else made.setAttribute(key, value);
    }
    for (const child of children) if (child !== null && child !== undefined) made.append(child);
    return made;
  };
  const drawn = (name, attributes = {}, text) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const save = (name, type, text) => {
    const link = element("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const copy = async (text, button) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // A page from a file may not use the clipboard: the old way.
      const area = element("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    const before = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = before; }, 1200);
  };

  // Numbers.
  const digits = (value) => {
    if (value === null || value === undefined) return "-";
    if (typeof value !== "number") return String(value);
    if (Number.isInteger(value)) return value.toLocaleString("en-US");
    const size = Math.abs(value);
    return size >= 1000 ? Math.round(value).toLocaleString("en-US") : String(Number(value.toPrecision(4)));
  };
  const bytes = (value) => {
    const units = ["B", "KB", "MB", "GB", "TB"];
    let at = 0;
    while (value >= 1000 && at < units.length - 1) { value /= 1000; at += 1; }
    return `${Number(value.toPrecision(3))}${units[at]}`;
  };
  const ticks = (low, high, count) => {
    const rough = (high - low) / Math.max(1, count);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough) || power * 10;
    const found = [];
    for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-9; at += step) found.push(Number(at.toPrecision(12)));
    return found;
  };
  const decades = (low, high) => {
    const found = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
      for (const factor of high / low > 1000 ? [1] : [1, 2, 5]) {
        const at = factor * 10 ** power;
        if (at >= low * 0.999 && at <= high * 1.001) found.push(at);
      }
    }
    return found;
  };

  // A table that copies out as CSV.
  const table = (head, rows) => {
    const cell = (value) => {
      const mark = value && value.mark;
      const text = value && value.text !== undefined ? value.text : value;
      const classes = [mark, value && value.left ? "left" : ""].filter(Boolean).join(" ");
      return element("td", classes ? { class: classes } : {}, digits(text));
    };
    const plain = (value) => {
      const text = value && value.text !== undefined ? value.text : value;
      const said = text === null || text === undefined ? "" : String(text);
      return /[",\n]/.test(said) ? `"${said.replaceAll('"', '""')}"` : said;
    };
    const csv = () => [head, ...rows].map((row) => row.map(plain).join(",")).join("\n") + "\n";
    const button = element("button", { type: "button", class: "csv" }, "Copy as CSV");
    button.addEventListener("click", () => copy(csv(), button));
    const body = element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map(cell))));
    const top = element("thead", {}, element("tr", {}, ...head.map((name) => element("th", {}, name))));
    return element("div", {}, element("div", { class: "scroll" }, element("table", {}, top, body)), element("div", { class: "tools" }, button));
  };

  // A figure: lines or steps over x, or spans by row; drawn as SVG, so that it saves as it is.
  const WIDTH = 1100, HEIGHT = 320, LEFT = 74, RIGHT = 16, TOP = 12, BOTTOM = 46;
  const figure = ({ title, x, y, curves, rows, logX, step }) => {
    const hidden = new Set();
    const names = rows ? rows.map((row) => row.name) : curves.map((curve) => curve.name);
    const height = rows ? TOP + BOTTOM + 22 * rows.length : HEIGHT;
    const left = rows ? 170 : LEFT;
    const all = rows ? rows.flatMap((row) => row.spans.flat()) : curves.flatMap((curve) => curve.x);
    const positive = all.filter((value) => value > 0);
    // Loops, since a spread of some ten thousand arguments overflows the stack.
    const least = (values) => values.reduce((a, b) => Math.min(a, b), Infinity);
    const greatest = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);
    const full = logX ? [least(positive), greatest(positive)] : [rows ? Math.min(0, least(all)) : least(all), greatest(all)];
    if (!(full[1] > full[0])) full[1] = full[0] + Math.max(1e-9, Math.abs(full[0]) * 0.01);
    let range = [...full];
    const svg = drawn("svg", { class: "figure", viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": title, xmlns: SVG });
    const color = (index) => COLORS[index % COLORS.length];
    const scale = (value) => {
      const [low, high] = range;
      const share = logX ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
      return left + share * (WIDTH - left - RIGHT);
    };
    const unscale = (pixel) => {
      const share = (pixel - left) / (WIDTH - left - RIGHT);
      return logX ? range[0] * (range[1] / range[0]) ** share : range[0] + share * (range[1] - range[0]);
    };
    const draw = () => {
      svg.replaceChildren();
      const style = getComputedStyle(document.documentElement);
      const [text, line, back] = ["--text", "--line", "--back"].map((name) => style.getPropertyValue(name).trim());
      svg.append(drawn("rect", { x: 0, y: 0, width: WIDTH, height, fill: back }));
      const label = (at, attributes, said) => svg.append(drawn("text", { fill: text, "font-size": 12, "font-family": "sans-serif", ...attributes }, said));
      const bottom = height - BOTTOM;
      for (const at of logX ? decades(...range) : ticks(...range, 8)) {
        const px = scale(at);
        if (px < left - 1 || px > WIDTH - RIGHT + 1) continue;
        svg.append(drawn("line", { x1: px, x2: px, y1: TOP, y2: bottom, stroke: line }));
        label(at, { x: px, y: bottom + 17, "text-anchor": "middle" }, digits(at));
      }
      label(0, { x: (left + WIDTH - RIGHT) / 2, y: height - 8, "text-anchor": "middle" }, x);
      if (rows) {
        rows.forEach((row, index) => {
          const top = TOP + 22 * index;
          label(0, { x: left - 8, y: top + 15, "text-anchor": "end" }, row.name);
          if (hidden.has(index)) return;
          for (const [from, to] of row.spans) {
            if (to < range[0] || from > range[1]) continue;
            const [a, b] = [scale(Math.max(from, range[0])), scale(Math.min(to, range[1]))];
            svg.append(drawn("rect", { x: a.toFixed(1), y: top + 4, width: Math.max(0.6, b - a).toFixed(1), height: 14, fill: color(index) }));
          }
        });
        return;
      }
      const shown = curves.map((curve, index) => ({ curve, index })).filter(({ index }) => !hidden.has(index));
      let high = 0, low = 0;
      for (const { curve } of shown) curve.x.forEach((at, i) => {
        if (at >= range[0] && at <= range[1]) { high = Math.max(high, curve.y[i]); low = Math.min(low, curve.y[i]); }
      });
      if (high === low) high = low + 1;
      const place = (value) => bottom - (value - low) / (high - low) * (bottom - TOP);
      for (const at of ticks(low, high, 5)) {
        svg.append(drawn("line", { x1: left, x2: WIDTH - RIGHT, y1: place(at), y2: place(at), stroke: line }));
        label(at, { x: left - 8, y: place(at) + 4, "text-anchor": "end" }, digits(at));
      }
      label(0, { x: 16, y: (TOP + bottom) / 2, "text-anchor": "middle", transform: `rotate(-90 16 ${(TOP + bottom) / 2})` }, y);
      const clip = `clip-${Math.random().toString(36).slice(2)}`;
      const box = drawn("clipPath", { id: clip });
      box.append(drawn("rect", { x: left, y: TOP - 2, width: WIDTH - left - RIGHT, height: bottom - TOP + 4 }));
      svg.append(box);
      const lines = drawn("g", { "clip-path": `url(#${clip})` });
      for (const { curve, index } of shown) {
        let path = "";
        curve.x.forEach((at, i) => {
          if (logX && at <= 0) return;
          const [px, py] = [scale(at).toFixed(1), place(curve.y[i]).toFixed(1)];
          path += path === "" ? `M${px} ${py}` : step ? `H${px}V${py}` : `L${px} ${py}`;
        });
        lines.append(drawn("path", { d: path, fill: "none", stroke: color(index), "stroke-width": 1.6, "stroke-linejoin": "round" }));
        if (curve.x.length === 1) lines.append(drawn("circle", { cx: scale(curve.x[0]), cy: place(curve.y[0]), r: 3, fill: color(index) }));
      }
      svg.append(lines);
    };
    // Zoom along x.
    let from = null, mark = null;
    const pixel = (event) => (event.clientX - svg.getBoundingClientRect().left) * WIDTH / svg.getBoundingClientRect().width;
    svg.addEventListener("pointerdown", (event) => {
      from = Math.max(left, pixel(event));
      mark = drawn("rect", { x: from, y: TOP, width: 0, height: height - TOP - BOTTOM, fill: "currentColor", opacity: 0.15 });
      svg.append(mark);
    });
    svg.addEventListener("pointermove", (event) => {
      if (mark === null) return;
      const to = Math.min(WIDTH - RIGHT, Math.max(left, pixel(event)));
      mark.setAttribute("x", Math.min(from, to));
      mark.setAttribute("width", Math.abs(to - from));
    });
    window.addEventListener("pointerup", (event) => {
      if (mark === null) return;
      const to = Math.min(WIDTH - RIGHT, Math.max(left, pixel(event)));
      if (Math.abs(to - from) > 6) range = [unscale(Math.min(from, to)), unscale(Math.max(from, to))];
      mark = null;
      draw();
    });
    svg.addEventListener("dblclick", () => { range = [...full]; draw(); });
    document.addEventListener("theme", draw);
    const legend = element("div", { class: "legend" }, ...names.map((name, index) => {
      const swatch = element("span", { class: "swatch", style: `background:${color(index)}` });
      const button = element("button", { type: "button", "aria-pressed": "true" }, swatch, name);
      button.addEventListener("click", () => {
        if (!hidden.delete(index)) hidden.add(index);
        button.setAttribute("aria-pressed", String(!hidden.has(index)));
        draw();
      });
      return button;
    }));
    const saver = element("button", { type: "button", class: "save" }, "Save as SVG");
    saver.addEventListener("click", () => save(`${title.replace(/[^A-Za-z0-9]+/g, "-").toLowerCase()}.svg`, "image/svg+xml", new XMLSerializer().serializeToString(svg)));
    draw();
    return element("figure", {}, element("figcaption", {}, title, saver), svg, legend);
  };

  // What the page says.
  const section = (title, ...parts) => main.append(element("h2", {}, title), ...parts.filter(Boolean));
  const note = (text) => element("p", { class: "note" }, text);
