  // The replay: the fabric and the activity of its links, queues and pauses over time. A frame is an interval of the run;
  // the page contains the changes of every port from frame to frame.
  const LEVELS = 10;
  const LOADS = {
    light: ["#bcd3ea", "#a3c4e2", "#88b4da", "#6ca2d1", "#508fc6", "#377bb9", "#2266a8", "#125192", "#0a3c78", "#06285a"],
    dark: ["#29425c", "#2c5377", "#2f6593", "#3378af", "#3a8cc8", "#479fdb", "#5cb3e9", "#7ac7f3", "#a0dcfa", "#cdf0ff"],
  };
  const QUEUE = { light: "#d9730d", dark: "#ff9d3d" }, PAUSE = { light: "#c2188f", dark: "#ff6ad5" }, LOCKED = { light: "#c0262d", dark: "#ff3347" };
  const PATH = { light: "#00875a", dark: "#3fe0a6" };
  const EVENT_WORDS = { dropped: ["×", "dropped"], trimmed: ["t", "trimmed"], bounced: ["b", "bounced"], detoured: ["d", "detoured"] };

  // Rows of values by index, in the encoding of the report: changes as LEB128, differences as zigzag.
  const unpacked = (part, frames) => {
    const text = atob(part.data);
    const rows = new Map();
    let at = 0, place = 0;
    const next = () => {
      let value = 0, factor = 1, byte;
      do {
        byte = text.charCodeAt(at);
        at += 1;
        value += (byte & 127) * factor;
        factor *= 128;
      } while (byte > 127);
      return value;
    };
    while (at < text.length) {
      place += next();
      const row = new Float32Array(frames);
      let frame = 0, value = 0;
      for (let changes = next(); changes > 0; changes -= 1) {
        const gap = next(), zigzag = next();
        row.fill(value * part.unit, frame, frame + gap);
        frame += gap;
        value += zigzag % 2 ? -(zigzag + 1) / 2 : zigzag / 2;
      }
      row.fill(value * part.unit, frame);
      rows.set(place, row);
    }
    return rows;
  };

  // A few lines over the whole run, with a mark at the shown frame; a column of pixels keeps the minimum and the maximum.
  const strip = ({ lines, frames, height, seek }) => {
    const canvas = element("canvas", { class: "strip", style: `height:${height}px` });
    const cursor = element("div", { class: "cursor" });
    const box = element("div", { class: "stripbox" }, canvas, cursor);
    const said = lines.map((line) => {
      const text = element("span", {});
      line.most ??= line.row.reduce((a, b) => Math.max(a, b), 0);
      const swatch = element("span", { class: "swatch", style: `background:${line.color()}` });
      return { line, text, swatch, whole: element("span", { class: "said" }, swatch, text) };
    });
    let wide = 1;
    const draw = () => {
      const ratio = Math.min(2, window.devicePixelRatio || 1);
      wide = Math.max(1, box.clientWidth);
      const width = Math.round(wide * ratio), high = Math.round(height * ratio);
      canvas.width = width;
      canvas.height = high;
      const context = canvas.getContext("2d");
      context.lineWidth = 1.4 * ratio;
      for (const { line, swatch } of said) {
        const { most } = line;
        swatch.style.background = line.color();
        context.strokeStyle = context.fillStyle = line.color();
        if (!(most > 0)) continue;
        const y = (value) => high - 1.5 * ratio - Math.min(1, value / most) * (high - 4 * ratio);
        context.beginPath();
        for (let x = 0; x < width; x += 1) {
          const from = Math.floor(x * frames / width), to = Math.max(from + 1, Math.floor((x + 1) * frames / width));
          let low = Infinity, top = -Infinity;
          for (let frame = from; frame < to; frame += 1) {
            low = Math.min(low, line.row[frame]);
            top = Math.max(top, line.row[frame]);
          }
          if (line.filled) {
            context.globalAlpha = 0.5;
            if (top > 0) context.fillRect(x, y(top), 1, high - y(top));
            context.globalAlpha = 1;
          } else {
            context.lineTo(x, y(low));
            if (top > low) context.lineTo(x, y(top));
          }
        }
        if (!line.filled) context.stroke();
      }
    };
    const at = (event) => {
      const edge = box.getBoundingClientRect();
      seek(Math.floor((event.clientX - edge.left) / Math.max(1, edge.width) * frames));
    };
    box.addEventListener("pointerdown", (event) => { box.setPointerCapture(event.pointerId); at(event); });
    box.addEventListener("pointermove", (event) => { if (event.buttons) at(event); });
    // During playback numbers change a few times per second: faster is unreadable, and text costs more than a line.
    const show = (frame, quiet) => {
      cursor.style.transform = `translateX(${((frame + 0.5) / frames * wide).toFixed(1)}px)`;
      if (!quiet) for (const { line, text } of said) text.textContent = `${line.name} ${line.said(line.row[frame])}${line.scaled ? ` (most ${line.said(line.most)})` : ""}`;
    };
    return { element: element("div", {}, element("div", { class: "saids" }, ...said.map(({ whole }) => whole)), box), draw, show };
  };

  const percent = (thousandths) => thousandths > 0 && thousandths < 1 ? "<0.1 %" : `${Number((thousandths / 10).toFixed(1))} %`;
  // Four hundred steps per run, rounded to a round interval.
  const everyOf = (endPs) => {
    const rough = Math.max(1, endPs / 4e8), power = 10 ** Math.floor(Math.log10(rough));
    const us = [1, 2, 5, 10].map((factor) => factor * power).find((found) => found >= rough);
    return us >= 1000 ? `${us / 1000}ms` : `${us}us`;
  };
  const setting = (key, value) => element("code", {}, `--set '${key}=${value}'`);

  const replayOf = (run, packed) => {
    const { summary } = run;
    const every = `{every="${everyOf(summary.simulated_ps)}"}`;
    if (!packed) {
      return element("div", { class: "replay" }, element("p", { class: "note" },
        `${run.label} did not record its ports, so there is no fabric to draw. Run it with `,
        setting("record.links", every), " ", setting("record.queues", every), " ", setting("record.pauses", "true"), " to draw it."));
    }
    const { nodes, layout, ports, frames } = packed;
    const count = nodes.name.length, none = new Float32Array(frames);
    const get = (part) => packed[part] ? unpacked(packed[part], frames) : null;
    const loads = get("links"), queues = get("queues");
    // A run without pauses needs no row for them.
    const pauses = summary.pauses.count > 0 ? get("pauses") : null;
    const events = (packed.events || []).map(([kind, part]) => [kind, unpacked(part, frames)]).filter(([, rows]) => rows.size);
    const rowOf = (rows, place) => (rows && rows.get(place)) || none;
    const rate = (port) => ports.rate_bps[ports.rate_bps.length > 1 ? port : 0];
    const nameOf = (port) => `${nodes.name[ports.node[port]]} port ${ports.number[port]}`;
    const peerOf = (port) => nodes.name[ports.node[ports.back[port]]];
    const own = Array.from({ length: count }, () => []);
    ports.node.forEach((node, port) => own[node].push(port));
    let longest = 0;
    for (const row of queues ? queues.values() : []) for (let at = 0; at < frames; at += 1) if (row[at] > longest) longest = row[at];

    // Time.
    const [unitPs, unit] = packed.end_ps >= 1e13 ? [1e12, "s"] : packed.end_ps >= 1e10 ? [1e9, "ms"] : [1e6, "us"];
    const decimals = Math.max(0, Math.min(6, Math.ceil(-Math.log10(packed.step_ps / unitPs) - 1e-9)));
    const timeOf = (ps) => (ps / unitPs).toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
    const spanOf = (frame) => `${timeOf(frame * packed.step_ps)} to ${timeOf(Math.min(packed.end_ps, (frame + 1) * packed.step_ps))} ${unit}`;

    // A link is one line, or one lane per direction if there is space.
    const links = ports.back.map((back, port) => [port, back]).filter(([port, back]) => port < back);
    const lanes = links.length <= 320;
    // Many lines hide each other: they are thin, and a selection dims the others.
    const dense = links.length > 1500;
    const lonely = (port) => layout.stacked && nodes.host[ports.node[port]];
    const lines = links.filter(([a, b]) => !lonely(a) && !lonely(b)).flatMap(([a, b]) => lanes ? [[a], [b]] : [[a, b]]);
    // The link of a stacked host is below its cell: the cell takes the colour.
    const cells = [];
    nodes.host.forEach((host, node) => { if (host) cells.push([node, own[node].flatMap((port) => [port, ports.back[port]])]); });
    const switches = [];
    nodes.host.forEach((host, node) => { if (!host) switches.push([node, own[node].map((port) => rowOf(queues, port)).filter((row) => row !== none)]); });
    const gathered = (places) => ({ places, loads: places.map((port) => rowOf(loads, port)).filter((row) => row !== none), pauses: places.map((port) => rowOf(pauses, port)).filter((row) => row !== none) });
    const lineRows = lines.map(gathered), cellRows = cells.map(([, places]) => gathered(places));
    const most = (rows, frame) => {
      let found = 0;
      for (let at = 0; at < rows.length; at += 1) if (rows[at][frame] > found) found = rows[at][frame];
      return found;
    };

    // The cycle of the summary: each of its ports waits for the next.
    const lit = new Set();
    const { deadlock } = summary;
    const named = new Map(nodes.name.map((name, node) => [name, node]));
    for (const edge of deadlock ? deadlock.cycle : []) {
      const port = (own[named.get(edge.node)] || []).find((found) => ports.number[found] === edge.port);
      if (port !== undefined) lit.add(port);
    }

    // Elements.
    const canvas = element("canvas", { class: "fabric", tabindex: "0", role: "img", "aria-label": `The fabric of ${run.label} over time` });
    const names = element("canvas", { class: "names" });
    const slider = element("input", { type: "range", min: "0", max: String(frames - 1), value: "0", step: "1", "aria-label": "Time" });
    const shown = element("output", { class: "clock" });
    const play = element("button", { type: "button", class: "play", "aria-label": "Play" }, "▶");
    const steps = [-1, 1].map((by) => element("button", { type: "button", "aria-label": by < 0 ? "Previous frame" : "Next frame" }, by < 0 ? "◀|" : "|▶"));
    const speed = element("select", { "aria-label": "Speed" });
    const wanted = [2, 5, 10, 20, 30, 60, 120, 300].filter((perSecond) => perSecond <= Math.max(10, frames));
    const usual = wanted.find((perSecond) => frames / perSecond <= 20) || wanted.at(-1);
    for (const perSecond of wanted) {
      const option = element("option", { value: String(perSecond) }, `${Number((perSecond * packed.step_ps / unitPs).toPrecision(4))} ${unit} a second`);
      option.selected = perSecond === usual;
      speed.append(option);
    }
    const zooms = [["+", 1.6, "Zoom in"], ["−", 1 / 1.6, "Zoom out"], ["all", 0, "Fit to window"]].map(([text, by, title]) => {
      const button = element("button", { type: "button", title }, text);
      button.addEventListener("click", () => zoom(by, canvas.clientWidth / 2, canvas.clientHeight / 2));
      return button;
    });
    const panel = element("div", { class: "panel" });
    const legend = element("div", { class: "keys" });

    // Sums over the whole fabric, to find times of interest.
    const sums = { load: new Float32Array(frames), queue: new Float32Array(frames), paused: new Float32Array(frames) };
    for (const row of loads ? loads.values() : []) for (let at = 0; at < frames; at += 1) sums.load[at] += row[at] / ports.node.length;
    for (const row of queues ? queues.values() : []) for (let at = 0; at < frames; at += 1) sums.queue[at] = Math.max(sums.queue[at], row[at]);
    for (const row of pauses ? pauses.values() : []) for (let at = 0; at < frames; at += 1) sums.paused[at] += row[at] > 0 ? 1 : 0;
    const themed = (pair) => () => pair[document.documentElement.dataset.theme === "dark" ? "dark" : "light"];
    const loadColor = themed({ light: "#2266a8", dark: "#5cb3e9" }), queueColor = themed(QUEUE), pauseColor = themed(PAUSE);
    const otherColor = themed({ light: "#009e73", dark: "#3fd0a4" });
    const bytesSaid = (value) => bytes(value);
    const overview = strip({
      frames, height: 54, seek: (frame) => go(frame),
      lines: [
        pauses && { name: "paused ports", row: sums.paused, color: pauseColor, filled: true, scaled: true, said: digits },
        loads && { name: "mean load", row: sums.load, color: loadColor, scaled: true, said: percent },
        queues && { name: "longest queue", row: sums.queue, color: queueColor, scaled: true, said: bytesSaid },
      ].filter(Boolean),
    });

    // The view.
    let frame = 0, playing = false, view = { zoom: 1, x: 0, y: 0 }, selected = null, still = null, strips = [], tellers = [];
    let width = 0, height = 0, ratio = 1, place = null;
    const measure = () => {
      width = Math.max(200, canvas.parentElement ? canvas.parentElement.clientWidth : 600);
      const natural = layout.height / layout.width * width;
      height = Math.round(layout.tiers ? Math.max(300, Math.min(600, natural)) : Math.max(260, Math.min(640, natural)));
      ratio = Math.min(2, window.devicePixelRatio || 1);
      canvas.style.height = `${height}px`;
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      let [sx, sy] = [width / layout.width, height / layout.height];
      if (!layout.tiers) sx = sy = Math.min(sx, sy);
      const [left, top] = [(width - sx * layout.width) / 2, (height - sy * layout.height) / 2];
      const x = new Float32Array(count), y = new Float32Array(count), w = new Float32Array(count), h = new Float32Array(count);
      for (let node = 0; node < count; node += 1) {
        x[node] = (left + layout.x[node] * sx) * view.zoom + view.x;
        y[node] = (top + layout.y[node] * sy) * view.zoom + view.y;
        const wide = layout.size[node] * sx * view.zoom, high = layout.size[node] * (layout.stacked ? sy : sx) * view.zoom;
        w[node] = Math.max(nodes.host[node] ? 2 : 3, Math.min(wide, 40));
        h[node] = nodes.host[node] ? Math.max(2, Math.min(high, layout.stacked ? 40 : w[node])) : Math.max(layout.tiers ? 9 : 5, Math.min(wide, 26));
      }
      const ends = new Float32Array(4 * lines.length);
      lines.forEach(([port, back], at) => {
        const [a, b] = [ports.node[port], ports.node[ports.back[port]]];
        let [dx, dy] = [x[b] - x[a], y[b] - y[a]];
        const length = Math.hypot(dx, dy) || 1;
        // Parallel links side by side; of two lanes each keeps to the right.
        const twins = own[a].filter((other) => ports.node[ports.back[other]] === b);
        const apart = twins.length > 1 ? (twins.indexOf(port) - (twins.length - 1) / 2) * (lanes ? 7 : 3) : 0;
        const shift = (lanes ? 2.4 : 0) + (back === undefined && port > ports.back[port] ? -1 : 1) * apart;
        [dx, dy] = [-dy / length * shift, dx / length * shift];
        ends.set([x[a] + dx, y[a] + dy, x[b] + dx, y[b] + dy], 4 * at);
      });
      place = { x, y, w, h, ends };
      still = null;
      canvas.style.touchAction = view.zoom > 1 ? "none" : "pan-y";
    };
    const zoom = (by, x, y) => {
      const before = view.zoom;
      const now = by === 0 ? 1 : Math.max(1, Math.min(40, before * by));
      const hold = (at, pan, size) => Math.min(0, Math.max(size - size * now, at - (at - pan) * now / before));
      view = now === 1 ? { zoom: 1, x: 0, y: 0 } : { zoom: now, x: hold(x, view.x, width), y: hold(y, view.y, height) };
      measure();
      draw();
    };
    const styled = () => {
      const style = getComputedStyle(document.documentElement);
      const [text, soft, line, back, card, bad] = ["--text", "--soft", "--line", "--back", "--card", "--bad"].map((name) => style.getPropertyValue(name).trim());
      const dark = document.documentElement.dataset.theme === "dark" ? "dark" : "light";
      const mixed = (color) => [1, 3, 5].map((at) => Math.round(0.25 * parseInt(color.slice(at, at + 2), 16) + 0.75 * parseInt(card.slice(at, at + 2), 16)));
      const dimmed = LOADS[dark].map((color) => `rgb(${mixed(color).join(",")})`);
      return { text, soft, line, back, card, bad, dimmed, loads: LOADS[dark], queue: QUEUE[dark], pause: PAUSE[dark], locked: LOCKED[dark], path: PATH[dark] };
    };
    let style = null;

    // Static elements are drawn once.
    const drawStill = () => {
      style = styled();
      still = document.createElement("canvas");
      still.width = canvas.width;
      still.height = canvas.height;
      const context = still.getContext("2d");
      context.scale(ratio, ratio);
      context.fillStyle = style.card;
      context.fillRect(0, 0, width, height);
      const { x, y, w, h, ends } = place;
      context.strokeStyle = style.line;
      context.lineWidth = lanes ? 1.2 : dense ? 0.3 : 0.6;
      context.beginPath();
      for (let at = 0; at < ends.length; at += 4) {
        context.moveTo(ends[at], ends[at + 1]);
        context.lineTo(ends[at + 2], ends[at + 3]);
      }
      context.stroke();
      // Names, if they fit, on a layer above all moving elements.
      names.width = canvas.width;
      names.height = canvas.height;
      const above = names.getContext("2d");
      above.scale(ratio, ratio);
      above.font = "11px system-ui, sans-serif";
      above.fillStyle = style.text;
      above.strokeStyle = style.card;
      above.lineWidth = 3;
      above.lineJoin = "round";
      // A coarse grid of occupied cells: nodes first, then names of switches, then those of hosts.
      const CELL = 5, taken = new Set();
      const area = (x1, y1, x2, y2, each) => {
        for (let across = Math.floor(x1 / CELL); across <= Math.floor(x2 / CELL); across += 1) {
          for (let down = Math.floor(y1 / CELL); down <= Math.floor(y2 / CELL); down += 1) if (each(across * 10000 + down)) return true;
        }
        return false;
      };
      const take = (key) => { taken.add(key); return false; };
      const seen = (node) => x[node] > -50 && x[node] < width + 50 && y[node] > -50 && y[node] < height + 50;
      const order = Array.from({ length: count }, (_, node) => node).filter(seen).sort((a, b) => nodes.host[a] - nodes.host[b] || x[a] - x[b]);
      for (const node of order) area(x[node] - w[node] / 2 + 1, y[node] - h[node] / 2 + 1, x[node] + w[node] / 2 - 1, y[node] + h[node] / 2 - 1, take);
      for (const node of order) {
        const name = nodes.name[node], wide = above.measureText(name).width;
        const sides = [-h[node] / 2 - 5, h[node] / 2 + 12].map((by) => Math.round(y[node] + by));
        const from = Math.max(x[node] - wide / 2, 2);
        if (from + wide > width - 2) continue;
        const row = (nodes.host[node] ? sides.reverse() : sides).find((base) => base > 10 && base < height - 3 && !area(from, base - 8, from + wide, base, (key) => taken.has(key)));
        if (row === undefined) continue;
        area(from - 4, row - 8, from + wide + 4, row, take);
        above.strokeText(name, from, row);
        above.fillText(name, from, row);
      }
    };
    const box = (context, node, grow) => {
      const { x, y, w, h } = place;
      context.rect(x[node] - w[node] / 2 - grow, y[node] - h[node] / 2 - grow, w[node] + 2 * grow, h[node] + 2 * grow);
    };
    const buckets = Array.from({ length: LEVELS }, () => []);
    const level = (thousandths) => Math.min(LEVELS - 1, Math.floor(thousandths * LEVELS / 1000));
    const trace = (context, at) => {
      const { ends } = place;
      context.moveTo(ends[4 * at], ends[4 * at + 1]);
      context.lineTo(ends[4 * at + 2], ends[4 * at + 3]);
    };
    const draw = () => {
      if (!place) return;
      if (!still) drawStill();
      const context = canvas.getContext("2d");
      context.setTransform(1, 0, 0, 1, 0, 0);
      context.drawImage(still, 0, 0);
      context.scale(ratio, ratio);
      const { x, y, w, h, ends } = place;
      // Links by load: the higher, the darker (or brighter) and the wider.
      const stroked = (rows, one, colors) => {
        for (let at = 0; at < LEVELS; at += 1) buckets[at].length = 0;
        for (let at = 0; at < rows.length; at += 1) {
          const load = most(rows[at].loads, frame);
          if (load > 0) buckets[level(load)].push(at);
        }
        for (let at = 0; at < LEVELS; at += 1) {
          if (!buckets[at].length) continue;
          context.strokeStyle = context.fillStyle = colors[at];
          context.lineWidth = lanes ? 1.6 + 0.25 * at : dense ? 0.4 + 0.07 * at : 0.8 + 0.12 * at;
          // Lines one by one: browsers draw many crossing lines in one path more slowly.
          for (const line of rows === lineRows ? buckets[at] : []) {
            context.beginPath();
            one(line);
            context.stroke();
          }
          if (rows === lineRows) continue;
          context.beginPath();
          for (const cell of buckets[at]) one(cell);
          context.fill();
        }
      };
      stroked(lineRows, (line) => trace(context, line), dense && selected ? style.dimmed : style.loads);
      if (dense && selected) {
        const chosen = selected.path || new Set(selected.node === undefined ? [selected.port, ports.back[selected.port]] : own[selected.node]);
        lines.forEach((line, at) => {
          const load = line.some((port) => chosen.has(port)) ? most(lineRows[at].loads, frame) : 0;
          if (!(load > 0)) return;
          context.strokeStyle = style.loads[level(load)];
          context.lineWidth = 1 + load / 500;
          context.beginPath();
          trace(context, at);
          context.stroke();
        });
      }
      // Queues at their port, along the link.
      if (lanes && longest > 0) {
        context.strokeStyle = style.queue;
        context.lineWidth = 5;
        context.beginPath();
        lines.forEach(([port], at) => {
          const share = rowOf(queues, port)[frame] / longest;
          if (!(share > 0)) return;
          const [x1, y1, x2, y2] = ends.subarray(4 * at, 4 * at + 4);
          const node = ports.node[port], length = Math.hypot(x2 - x1, y2 - y1) || 1;
          const from = Math.min(0.3, Math.max(w[node], h[node]) / 2 / length), to = from + Math.max(2 / length, 0.4 * share);
          context.moveTo(x1 + (x2 - x1) * from, y1 + (y2 - y1) * from);
          context.lineTo(x1 + (x2 - x1) * to, y1 + (y2 - y1) * to);
        });
        context.stroke();
      }
      // Pauses: dashes over the link, and a bar at the paused sender.
      context.strokeStyle = style.pause;
      context.lineWidth = lanes ? 2.4 : dense ? 1.2 : 1.6;
      context.setLineDash([5, 4]);
      context.beginPath();
      for (let at = 0; at < lines.length; at += 1) if (most(lineRows[at].pauses, frame) > 0) trace(context, at);
      context.stroke();
      context.setLineDash([]);
      context.beginPath();
      for (let at = 0; at < lines.length; at += 1) {
        for (const port of lines[at]) {
          if (!(rowOf(pauses, port)[frame] > 0)) continue;
          let [x1, y1, x2, y2] = ends.subarray(4 * at, 4 * at + 4);
          if (ports.node[port] !== ports.node[lines[at][0]]) [x1, y1, x2, y2] = [x2, y2, x1, y1];
          const node = ports.node[port], length = Math.hypot(x2 - x1, y2 - y1) || 1;
          const from = Math.min(0.4, (Math.max(w[node], h[node]) / 2 + 4) / length), half = lanes ? 5 : 2.5;
          const [px, py] = [x1 + (x2 - x1) * from, y1 + (y2 - y1) * from];
          const [nx, ny] = [-(y2 - y1) / length * half, (x2 - x1) / length * half];
          context.moveTo(px - nx, py - ny);
          context.lineTo(px + nx, py + ny);
        }
      }
      context.stroke();
      // Hosts: the cell has the colour of the link; switches: filled by the longest queue.
      context.fillStyle = style.line;
      context.beginPath();
      for (const [node] of cells) box(context, node, 0);
      context.fill();
      stroked(cellRows, (cell) => box(context, cells[cell][0], 0), style.loads);
      context.strokeStyle = style.pause;
      context.lineWidth = 1.6;
      context.beginPath();
      cellRows.forEach((row, at) => { if (most(row.pauses, frame) > 0) box(context, cells[at][0], 0.4); });
      context.stroke();
      context.fillStyle = style.back;
      context.strokeStyle = style.soft;
      context.lineWidth = 1;
      context.beginPath();
      for (const [node] of switches) box(context, node, 0);
      context.fill();
      context.stroke();
      context.fillStyle = style.queue;
      for (const [node, rows] of switches) {
        const share = longest > 0 ? most(rows, frame) / longest : 0;
        if (!(share > 0)) continue;
        const full = Math.max(1.2, (h[node] - 1) * share);
        context.fillRect(x[node] - w[node] / 2 + 0.5, y[node] + h[node] / 2 - 0.5 - full, w[node] - 1, full);
      }
      // Events of traced frames, beside their node.
      context.font = "bold 12px system-ui, sans-serif";
      context.textAlign = "left";
      events.forEach(([kind, rows], at) => {
        for (const [node, row] of rows) {
          if (!(row[frame] > 0)) continue;
          context.fillStyle = kind === "dropped" ? style.bad : style.text;
          context.fillText(`${EVENT_WORDS[kind][0]}${row[frame] > 1 ? row[frame] : ""}`, x[node] + w[node] / 2 + 2, y[node] + 4 + 11 * at);
        }
      });
      // A deadlock, from the time at which the cycle closed.
      if (lit.size && (frame + 1) * packed.step_ps >= deadlock.closed_ps) {
        context.strokeStyle = context.fillStyle = style.locked;
        context.lineWidth = 4;
        context.beginPath();
        lines.forEach((line, at) => { if (line.some((port) => lit.has(port))) trace(context, at); });
        for (const port of lit) box(context, ports.node[port], 3);
        context.stroke();
        lines.forEach((line, at) => {
          const port = line.find((found) => lit.has(found));
          if (port === undefined) return;
          let [x1, y1, x2, y2] = ends.subarray(4 * at, 4 * at + 4);
          if (ports.node[port] !== ports.node[line[0]]) [x1, y1, x2, y2] = [x2, y2, x1, y1];
          const turn = Math.atan2(y2 - y1, x2 - x1), [mx, my] = [(x1 + x2) / 2, (y1 + y2) / 2];
          context.beginPath();
          for (const [far, side] of [[10, 0], [-6, 8], [-6, -8]]) context.lineTo(mx + far * Math.cos(turn) - side * Math.sin(turn), my + far * Math.sin(turn) + side * Math.cos(turn));
          context.fill();
        });
      }
      if (selected) {
        context.strokeStyle = style.text;
        context.lineWidth = 2;
        context.beginPath();
        if (selected.path) {
          context.strokeStyle = style.path;
          context.lineWidth = lanes ? 4 : selected.path.size > 40 ? 0.8 : 2.5;
          lines.forEach((line, at) => { if (line.some((port) => selected.path.has(port))) trace(context, at); });
          context.stroke();
          context.beginPath();
          context.lineWidth = 2.5;
          for (const port of selected.path) for (const end of [port, ports.back[port]]) box(context, ports.node[end], 3);
        } else if (selected.node !== undefined) box(context, selected.node, 3);
        else {
          for (const port of [selected.port, ports.back[selected.port]]) box(context, ports.node[port], 2);
          lines.forEach((line, at) => { if (line.includes(selected.port) || line.includes(ports.back[selected.port])) trace(context, at); });
          context.setLineDash([1, 3]);
        }
        context.stroke();
        context.setLineDash([]);
      }
    };
    let announcedAt = 0;
    const show = () => {
      const quiet = playing && performance.now() - announcedAt < 100;
      slider.value = String(frame);
      canvas.dataset.frame = String(frame);
      overview.show(frame, quiet);
      for (const one of strips) one.show(frame, quiet);
      if (!quiet) {
        announcedAt = performance.now();
        shown.textContent = spanOf(frame);
        markNow((frame + 0.5) * packed.step_ps / 1e6);
        for (const tell of tellers) tell();
      }
      draw();
    };
    const go = (to) => {
      const next = Math.max(0, Math.min(frames - 1, to));
      if (next === frame) return;
      frame = next;
      show();
    };

    // The selection, beside the fabric.
    const series = (title, list) => {
      const known = list.filter((line) => line.row);
      if (!known.length) return null;
      const made = strip({ frames, height: 56, seek: go, lines: known });
      strips.push(made);
      return element("div", {}, element("h4", {}, title), made.element);
    };
    const notRecorded = (key, value, what) => element("p", { class: "note" }, `${what} not recorded: run with `, setting(key, value), ".");
    const pauseSaid = (value) => value > 0 ? `stopped ${percent(value)}` : "-";
    const summed = (rows) => {
      const total = new Float32Array(frames);
      for (const row of rows) for (let at = 0; at < frames; at += 1) total[at] += row[at];
      return total;
    };
    const happened = () => dropped(run) + summary.event_counts.trims + summary.event_counts.bounces + summary.event_counts.detours;
    const missing = () => [
      loads ? null : notRecorded("record.links", every, "The load of links was"),
      queues ? null : notRecorded("record.queues", every, "Queues were"),
      pauses || !summary.pauses.count ? null : notRecorded("record.pauses", "true", `${digits(summary.pauses.count)} pauses were sent; their ports were`),
      packed.events || !happened() ? null : notRecorded("record.trace", "{}", `${digits(happened())} packets were dropped, trimmed or bounced; their times were`),
    ];
    // The cause of a pause at the shown frame: from the port to the longest queue of the node that paused it,
    // and further while that port is paused itself.
    const stopped = (port) => rowOf(pauses, port)[frame] > 0;
    const toward = (port) => `${nameOf(port)} towards ${peerOf(port)}`;
    const chain = (port) => {
      const said = [], seen = new Set();
      for (let at = port; ;) {
        if (seen.has(at)) return [...said, "This closes a cycle: these ports wait for each other."];
        seen.add(at);
        const by = ports.node[ports.back[at]];
        said.push(`${toward(at)} is paused by ${nodes.name[by]}.`);
        if (!queues || nodes.host[by]) return said;
        const [longest] = own[by].filter((other) => other !== ports.back[at]).sort((a, b) => rowOf(queues, b)[frame] - rowOf(queues, a)[frame]);
        if (longest === undefined || !(rowOf(queues, longest)[frame] > 0)) return [...said, `No sample of this frame has a backlog at ${nodes.name[by]}.`];
        const held = bytes(rowOf(queues, longest)[frame]);
        if (!stopped(longest)) return [...said, `There ${held} wait for ${toward(longest)}, which is not stopped: that is the congested port.`];
        said.push(`There ${held} wait for ${toward(longest)}, which is itself stopped.`);
        at = longest;
      }
    };
    const traced = Boolean(packed.events);
    const asks = (option, value) => traced ? command("tidegate", "why", run.folder, option, value)
      : element("p", { class: "note" }, "tidegate why shows the causes for a run with ", setting("record.trace", "{}"), ".");
    // Causes of pauses, for those of these ports that are paused at any time.
    const why = (some) => {
      const pausedPorts = some.filter((port) => rowOf(pauses, port).some((share) => share > 0));
      const held = pausedPorts.length ? [] : some.filter((port) => rowOf(queues, port).some((length) => length > 0)).slice(0, 1);
      if (!pausedPorts.length && !held.length) return null;
      const now = element("div", { class: "why" });
      let last = null;
      tellers.push(() => {
        const port = pausedPorts.find(stopped);
        const said = pausedPorts.length === 0 ? [] : port === undefined ? ["It is not stopped at this time."] : chain(port);
        if (said.join() === last) return;
        last = said.join();
        now.replaceChildren(...said.map((line) => element("p", {}, line)));
      });
      const places = [...pausedPorts, ...held].slice(0, 3).map((port) => asks("--port", `${nodes.name[ports.node[port]]}:${ports.number[port]}`));
      return element("div", {}, element("h4", {}, pausedPorts.length ? "Causes of the pause, by the longest queues of this frame" : "Causes of the backlog"), now, ...(traced ? places : places.slice(0, 1)));
    };
    const ofLink = (port) => {
      const ends = [port, ports.back[port]];
      const colors = [loadColor, otherColor];
      const list = (rows, said, most) => ends.map((end, at) => ({ name: `from ${nodes.name[ports.node[end]]}`, row: rowOf(rows, end), color: colors[at], said, most }));
      const greatest = Math.max(...ends.map((end) => rowOf(queues, end).reduce((a, b) => Math.max(a, b), 0)));
      return [
        element("h3", {}, `${nameOf(ends[0])} to ${nameOf(ends[1])}`),
        element("p", { class: "note" }, `${digits(rate(port) / 1e9)} Gbps per direction`),
        why(ends),
        loads && series("Load of the link", list(loads, percent, 1000)),
        queues && series(`Its queue, at most ${bytes(greatest)}`, list(queues, bytesSaid, greatest || 1)),
        pauses && series("Paused, share of the frame", list(pauses, pauseSaid, 1000)),
      ];
    };
    const MOST_PORTS = 40;
    const ofNode = (node) => {
      const mine = own[node], theirs = mine.map((port) => ports.back[port]);
      const mean = (places) => summed(places.map((port) => rowOf(loads, port))).map((sum) => sum / Math.max(1, places.length));
      const waiting = summed(mine.map((port) => rowOf(queues, port)));
      const stopped = summed(mine.map((port) => rowOf(pauses, port).map((share) => share > 0 ? 1 : 0)));
      const greatest = waiting.reduce((a, b) => Math.max(a, b), 0);
      const shown = mine.slice(0, MOST_PORTS);
      const rows = shown.map((port) => {
        const values = [0, 1, 2].map(() => element("td", {}, ""));
        const link = element("button", { type: "button", class: "link" }, `${ports.number[port]} to ${peerOf(port)}`);
        link.addEventListener("click", () => select({ port }));
        return { port, values, row: element("tr", {}, element("td", {}, link), ...values) };
      });
      tellers.push(() => {
        for (const { port, values } of rows) {
          values[0].textContent = loads ? percent(rowOf(loads, port)[frame]) : "-";
          values[1].textContent = queues && !nodes.host[node] ? bytes(rowOf(queues, port)[frame]) : "-";
          values[2].textContent = pauseSaid(rowOf(pauses, port)[frame]);
        }
      });
      const losses = summary.losses.filter((loss) => loss.node === nodes.name[node]);
      const head = element("tr", {}, ...["port", "load", "queue", "paused"].map((name) => element("th", {}, name)));
      return [
        element("h3", {}, nodes.name[node]),
        element("p", { class: "note" }, `${nodes.host[node] ? "host" : "switch"}, ${mine.length} port${mine.length === 1 ? "" : "s"}`),
        ...[["trims", "trimmed"], ["bounces", "bounced or detoured"]].flatMap(([key, what]) => (summary[key] ? summary[key].switches : [])
          .filter((found) => found.node === nodes.name[node]).map((found) => element("p", { class: "note" }, `${digits(found[key])} packets were ${what} here in the whole run.`))),
        ...losses.map((loss) => element("p", { class: "bad" }, `${digits(loss.packets)} packets were lost here in the whole run: ${loss.cause}`)),
        why(mine),
        loads && series("Mean load of its links", [
          { name: "out", row: mean(mine), color: loadColor, said: percent, most: 1000 }, { name: "in", row: mean(theirs), color: otherColor, said: percent, most: 1000 }]),
        queues && !nodes.host[node] && series(`Sum of the longest queues of its ports, at most ${bytes(greatest)}`, [{ name: "queues", row: waiting, color: queueColor, said: bytesSaid }]),
        queues && nodes.host[node] ? element("p", { class: "note" }, "Queues are recorded at switches only.") : null,
        pauses && series("Paused ports", [{ name: "paused", row: stopped, color: pauseColor, filled: true, said: (value) => `${value} of ${mine.length}`, most: mine.length }]),
        ...events.filter(([, rows]) => rows.has(node)).map(([kind, rows]) => series(`Traced frames ${EVENT_WORDS[kind][1]} here`, [{ name: kind, row: rows.get(node), color: queueColor, filled: true, said: digits }])),
        element("div", { class: "scroll" }, element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows.map(({ row }) => row)))),
        mine.length > MOST_PORTS ? element("p", { class: "note" }, `The first ${MOST_PORTS} of ${mine.length} ports.`) : null,
      ];
    };

    // Flows: a list with a filter; the selected flow highlights its path.
    const { flows } = run;
    const hosts = nodes.host.map((host, node) => host ? node : -1).filter((node) => node >= 0);
    const hostName = (host) => hosts[host] === undefined ? `host ${host}` : nodes.name[hosts[host]];
    const between = (flow) => `${hostName(flow.hosts[0])} to ${hostName(flow.hosts[1])}`;
    const sizeOf = (flow) => flow.bytes > 1e18 ? "endless" : bytes(flow.bytes);
    const labelOf = (flow) => flows.labels[flow.label] || "";
    // Every shortest path from one host to the other over the links of the fabric.
    const shortest = ([from, to]) => {
      const far = new Int32Array(count).fill(-1);
      const found = new Set();
      if (from === undefined || to === undefined) return found;
      far[to] = 0;
      for (const queue = [to]; queue.length;) {
        const node = queue.shift();
        if (nodes.host[node] && node !== to) continue;
        for (const port of own[node]) {
          const next = ports.node[ports.back[port]];
          if (far[next] < 0) { far[next] = far[node] + 1; queue.push(next); }
        }
      }
      const open = [from], seen = new Set(open);
      while (open.length) {
        const node = open.pop();
        for (const port of far[node] > 0 ? own[node] : []) {
          const next = ports.node[ports.back[port]];
          if (far[next] !== far[node] - 1) continue;
          found.add(port);
          if (!seen.has(next)) { seen.add(next); open.push(next); }
        }
      }
      return found;
    };
    const pathOf = (flow) => packed.paths && packed.paths[flow.flow] ? new Set(packed.paths[flow.flow]) : shortest(flow.hosts.map((host) => hosts[host]));
    const MOST_ROWS = 100;
    const ofFlows = () => {
      if (!flows.list.length) return [element("p", { class: "note" }, "Click a node or a link to see its activity over time. The run recorded no flows.")];
      const filter = element("input", { type: "search", placeholder: "number, host, traffic", "aria-label": "Filter flows", value: wantedFlows });
      const body = element("tbody", {}), said = element("p", { class: "note" });
      const fill = () => {
        const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
        wantedFlows = filter.value;
        // A number selects a flow; other words match the begin of a host's name or of a word of the label.
        const searchText = (flow) => [...flow.hosts.map(hostName), ...labelOf(flow).split(" "), "flow"].map((text) => text.toLowerCase());
        const fits = (flow) => words.every((word) => /^\d+$/.test(word) ? String(flow.flow) === word : searchText(flow).some((text) => text.startsWith(word)));
        const found = words.length ? flows.list.filter(fits) : flows.list;
        body.replaceChildren(...found.slice(0, MOST_ROWS).map((flow) => {
          const link = element("button", { type: "button", class: "link" }, String(flow.flow));
          const row = element("tr", { class: "flow" }, element("td", {}, link), element("td", { class: "left" }, between(flow)), element("td", {}, sizeOf(flow)),
            element("td", {}, flow.fct_us === null ? "open" : quantity("us", flow.fct_us, 3)), element("td", {}, flow.slowdown === null ? "-" : bare(flow.slowdown, 3)));
          row.addEventListener("click", () => select({ flow }));
          return row;
        }));
        said.textContent = `${found.length > MOST_ROWS ? `The first ${MOST_ROWS} of ${digits(found.length)}` : digits(found.length)} flows, incomplete and slowest first.${flows.recorded > flows.list.length ? ` The page has ${digits(flows.list.length)} of ${digits(flows.recorded)}.` : ""}`;
      };
      filter.addEventListener("input", fill);
      fill();
      return [
        element("p", { class: "note" }, "Click a node, a link or a flow to see its activity over time."),
        element("div", { class: "flows" }, filter, element("div", { class: "scroll" }, element("table", {}, element("thead", {}, element("tr", {}, ...["flow", "from, to", "size", "FCT", "slowd."].map((name, at) => element("th", at === 1 ? { class: "left" } : {}, name)))), body)), said),
      ];
    };
    const ofFlow = (flow) => {
      const known = packed.paths && packed.paths[flow.flow];
      const mine = (curves) => curves.find((curve) => curve.flow === flow.flow);
      const panels = run.controls.map((panel) => ({ title: panel.title, unit: panel.unit, line: mine(panel.curves) })).filter(({ line }) => line);
      const rates = mine(run.throughput);
      const small = (title, kind, line, step) => plot({ title: `${title} of flow ${flow.flow}`, caption: "", bare: true, height: 130, small: true, x: TIME, y: axis(kind), lines: [{ ...line, name: title }], step });
      const facts = [["size", sizeOf(flow)], ["started", quantity("us", flow.start_us, 6)], ["completed after", flow.fct_us === null ? "not complete" : quantity("us", flow.fct_us, 6)],
        ["slowdown", flow.slowdown === null ? "-" : digits(flow.slowdown)], ["retransmitted", bytes(flow.again_bytes)], ["timeouts", digits(flow.timeouts)]];
      const go_ = element("button", { type: "button" }, "Go to its start");
      go_.addEventListener("click", () => go(Math.floor(flow.start_us * 1e6 / packed.step_ps)));
      return [
        element("h3", {}, `flow ${flow.flow}: ${between(flow)}`),
        element("p", { class: "note" }, labelOf(flow)),
        element("table", {}, element("tbody", {}, ...facts.map(([name, value]) => element("tr", {}, element("td", {}, name), element("td", {}, value))))),
        element("p", {}, go_),
        element("p", { class: "note" }, known ? "Its traced path is highlighted." : "All shortest paths between its hosts are highlighted; the path in use is recorded for traced flows only."),
        rates ? small("Throughput", "Gbps", rates, "mean") : null,
        ...panels.map(({ title, unit, line }) => small(title, unit, line)),
        panels.length || rates ? null : element("p", { class: "note" }, run.controls.length ? `Its rate and window are not on this page: it has only those of the first ${run.controls[0].curves.length} flows.` : "Its rate and window were not recorded: run with ", run.controls.length ? null : setting("record.control", every), run.controls.length ? null : "."),
        asks("--flow", String(flow.flow)),
      ];
    };

    // The load of links over time: a row per direction, the busiest on top.
    const ROWS = 40;
    const heat = () => {
      const kinds = [["load", loads, 1000, loadColor], ["queue", queues, longest, queueColor], ["paused", pauses, 1000, pauseColor]].filter(([, rows]) => rows && rows.size);
      if (!kinds.length) return null;
      let [kind] = kinds;
      const sum = (row) => {
        let total = 0;
        for (let at = 0; at < frames; at += 1) total += row[at];
        return total;
      };
      let active = 0;
      const chosen = () => {
        const found = [];
        for (const [port, row] of kind[1]) {
          const total = sum(row);
          if (total > 0) found.push({ port, row, sum: total });
        }
        active = found.length;
        return found.sort((a, b) => b.sum - a.sum || a.port - b.port).slice(0, ROWS);
      };
      let rows = [];
      const y = { names: [] };
      const name = ({ port }) => `${nodes.name[ports.node[port]]}:${ports.number[port]} → ${peerOf(port)}`;
      const text = (value) => kind[0] === "queue" ? bytes(value) : percent(value);
      const countNote = element("p", { class: "note" });
      const set = () => {
        rows = chosen();
        y.names = rows.map(name);
        const what = { load: "busiest", queue: "fullest", paused: "longest paused" }[kind[0]];
        countNote.textContent = `${rows.length < active ? `${rows.length} ${what} of ${digits(active)} active links (per direction)` : `All ${rows.length} active links (per direction), ${what} first`}; a pixel has the colour of its greatest value.`;
      };
      set();
      const list = element("select", { "aria-label": "Quantity of the heat map" }, ...kinds.map(([what], at) => element("option", { value: String(at) }, { load: "load of the link", queue: "its queue", paused: "pauses of its sender" }[what])));
      const made = plot({
        title: of(run, "Links over time"), caption: "", x: TIME, y, rowHeight: rows.length > 24 ? 13 : 18,
        marks: (pen) => {
          const [, , most, color] = kind;
          const ramp = kind[0] === "load" ? LOADS[mode()] : Array.from({ length: LEVELS }, (_, at) => mixedWith(color(), styleOf("--card"), 0.25 + 0.75 * at / (LEVELS - 1)));
          const step = packed.step_ps / 1e6, wide = (pen.to - pen.from) / pen.columns;
          rows.forEach(({ row }, index) => {
            let from = 0, before = -1;
            for (let column = 0; column <= pen.columns; column += 1) {
              let value = 0;
              if (column < pen.columns) {
                const start = Math.max(0, Math.floor((pen.from + column * wide) / step)), end = Math.min(frames, Math.max(start + 1, Math.floor((pen.from + (column + 1) * wide) / step)));
                for (let at = start; at < end; at += 1) value = Math.max(value, row[at]);
              }
              const now = column < pen.columns && value > 0 ? Math.min(LEVELS - 1, Math.floor(value * LEVELS / most)) : -1;
              if (now === before) continue;
              if (before >= 0) pen.rect(pen.from + from * wide, index - 0.45, pen.from + column * wide, index + 0.45, ramp[before]);
              [from, before] = [column, now];
            }
          });
        },
        read: (place, at) => {
          const found = rows[Math.round(at)], now = Math.floor(place * 1e6 / packed.step_ps);
          return found && now >= 0 && now < frames ? `${name(found)} at ${quantity("us", place, 6)}: ${text(found.row[now])}` : "";
        },
      });
      made.classList.add("heat");
      list.addEventListener("change", () => {
        kind = kinds[Number(list.value)];
        set();
        made.plot.again();
      });
      return element("div", {}, made, element("div", { class: "controls" }, element("label", {}, "Show ", list)), countNote);
    };
    const mixedWith = (color, other, share) => `rgb(${[1, 3, 5].map((at) => Math.round(share * parseInt(color.slice(at, at + 2), 16) + (1 - share) * parseInt(other.slice(at, at + 2), 16))).join(",")})`;
    let wantedFlows = "";
    const select = (what) => {
      selected = what;
      strips = [];
      tellers = [];
      const close = element("button", { type: "button", class: "close", title: "Clear the selection" }, "×");
      close.addEventListener("click", () => select(null));
      if (what && what.flow) what.path = pathOf(what.flow);
      const parts = what === null ? ofFlows()
        : [close, ...(what.flow ? ofFlow(what.flow) : [...(what.node !== undefined ? ofNode(what.node) : ofLink(what.port)), ...missing()])];
      panel.replaceChildren(...parts.filter(Boolean));
      for (const one of strips) one.draw();
      show();
    };
    const found = (px, py) => {
      const { x, y, w, h, ends } = place;
      let best = null, near = Infinity;
      for (let node = 0; node < count; node += 1) {
        const far = Math.hypot(Math.max(0, Math.abs(px - x[node]) - w[node] / 2), Math.max(0, Math.abs(py - y[node]) - h[node] / 2));
        const whole = far * 1000 + Math.hypot(px - x[node], py - y[node]);
        if (far <= 4 && whole < near) [best, near] = [{ node }, whole];
      }
      if (best) return best;
      near = 7;
      for (let at = 0; at < lines.length; at += 1) {
        const [x1, y1, x2, y2] = ends.subarray(4 * at, 4 * at + 4);
        const square = (x2 - x1) ** 2 + (y2 - y1) ** 2 || 1;
        const along = Math.max(0, Math.min(1, ((px - x1) * (x2 - x1) + (py - y1) * (y2 - y1)) / square));
        const far = Math.hypot(px - x1 - along * (x2 - x1), py - y1 - along * (y2 - y1));
        if (far < near) [best, near] = [{ port: lines[at][0] }, far];
      }
      return best;
    };

    // Input by pointer and keys.
    let held = null;
    canvas.addEventListener("pointerdown", (event) => {
      held = { x: event.clientX, y: event.clientY, view: { ...view }, moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!held) return;
      const [dx, dy] = [event.clientX - held.x, event.clientY - held.y];
      if (Math.hypot(dx, dy) > 5) held.moved = true;
      if (!held.moved || view.zoom === 1) return;
      const within = (value, size) => Math.min(0, Math.max(size - size * view.zoom, value));
      view.x = within(held.view.x + dx, width);
      view.y = within(held.view.y + dy, height);
      measure();
      draw();
    });
    canvas.addEventListener("pointerup", (event) => {
      const was = held;
      held = null;
      if (!was || was.moved) return;
      const edge = canvas.getBoundingClientRect();
      select(found(event.clientX - edge.left, event.clientY - edge.top));
    });
    canvas.addEventListener("pointercancel", () => { held = null; });
    canvas.addEventListener("dblclick", (event) => {
      const edge = canvas.getBoundingClientRect();
      zoom(2, event.clientX - edge.left, event.clientY - edge.top);
    });
    canvas.addEventListener("wheel", (event) => {
      // With the modifier that zooms a page: without it the wheel scrolls, as elsewhere.
      if (!event.ctrlKey) return;
      event.preventDefault();
      const edge = canvas.getBoundingClientRect();
      zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, event.clientX - edge.left, event.clientY - edge.top);
    }, { passive: false });
    let since = 0, begun = 0;
    const tick = (now) => {
      if (!playing) return;
      const to = begun + Math.floor((now - since) / 1000 * Number(speed.value));
      go(to);
      if (frame >= frames - 1) toggle();
      else requestAnimationFrame(tick);
    };
    const restart = () => { since = performance.now(); begun = frame; };
    const toggle = () => {
      playing = !playing;
      show();
      play.textContent = playing ? "❚❚" : "▶";
      play.setAttribute("aria-label", playing ? "Pause" : "Play");
      if (!playing) return;
      if (frame >= frames - 1) go(0);
      restart();
      requestAnimationFrame(tick);
    };
    const step = (by) => { if (playing) toggle(); go(frame + by); };
    play.addEventListener("click", toggle);
    steps.forEach((button, at) => button.addEventListener("click", () => step(at === 0 ? -1 : 1)));
    speed.addEventListener("change", restart);
    slider.addEventListener("input", () => { go(Number(slider.value)); restart(); });

    const key = (color, text, dashed) => element("span", { class: "said" }, element("span", { class: dashed ? "swatch dashed" : "swatch", style: dashed ? `border-color:${color}` : `background:${color}` }), text);
    const keys = () => {
      const now = styled();
      const ramp = element("span", { class: "ramp", style: `background:linear-gradient(to right, ${now.line}, ${now.loads.join(", ")})` });
      legend.replaceChildren(...[
        loads && element("span", { class: "said" }, "idle ", ramp, ` fully loaded${lanes ? "" : ", busier direction"}`),
        queues && key(now.queue, longest > 0 ? `queue: full at ${bytes(longest)}, the longest of the run` : "queue: always empty"),
        pauses && key(now.pause, "paused", true),
        summary.pauses.count > 0 ? null : element("span", { class: "said" }, "no port was paused"),
        lit.size ? key(now.locked, `deadlock, closed at ${timeOf(deadlock.closed_ps)} ${unit}`) : null,
        ...events.map(([kind]) => element("span", { class: "said" }, `${EVENT_WORDS[kind][0]} ${EVENT_WORDS[kind][1]} (traced frames)`)),
      ].filter(Boolean));
    };
    const samplesPerFrame = (ps) => ps ? Math.round(packed.step_ps / ps) : 0;
    const [linkSamples, queueSamples] = packed.sample_intervals_ps.map(samplesPerFrame);
    const means = [
      linkSamples > 1 ? `load is the mean of ${linkSamples} samples` : null, queueSamples > 1 ? `a queue is the maximum of ${queueSamples} samples` : null,
    ].filter(Boolean);
    const stage = element("div", { class: "stage" }, canvas, names);
    const whole = element("div", { class: "replay" },
      element("div", { class: "side" },
        element("div", {}, stage, legend,
          element("div", { class: "controls" }, steps[0], play, steps[1], slider, shown),
          overview.element,
          element("div", { class: "controls" }, element("label", {}, "Speed ", speed), element("span", { class: "zooms" }, "Zoom ", ...zooms), element("span", { class: "note" }, "Space plays, arrows step, Ctrl and wheel zoom.")),
          note(`${digits(count)} nodes, ${digits(links.length)} links; ${digits(frames)} frames of ${Number((packed.step_ps / unitPs).toPrecision(6))} ${unit}.${means.length ? ` The run recorded more: in a frame, ${means.join(", and ")}.` : ""}`),
          ...[layout.stacked ? note("Hosts are below their switch, in the colour of their link.") : null,
            pauses && packed.pauses_sampled ? note("Pauses are from samples of the queues of switches: run with record.pauses = true for all pauses, also of hosts.") : null,
            ...missing()].filter(Boolean)),
        panel), heat());
    whole.addEventListener("keydown", (event) => {
      const { target } = event;
      if (target instanceof HTMLSelectElement || event.ctrlKey || event.altKey || event.metaKey) return;
      if (event.key === " " && !(target instanceof HTMLButtonElement)) toggle();
      else if (event.key === "ArrowRight" || event.key === "ArrowLeft") step((event.key === "ArrowLeft" ? -1 : 1) * (event.shiftKey ? 10 : 1));
      else if (event.key === "Home") step(-frames);
      else if (event.key === "End") step(frames);
      else return;
      event.preventDefault();
      restart();
    });
    const all = () => {
      if (!whole.isConnected) return;
      measure();
      keys();
      overview.draw();
      for (const one of strips) one.draw();
      show();
    };
    document.addEventListener("theme", all);
    new ResizeObserver(() => { if (Math.abs(canvas.parentElement.clientWidth - width) > 1) all(); }).observe(stage);
    select(null);
    whole.start = () => { clock.seek = (us) => go(Math.floor(us * 1e6 / packed.step_ps)); all(); };
    whole.halt = () => { if (playing) toggle(); };
    whole.keys = (event) => whole.dispatchEvent(new KeyboardEvent("keydown", event));
    return whole;
  };

  // One run at a time; others are unpacked when they are selected.
  const replays = () => {
    const area = element("div");
    let shown = null;
    const choose = (at) => {
      if (shown && shown.halt) shown.halt();
      clock.seek = null;
      markNow(null);
      shown = replayOf(DATA.runs[at], DATA.replays[at]);
      area.replaceChildren(shown);
      if (shown.start) shown.start();
    };
    const list = element("select", { "aria-label": "Run" }, ...DATA.runs.map((run, at) => element("option", { value: String(at) }, run.label)));
    list.addEventListener("change", () => choose(Number(list.value)));
    const first = Math.max(0, DATA.replays.findIndex(Boolean));
    list.value = String(first);
    main.append(element("h2", { id: "replay" }, "Replay"), ...(DATA.runs.length > 1 ? [element("label", { class: "note" }, "Run ", list)] : []), area);
    choose(first);
    // Keys go to the replay while it is visible, unless another element has the focus.
    document.addEventListener("keydown", (event) => {
      if (event.target !== document.body || !shown.keys) return;
      const { top, bottom } = area.getBoundingClientRect();
      if (top > window.innerHeight - 100 || bottom < 100 || ![" ", "ArrowLeft", "ArrowRight"].includes(event.key)) return;
      event.preventDefault();
      shown.keys({ key: event.key, shiftKey: event.shiftKey });
    });
  };
