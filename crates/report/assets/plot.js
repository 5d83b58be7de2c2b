  // Figures, drawn by uPlot. A figure has lines, or marks that it draws itself with a pen in values of both axes:
  // the marks go onto the canvas and into the saved SVG.
  //
  //   title, caption            title, and label of the vertical axis
  //   x: { kind, time, log, names, full, at }   unit of values; whether it is the shared time axis; names of whole numbers;
  //                             its range, and positions of its ticks
  //   y: { kind, log, names, most }         as for x, vertical; names of rows, from the top
  //   lines: [{ name, x, y, dots }], step   "mean": a value applies since the one before it; "cdf": until the next
  //   marks(pen), read(x, y)    marks of its own, and the text for the position under the cursor
  const NARROW = 560;
  // Measured before figures are in the page, and only once, as a measurement lays out the whole page.
  let widthOfMain = 0;
  window.addEventListener("resize", () => { widthOfMain = 0; });
  const mainWidth = () => (widthOfMain ||= main.clientWidth || 1100);

  // Figures over time are zoomed together, with one cursor and the time of the replay.
  const clock = { plots: new Set(), range: null, now: null, seek: null };
  const full = () => [0, Math.max(1e-9, ...(DATA.runs || []).map((run) => run.summary.simulated_ps / 1e6))];
  const ofClock = () => {
    for (const one of clock.plots) if (!one.frame.isConnected && one.placed) one.destroy();
    return clock.plots;
  };
  const zoomTime = (range) => {
    clock.range = range;
    for (const one of ofClock()) one.zoom(range || full());
  };
  // The time shown by the replay, in us, in every figure over time.
  const markNow = (us) => {
    clock.now = us;
    for (const one of ofClock()) if (one.seen) one.mark();
  };

  const nearest = (values, idx) => {
    for (let by = 0; by < values.length; by += 1) {
      if (values[idx - by] !== undefined && values[idx - by] !== null) return idx - by;
      if (values[idx + by] !== undefined && values[idx + by] !== null) return idx + by;
    }
    return null;
  };
  const cut = (name, most) => name.length > most ? `${name.slice(0, Math.max(1, most - 1))}…` : name;
  const textWidth = (() => {
    const context = document.createElement("canvas").getContext("2d");
    context.font = "12px system-ui, sans-serif";
    return (text) => context.measureText(text).width;
  })();

  const plot = (spec) => {
    const { title, caption, step, marks } = spec;
    const [x, y] = [spec.x || {}, spec.y || {}];
    const lines = (spec.lines || []).map((line, index) => ({ color: () => colorOf(index), ...line }));
    const hidden = new Set();
    const least = (values) => values.reduce((a, b) => Math.min(a, b), Infinity);
    const greatest = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);
    const whole = () => {
      if (x.time) return full();
      if (x.names) return [-0.5, x.names.length - 0.5];
      const all = lines.flatMap((line) => line.x).filter((value) => !x.log || value > 0);
      let [low, high] = x.full || [least(all), greatest(all)];
      if (!(high > low)) [low, high] = x.log ? [low / 1.5, low * 1.5] : [low - Math.max(1e-9, Math.abs(low) * 0.01), low + Math.max(1e-9, Math.abs(low) * 0.01)];
      return [low, high];
    };

    // Points at one position are one: the last of a distribution, else the one furthest from zero.
    const distinct = (line) => {
      const [xs, ys] = [[], []];
      line.x.forEach((at, i) => {
        if (x.log && !(at > 0)) return;
        if (xs.at(-1) !== at) { xs.push(at); ys.push(line.y[i]); } else if (step === "cdf" || Math.abs(line.y[i]) > Math.abs(ys.at(-1))) ys[ys.length - 1] = line.y[i];
      });
      return [xs, ys];
    };
    const points = lines.map(distinct);
    const [low, high] = whole();
    const data = uPlot.join([[[low, high], [undefined, undefined]], ...points]);

    // The maximum and minimum of the visible part, including the adjacent points.
    let view = [low, high];
    const rangeY = () => {
      if (y.names) return [-0.5, y.names.length - 0.5];
      const [from, to] = view;
      let [bottom, top] = [y.log ? Infinity : 0, y.log ? -Infinity : 0];
      points.forEach(([xs, ys], index) => {
        if (hidden.has(index)) return;
        xs.forEach((at, i) => {
          if ((xs[i + 1] ?? at) < from || (xs[i - 1] ?? at) > to || (y.log && !(ys[i] > 0))) return;
          bottom = Math.min(bottom, ys[i]);
          top = Math.max(top, ys[i]);
        });
      });
      if (spec.ends) [bottom, top] = spec.ends(y.log ? (value) => value > 0 : () => true).reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [bottom, top]);
      if (y.most !== undefined) top = Math.max(top, y.most);
      if (!(top > bottom)) return y.log ? [(bottom > 0 && bottom < Infinity ? bottom : 1) / 2, (bottom > 0 && bottom < Infinity ? bottom : 1) * 2] : [bottom, bottom + 1];
      if (y.log) return [bottom / 1.15, top * 1.15];
      return [bottom < 0 ? bottom - (top - bottom) * 0.05 : 0, y.kind === "%" && top <= 100 ? 100 : top + (top - bottom) * 0.06];
    };

    const box = element("div", { class: "plot" });
    const at = element("span", { class: "at" });
    const values = lines.map(() => element("span", { class: "value" }));
    const swatches = lines.map((line) => element("span", { class: "swatch", style: `background:${line.color()}` }));
    const buttons = lines.map((line, index) => {
      const button = element("button", { type: "button", "aria-pressed": "true", title: "Hide or show" }, swatches[index], line.name, values[index]);
      button.addEventListener("click", () => {
        if (!hidden.delete(index)) hidden.add(index);
        button.setAttribute("aria-pressed", String(!hidden.has(index)));
        u.setSeries(index + 2, { show: !hidden.has(index) });
      });
      return button;
    });
    const legend = element("div", { class: "legend" }, ...buttons, ...(spec.legend || []), at);
    const saver = element("button", { type: "button", class: "save" }, "Save as SVG");
    const made = element("figure", { class: spec.small ? "small" : "" },
      spec.bare ? null : element("figcaption", {}, element("span", {}, element("span", { class: "title" }, title), caption ? element("small", {}, ` ${caption}`) : null), saver), box, legend);

    const room = () => (box.isConnected && box.clientWidth) || Math.min(spec.width || Infinity, mainWidth());
    const narrow = () => room() < NARROW;
    const size = () => {
      const width = Math.max(220, Math.floor(room()));
      const rows = y.names ? 34 + (spec.rowHeight || 20) * y.names.length + (x.names ? 30 : 10) : 0;
      return { width, height: rows || spec.height || (narrow() ? 230 : 290) };
    };
    const nameRoom = () => narrow() ? 14 : 26;
    const rotated = () => x.names && x.names.reduce((sum, name) => sum + textWidth(name) + 14, 0) > size().width - 70;
    const grid = { stroke: () => styleOf("--line"), width: 1 };
    const axes = [
      {
        stroke: () => styleOf("--text"), grid: x.names ? { show: false } : grid, ticks: grid, font: "12px system-ui, sans-serif",
        space: narrow() ? 72 : 90, gap: 4,
        ...(x.names ? {
          splits: () => x.names.map((_, index) => index), values: () => x.names.map((name) => cut(name, rotated() ? 16 : 40)),
          rotate: () => rotated() ? -40 : 0, size: () => rotated() ? 30 + 0.64 * Math.min(110, greatest(x.names.map((name) => textWidth(cut(name, 16))))) : 34,
        } : {
          ...(x.at ? { splits: () => x.at, filter: (_, splits) => splits } : x.log ? { splits: (_, _axis, from, to) => decades(from, to), filter: (_, splits) => splits } : {}),
          values: (_, splits) => x.log ? splits.map((value) => quantity(x.kind, value)) : tickTexts(x.kind, splits), size: 34,
        }),
      },
      {
        scale: "y", stroke: () => styleOf("--text"), grid: y.names ? { show: false } : grid, ticks: grid, font: "12px system-ui, sans-serif", gap: 4,
        ...(y.names ? {
          splits: () => y.names.map((_, index) => index), values: () => y.names.map((name) => cut(name, nameRoom())),
          size: () => 12 + Math.max(...y.names.map((name) => textWidth(cut(name, nameRoom())))),
        } : {
          ...(y.log ? { splits: (_, _axis, from, to) => decades(from, to), filter: (_, splits) => splits } : { space: 42 }),
          values: (_, splits) => y.log ? splits.map((value) => quantity(y.kind, value)) : tickTexts(y.kind, splits),
          // Figures over time are aligned below each other at the left edge.
          size: (_, texts) => Math.max(x.time && !spec.bare ? 64 : 34, 14 + Math.max(0, ...(texts || []).map(textWidth))),
        }),
      },
    ];
    const now = element("div", { class: "now" });
    const self = {
      figure: made, title, frame: box, seen: true, placed: false, time: Boolean(x.time), bare: Boolean(spec.bare),
      zoom: (range) => {
        const { min, max } = u.scales.x;
        if (min !== range[0] || max !== range[1]) u.setScale("x", { min: range[0], max: range[1] });
      },
      mark: () => {
        const { min, max } = u.scales.x;
        const hide = clock.now === null || clock.now < min || clock.now > max;
        now.style.display = hide ? "none" : "block";
        if (!hide) now.style.transform = `translateX(${u.valToPos(clock.now, "x").toFixed(1)}px)`;
      },
      destroy: () => { clock.plots.delete(self); all.delete(self); watch.disconnect(); u.destroy(); document.removeEventListener("theme", themed); },
      fit: (width) => {
        const wanted = size();
        if (width) wanted.width = width;
        if (wanted.width !== u.width || wanted.height !== u.height) u.setSize(wanted);
      },
    };
    const reset = () => { if (x.time) zoomTime(null); else self.zoom(whole()); };
    const pathOf = step ? uPlot.paths.stepped({ align: step === "mean" ? -1 : 1 }) : uPlot.paths.linear();

    // The pen's target: the canvas, in its own pixels.
    const canvasPen = (u) => {
      const context = u.ctx, ratio = uPlot.pxRatio, { left, top, width, height } = u.bbox;
      const px = (value) => Math.max(left, Math.min(left + width, u.valToPos(value, "x", true)));
      const py = (value) => Math.max(top, Math.min(top + height, u.valToPos(value, "y", true)));
      return {
        columns: Math.ceil(width / ratio), from: u.scales.x.min, to: u.scales.x.max,
        rect: (x0, y0, x1, y1, color, outline) => {
          const [a, b, c, d] = [px(x0), px(x1), py(y0), py(y1)];
          if (outline) { context.strokeStyle = color; context.lineWidth = 1.4 * ratio; context.strokeRect(Math.min(a, b), Math.min(c, d), Math.abs(b - a), Math.abs(d - c)); return; }
          context.fillStyle = color;
          context.fillRect(Math.min(a, b), Math.min(c, d), Math.max(0.7 * ratio, Math.abs(b - a)), Math.abs(d - c));
        },
        line: (x0, y0, x1, y1, color, wide = 1.5) => {
          context.strokeStyle = color;
          context.lineWidth = wide * ratio;
          context.beginPath();
          context.moveTo(px(x0), py(y0));
          context.lineTo(px(x1), py(y1));
          context.stroke();
        },
        dot: (cx, cy, r, color) => {
          context.fillStyle = color;
          context.beginPath();
          context.arc(px(cx), py(cy), r * ratio, 0, 7);
          context.fill();
        },
      };
    };
    const drawMarks = (u) => {
      if (!marks) return;
      const { left, top, width, height } = u.bbox;
      u.ctx.save();
      u.ctx.beginPath();
      u.ctx.rect(left, top, width, height);
      u.ctx.clip();
      marks(canvasPen(u));
      u.ctx.restore();
    };

    // Values under the cursor: of each line in the legend, or a text of the figure.
    const tell = (u) => {
      if (!self.seen) return;
      const off = !(u.cursor.left >= 0);
      const place = off ? null : u.posToVal(u.cursor.left, "x");
      const shown = off ? "" : x.names ? x.names[Math.round(place)] ?? "" : quantity(x.kind, place, 6);
      lines.forEach((_, index) => {
        const idx = u.cursor.idxs ? u.cursor.idxs[index + 2] : null;
        const value = off || idx === null || idx === undefined ? undefined : u.data[index + 2][idx];
        values[index].textContent = value === undefined || value === null ? "" : quantity(y.kind, value);
      });
      at.textContent = off ? "" : spec.read ? spec.read(place, u.posToVal(u.cursor.top, "y")) : `at ${shown}`;
    };
    const dataIdx = (u, index, idx, value) => {
      const [xs, ys] = [u.data[0], u.data[index]];
      if (index < 2) return idx;
      const [own] = points[index - 2];
      // A line has no value before its begin and after its end.
      if (!own.length || value < own[0] - 1e-9 || (step !== "cdf" && value > own.at(-1) + 1e-9)) return null;
      if (!step) return nearest(ys, idx);
      const by = step === "mean" ? 1 : -1;
      let found = by > 0 ? (xs[idx] < value ? idx + 1 : idx) : xs[idx] > value ? idx - 1 : idx;
      while (found >= 0 && found < xs.length && (ys[found] === undefined || ys[found] === null)) found += by;
      return found >= 0 && found < xs.length ? found : null;
    };

    const { width, height } = size();
    const u = new uPlot({
      width, height, padding: [8, x.names ? 8 : narrow() ? 24 : 28, 0, 0], legend: { show: false }, pxAlign: 1, axes,
      scales: {
        x: { time: false, distr: x.log ? 3 : 1, range: (_, from, to) => { view = Number.isFinite(from) && to > from ? [from, to] : whole(); return view; } },
        y: { distr: y.log ? 3 : 1, range: rangeY, dir: y.names ? -1 : 1 },
      },
      series: [{}, { show: true, scale: "y", stroke: "transparent", points: { show: false } }, ...lines.map((line, index) => ({
        label: line.name, scale: "y", width: 1.6, stroke: () => line.color(), spanGaps: false,
        paths: line.dots === "only" ? () => null : pathOf,
        points: { show: line.dots ? true : points[index][0].length < 2, size: line.dots ? 8 : 6, fill: () => line.color(), stroke: () => line.color() },
      }))],
      cursor: {
        x: true, y: Boolean(y.names), dataIdx, drag: { x: !x.names, y: false, setScale: true, dist: 4 },
        points: { show: !spec.read, size: 6, fill: (_, index) => index < 2 ? "transparent" : lines[index - 2].color(), stroke: (_, index) => index < 2 ? "transparent" : lines[index - 2].color() },
        bind: { dblclick: () => () => { reset(); return null; } },
        ...(x.time ? { sync: { key: "time", scales: ["x", null], setSeries: false, filters: { pub: (type) => type === "mousemove" || type === "mouseleave" } } } : {}),
      },
      hooks: {
        draw: [drawMarks], setCursor: [tell],
        setScale: [(plot, key) => {
          if (key !== "x" || !self.placed) return;
          if (x.time) {
            self.mark();
            const [min, max] = [plot.scales.x.min, plot.scales.x.max];
            const [a, b] = clock.range || full();
            if (min !== a || max !== b) zoomTime([min, max]);
          }
        }],
      },
    }, [data[0], data[0].map(() => undefined), ...data.slice(2)], box);
    self.u = u;
    u.over.append(now);
    u.over.addEventListener("click", (event) => { if (x.time && clock.seek) clock.seek(u.posToVal(event.clientX - u.over.getBoundingClientRect().left, "x")); });
    now.style.display = "none";
    saver.addEventListener("click", () => save(`${title.replace(/[^A-Za-z0-9]+/g, "-").toLowerCase()}.svg`, "image/svg+xml", svgOf(spec, lines, points, hidden, u)));
    const themed = () => {
      if (!box.isConnected) return;
      lines.forEach((line, index) => { swatches[index].style.background = line.color(); });
      u.redraw(false, true);
    };
    document.addEventListener("theme", themed);
    // A resize within the callback would be a change that the observer cannot report any more.
    const watch = new ResizeObserver(() => requestAnimationFrame(() => {
      if (box.isConnected && box.clientWidth) { self.placed = true; self.fit(); if (x.time) self.mark(); }
    }));
    watch.observe(box);
    // A figure far from the screen need not follow the cursor.
    new IntersectionObserver((entries) => { self.seen = entries.at(-1).isIntersecting; if (self.seen && x.time) self.mark(); }, { rootMargin: "300px" }).observe(box);
    if (x.time) clock.plots.add(self);
    all.add(self);
    made.plot = self;
    self.redraw = () => u.redraw(true, true);
    // A figure with variable rows or marks.
    self.again = () => { u.setSize(size()); u.redraw(true, true); };
    self.zoom((x.time && clock.range) || whole());
    return made;
  };
  const all = new Set();

  // Print: light theme, and page width.
  const PAPER = 700;
  let before = null;
  const onPaper = (paper) => {
    if (paper === (before !== null)) return;
    if (paper) {
      before = document.documentElement.dataset.theme;
      theme("light");
    } else {
      theme(before);
      before = null;
    }
    for (const one of all) if (one.frame.isConnected) one.fit(paper ? Math.min(PAPER, one.frame.closest(".multiples") ? 340 : PAPER) : 0);
  };
  if (window.matchMedia) window.matchMedia("print").addEventListener("change", (event) => onPaper(event.matches));
  window.addEventListener("beforeprint", () => onPaper(true));
  window.addEventListener("afterprint", () => onPaper(false));

  // The figure as a vector graphic.
  const svgOf = ({ title, caption, x = {}, y = {}, step, marks }, lines, points, hidden, u) => {
    const height = Math.max(300, y.names ? u.height + 40 : 340), width = 900;
    const names = y.names ? Math.min(230, 14 + Math.max(...y.names.map(textWidth))) : 66;
    const [left, right, top, foot] = [names, 18, 34, x.names ? 90 : 40];
    const legendRows = [];
    let room = 0;
    lines.forEach((line, index) => {
      if (hidden.has(index)) return;
      const wide = textWidth(line.name) + 34;
      if (!legendRows.length || room + wide > width - left) { legendRows.push([]); room = 0; }
      legendRows.at(-1).push([line, room]);
      room += wide;
    });
    const whole = height + 18 * legendRows.length;
    const svg = drawn("svg", { viewBox: `0 0 ${width} ${whole}`, width, height: whole, xmlns: SVG, "font-family": "sans-serif", "font-size": 12 });
    const [text, line, back] = ["--text", "--line", "--back"].map(styleOf);
    const add = (parent, name, attributes, said) => { const one = drawn(name, attributes, said); parent.append(one); return one; };
    add(svg, "rect", { x: 0, y: 0, width, height: whole, fill: back });
    add(svg, "text", { x: left, y: 20, fill: text, "font-weight": "bold" }, `${title}${caption ? `: ${caption}` : ""}`);
    const scale = (key, from, to) => {
      const { min, max, distr } = u.scales[key];
      const share = (value) => distr === 3 ? Math.log(Math.max(value, min / 1e6) / min) / Math.log(max / min) : (value - min) / (max - min);
      return (value) => from + share(value) * (to - from);
    };
    const bottom = height - foot;
    const px = scale("x", left, width - right), py = y.names ? scale("y", top, bottom) : scale("y", bottom, top);
    const splits = (of, key, count) => {
      const { min, max } = u.scales[key];
      const [from, to] = [Math.min(min, max), Math.max(min, max)];
      if (of.names) return of.names.map((_, index) => index).filter((at) => at >= from && at <= to);
      if (of.at) return of.at.filter((at) => at >= from && at <= to);
      return of.log ? decades(from, to) : ticks(from, to, count);
    };
    const texts = (of, at) => of.names ? at.map((index) => of.names[index]) : of.log ? at.map((value) => quantity(of.kind, value)) : tickTexts(of.kind, at);
    const [xs, ys] = [splits(x, "x", 8), splits(y, "y", 5)];
    texts(x, xs).forEach((said, index) => {
      const place = px(xs[index]);
      if (!x.names) add(svg, "line", { x1: place, x2: place, y1: top, y2: bottom, stroke: line });
      add(svg, "text", { x: place, y: bottom + 17, fill: text, ...(x.names ? { "text-anchor": "end", transform: `rotate(-30 ${place} ${bottom + 17})` } : { "text-anchor": "middle" }) }, said);
    });
    texts(y, ys).forEach((said, index) => {
      const place = py(ys[index]);
      if (!y.names) add(svg, "line", { x1: left, x2: width - right, y1: place, y2: place, stroke: line });
      add(svg, "text", { x: left - 6, y: place + 4, fill: text, "text-anchor": "end" }, cut(said, 34));
    });
    const id = `clip-${Math.random().toString(36).slice(2)}`;
    add(add(svg, "clipPath", { id }), "rect", { x: left, y: top, width: width - left - right, height: bottom - top });
    const inside = add(svg, "g", { "clip-path": `url(#${id})` });
    const n = (value) => value.toFixed(1);
    lines.forEach((one, index) => {
      if (hidden.has(index)) return;
      const [ax, ay] = points[index];
      let path = "";
      ax.forEach((at, i) => {
        const [cx, cy] = [n(px(at)), n(py(ay[i]))];
        path += path === "" ? `M${cx} ${cy}` : step === "mean" ? `V${cy}H${cx}` : step === "cdf" ? `H${cx}V${cy}` : `L${cx} ${cy}`;
      });
      if (one.dots !== "only") add(inside, "path", { d: path, fill: "none", stroke: one.color(), "stroke-width": 1.6, "stroke-linejoin": "round" });
      if (one.dots || ax.length < 2) ax.forEach((at, i) => add(inside, "circle", { cx: n(px(at)), cy: n(py(ay[i])), r: 4, fill: one.color() }));
    });
    if (marks) {
      marks({
        columns: 600, from: u.scales.x.min, to: u.scales.x.max,
        rect: (x0, y0, x1, y1, color, outline) => {
          const [a, b, c, d] = [px(x0), px(x1), py(y0), py(y1)];
          add(inside, "rect", { x: n(Math.min(a, b)), y: n(Math.min(c, d)), width: n(Math.max(0.6, Math.abs(b - a))), height: n(Math.abs(d - c)), ...(outline ? { fill: "none", stroke: color } : { fill: color }) });
        },
        line: (x0, y0, x1, y1, color, wide = 1.5) => add(inside, "line", { x1: n(px(x0)), y1: n(py(y0)), x2: n(px(x1)), y2: n(py(y1)), stroke: color, "stroke-width": wide }),
        dot: (cx, cy, r, color) => add(inside, "circle", { cx: n(px(cx)), cy: n(py(cy)), r, fill: color }),
      });
    }
    legendRows.forEach((row, index) => row.forEach(([one, from]) => {
      const base = height + 10 + 18 * index;
      add(svg, "rect", { x: left + from, y: base - 6, width: 14, height: 3, fill: one.color() });
      add(svg, "text", { x: left + from + 19, y: base, fill: text }, one.name);
    }));
    return new XMLSerializer().serializeToString(svg);
  };
