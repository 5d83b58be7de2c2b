  const DATA = JSON.parse(document.getElementById("data").textContent);
  const main = document.getElementById("main");
  const PALETTE = {
    light: ["#0072b2", "#d55e00", "#009e73", "#b5529b", "#9a7600", "#3b9bd6", "#7a5195", "#777777", "#a05a2c", "#2f8585", "#c44e52", "#5a7d2a"],
    dark: ["#4aa8e8", "#ff8f4a", "#35c79a", "#e593c6", "#dfb73b", "#8fd0ff", "#b795e0", "#b0b0b0", "#d19a6a", "#6cc7c7", "#f0868a", "#a3cc66"],
  };
  const mode = () => document.documentElement.dataset.theme === "dark" ? "dark" : "light";
  const colorOf = (index) => PALETTE[mode()][index % PALETTE.light.length];
  // Colours are needed often per figure, and change only with the theme.
  const styles = new Map();
  document.addEventListener("theme", () => styles.clear());
  const styleOf = (name) => {
    if (!styles.has(name)) styles.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
    return styles.get(name);
  };
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
      // A page from a file may not use the clipboard API: use the deprecated command.
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
  const bytes = (value) => quantity("bytes", value, 3);
  const ticks = (low, high, count) => {
    const rough = (high - low) / Math.max(1, count);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough) || power * 10;
    const found = [];
    for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-9; at += step) found.push(Number(at.toPrecision(12)));
    return found;
  };
  const decades = (low, high) => {
    if (high / low < 8) return ticks(low, high, 5);
    const found = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
      for (const factor of high / low > 1000 ? [1] : [1, 2, 5]) {
        const at = factor * 10 ** power;
        if (at >= low * 0.999 && at <= high * 1.001) found.push(at);
      }
    }
    return found;
  };

  // Quantities: units of each kind, with the number of raw values per unit, ascending. Values of figures are in the unit
  // that gives the kind its name.
  const UNITS = {
    us: [[1e-3, "ns"], [1, "us"], [1e3, "ms"], [1e6, "s"]],
    ns: [[1, "ns"], [1e3, "us"], [1e6, "ms"], [1e9, "s"]],
    KB: [[1e-3, "B"], [1, "KB"], [1e3, "MB"], [1e6, "GB"], [1e9, "TB"]],
    bytes: [[1, "B"], [1e3, "KB"], [1e6, "MB"], [1e9, "GB"], [1e12, "TB"]],
    Gbps: [[1e-9, "bps"], [1e-6, "Kbps"], [1e-3, "Mbps"], [1, "Gbps"], [1e3, "Tbps"]],
    bps: [[1, "bps"], [1e3, "Kbps"], [1e6, "Mbps"], [1e9, "Gbps"], [1e12, "Tbps"]],
    "%": [[1, "%"]],
  };
  const unitOf = (kind, size) => {
    const units = UNITS[kind] || [[1, ""]];
    return units.findLast(([factor]) => Math.abs(size) >= factor * 0.9999) || units[0];
  };
  const bare = (value, places) => {
    if (value === 0) return "0";
    const rounded = Number(value.toPrecision(places));
    return Math.abs(rounded) >= 1e15 || Math.abs(rounded) < 1e-6 ? String(rounded) : rounded.toLocaleString("en-US", { maximumFractionDigits: 12 });
  };
  // A value with its unit, in a number of digits; whole numbers without unit in full.
  const quantity = (kind, value, places = 4) => {
    if (value === null || value === undefined || Number.isNaN(value)) return "-";
    const [factor, name] = unitOf(kind, value);
    if (!name) return Number.isInteger(value) ? value.toLocaleString("en-US") : bare(value, places);
    return value === 0 ? `0 ${(UNITS[kind].find(([one]) => one === 1) || UNITS[kind][0])[1]}` : `${bare(value / factor, places)} ${name}`;
  };
  const amount = (kind, value) => value === null || value === undefined ? null : { text: quantity(kind, value), csv: value };
  // Ticks of an axis in one unit, with as many digits as distinguish them.
  const tickTexts = (kind, values) => {
    const known = values.filter((value) => value !== null && value !== undefined);
    const [factor, name] = unitOf(kind, known.reduce((most, value) => Math.max(most, Math.abs(value)), 0));
    let places = 0;
    while (places < 9 && known.some((value) => Math.abs(Number((value / factor).toFixed(places)) * factor - value) > 1e-9 * Math.abs(value))) places += 1;
    return values.map((value) => value === null || value === undefined ? "" : value === 0 ? "0" : `${(value / factor).toLocaleString("en-US", { maximumFractionDigits: places })}${name ? ` ${name}` : ""}`);
  };

  // A table with CSV export: a cell is a value, or has a text (`text`), a value in the file (`csv`), and a style.
  const table = (head, rows) => {
    const cell = (value) => {
      const mark = value && value.mark;
      const text = value && value.text !== undefined ? value.text : value;
      const classes = [mark, value && value.left ? "left" : ""].filter(Boolean).join(" ");
      return element("td", classes ? { class: classes } : {}, digits(text));
    };
    const plain = (value) => {
      const text = value && value.csv !== undefined ? value.csv : value && value.text !== undefined ? value.text : value;
      const said = text === null || text === undefined ? "" : String(text);
      return /[",\n]/.test(said) ? `"${said.replaceAll('"', '""')}"` : said;
    };
    const csv = () => [head, ...rows].map((row) => row.map(plain).join(",")).join("\n") + "\n";
    const button = element("button", { type: "button", class: "csv" }, "Copy as CSV");
    button.addEventListener("click", () => copy(csv(), button));
    const body = element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map(cell))));
    const top = element("thead", {}, element("tr", {}, ...head.map((name) => element("th", {}, name && name.text !== undefined ? name.text : name))));
    return element("div", {}, element("div", { class: "scroll" }, element("table", {}, top, body)), element("div", { class: "tools" }, button));
  };
  const note = (text) => element("p", { class: "note" }, text);
  const greatestOf = (values) => values.reduce((a, b) => Math.max(a, b), 0);
  const legendOf = (color, text) => {
    const swatch = element("span", { class: "swatch", style: `background:${color()}` });
    document.addEventListener("theme", () => { swatch.style.background = color(); });
    return element("span", { class: "said" }, swatch, text);
  };
  // A command for a terminal, with a copy button.
  const command = (...words) => {
    const quoted = words.map((word) => /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
    const button = element("button", { type: "button", class: "copy", title: "Copy the command" }, "Copy");
    button.addEventListener("click", () => copy(quoted.join(" "), button));
    return element("p", { class: "command" }, element("code", {}, quoted.join(" ")), " ", button);
  };
