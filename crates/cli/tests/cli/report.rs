//! Tests of `tidegate report`; the page is also opened in a browser if one is installed.

use crate::common::{SMALL, Scratch, example, run};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Creates two results: an incast with PFC and all recordings, and a deadlock.
fn results(scratch: &Scratch) -> [String; 2] {
    let scenario = scratch.file("small.toml", SMALL);
    let [small, ring] = ["small", "ring"].map(|name| scratch.path(name));
    let control = "record.control={ every = \"10us\" }";
    assert_eq!(run(&["run", &scenario, "-q", "--set", control, "--out", &small]).code, Some(0));
    assert_eq!(run(&["run", &example("deadlock-ring.toml"), "-q", "--out", &ring]).code, Some(0));
    [small, ring]
}

/// Returns the JSON data embedded in the page.
fn data(page: &str) -> serde_json::Value {
    let (_, rest) = page.split_once("type=\"application/json\">").expect("data");
    let (json, _) = rest.split_once("</script>").expect("its end");
    serde_json::from_str(json).expect("JSON")
}

#[test]
fn a_sweep_is_a_page_of_its_own_with_every_combination() {
    let scratch = Scratch::new("report-sweep");
    scratch.file("small.toml", SMALL);
    let sweep = "scenario = \"small.toml\"\nseeds = \"1..2\"\n[[axis.control]]\nname = \"<HPCC>\"\n\
                 host.transport = \"hpcc\"\n[[axis.control]]\nname = \"none\"\n[vary]\ntraffic.0.fan_in = [2, 4, 6]\n";
    let (sweep, swept, out) = (scratch.file("s.toml", sweep), scratch.path("swept"), scratch.path("sweep.html"));
    assert_eq!(run(&["sweep", &sweep, "-q", "--out", &swept]).code, Some(0));
    let ran = run(&["report", &swept, "--out", &out]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("6 combinations"), "{}", ran.err);
    let page = std::fs::read_to_string(&out).unwrap();
    let data = &data(&page)["sweep"];
    assert_eq!(data["keys"][0], serde_json::json!({ "name": "control", "values": ["<HPCC>", "none"] }));
    assert_eq!(data["keys"][1]["values"], serde_json::json!(["2", "4", "6"]));
    assert!(!page.contains("<HPCC>"), "what a user writes is no markup");
    let rows = data["rows"].as_array().unwrap();
    assert_eq!((rows.len(), &rows[4]["values"]), (6, &serde_json::json!([1, 1])));
    let at = |name: &str| {
        let metrics = data["metrics"].as_array().unwrap();
        metrics.iter().position(|metric| metric["name"] == name)
    };
    assert_eq!(rows[4]["samples"][at("completed").unwrap()], serde_json::json!([4.0, 4.0]));
    let goodput = &data["metrics"][at("goodput_bps").unwrap()];
    assert_eq!((goodput["title"].as_str(), goodput["unit"].as_str()), (Some("goodput"), Some("bps")));
    assert_eq!(at("drops"), None, "what is zero everywhere is left out");
    // The runs of a sweep are ordinary results.
    assert_eq!(run(&["report", &format!("{swept}/runs"), "-q", "--out", &out]).code, Some(0));
    // A damaged sweep, and a sweep of another version, are rejected.
    let manifest = std::path::Path::new(&swept).join("sweep.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    for (broken, said) in [("{".to_owned(), "not a sweep"), (text.replace("0.1.0", "0.0.9"), "0.0.9")] {
        std::fs::write(&manifest, broken).unwrap();
        let ran = run(&["report", &swept, "--out", &out]);
        assert!(ran.code == Some(2) && ran.err.contains(said), "{:?} {}", ran.code, ran.err);
    }
}

#[test]
fn a_page_needs_nothing_and_holds_what_was_run() {
    let scratch = Scratch::new("report");
    let [small, ring] = results(&scratch);
    let out = scratch.path("report.html");
    let ran = run(&["report", &small, &ring, "--out", &out]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{}", ran.err);
    assert!(ran.err.contains("2 runs"), "{}", ran.err);
    let page = std::fs::read_to_string(&out).unwrap();
    for remote in ["http://", "https://", "src=", "@import", "url("] {
        let local = page.matches(remote).count();
        let known = match remote {
            // Permitted occurrences: XML namespaces, the homepage of the plotting library, and references within a
            // figure.
            "http://" => page.matches("http://www.w3.org/").count(),
            "https://" => page.matches("/*! https://github.com/leeoniya/uPlot").count(),
            "url(" => page.matches("url(#").count(),
            _ => 0,
        };
        assert_eq!(local, known, "{remote}");
    }
    assert!(page.contains("Copyright (c) 2022 Leon Sorokin"), "the library's licence goes with it");
    let data = data(&page);
    let runs = data["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[0]["damage"], serde_json::json!([]));
    let text = std::fs::read_to_string(Path::new(&small).join("summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(runs[0]["summary"], summary, "all of the summary");
    for curve in ["queues", "throughput", "utilisation", "pauses"] {
        assert!(!runs[0][curve].as_array().unwrap().is_empty(), "{curve}");
    }
    // The tables omit the rows of sampling intervals in which a port sent nothing. In these intervals the curve must be
    // zero, instead of a line across the gap.
    let mut idle = 0;
    for curve in ["utilisation", "throughput"].iter().flat_map(|curve| runs[0][curve].as_array().unwrap()) {
        let numbers =
            |key: &str| -> Vec<f64> { curve[key].as_array().unwrap().iter().map(|y| y.as_f64().unwrap()).collect() };
        let (x, y) = (numbers("x"), numbers("y"));
        let steps: Vec<f64> = x.windows(2).map(|pair| pair[1] - pair[0]).collect();
        idle += y.iter().filter(|&&y| y == 0.0).count();
        let every = steps.iter().copied().fold(f64::INFINITY, f64::min);
        for at in (0..steps.len()).filter(|&at| steps[at] > 1.5 * every) {
            assert_eq!((y[at], y[at + 1]), (0.0, 0.0), "{curve}");
        }
    }
    assert!(idle > 0, "some port was idle for a while");
    // There is one figure per quantity of the congestion control, in the unit of its axis. RoCE sends at the line rate
    // of the host's port.
    let panels = runs[0]["controls"].as_array().unwrap();
    let rate = panels.iter().find(|panel| panel["title"] == "Sending rate").expect("a rate");
    assert_eq!(rate["unit"], "Gbps");
    assert!(rate["curves"][0]["name"].as_str().unwrap().ends_with(", flow 0"), "{rate}");
    assert!(
        rate["curves"][0]["y"].as_array().unwrap().iter().all(|y| y.as_f64().is_some_and(|y| y <= 100.0)),
        "{rate}"
    );
    assert!(runs[1]["controls"].as_array().unwrap().is_empty(), "nobody asked");
    assert_eq!(runs[0]["fct"]["all"]["y"].as_array().unwrap().last().unwrap(), 100.0);
    let flows = runs[0]["flows"]["list"].as_array().unwrap();
    assert_eq!((flows.len(), &runs[0]["flows"]["recorded"]), (7, &7.into()));
    let slowdown = |at: usize| flows[at]["slowdown"].as_f64().unwrap();
    assert!((1..7).all(|at| slowdown(at) <= slowdown(at - 1)), "the slowest first");
    let slow = &runs[0]["boxes"][0];
    assert_eq!((&slow["above_bytes"], &slow["to_bytes"], &slow["count"]), (&30_000.into(), &100_000.into(), &7.into()));
    assert_eq!(slow["at"][4], flows[0]["slowdown"], "95 % of seven are all");
    assert!(runs[1]["summary"]["deadlock"]["cycle"].as_array().unwrap().len() == 4);
    let whole = run(&["report", &scratch.path(""), "--out", &out]);
    assert_eq!(whole.code, Some(0), "a folder of results is all of them: {}", whole.err);
}

/// Decodes a part of a replay as the page does; returns the values of all frames, by port.
fn unpacked(part: &serde_json::Value, frames: usize) -> BTreeMap<usize, Vec<u64>> {
    let digit = |digit: u8| match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut bytes = Vec::new();
    for four in part["data"].as_str().expect("packed").as_bytes().chunks(4) {
        let word = (0..4).fold(0_u32, |word, at| word << 6 | u32::from(four.get(at).map_or(0, |&text| digit(text))));
        bytes.extend_from_slice(&word.to_be_bytes()[1..four.len()]);
    }
    // Numbers are encoded as LEB128.
    let mut numbers = Vec::new();
    for group in bytes.split_inclusive(|byte| byte & 0x80 == 0) {
        numbers.push(group.iter().rev().fold(0_u64, |value, byte| value << 7 | u64::from(*byte) & 0x7f));
    }
    let unit = part["unit"].as_u64().expect("a unit");
    let mut next = numbers.into_iter();
    let (mut port, mut all) = (0, BTreeMap::new());
    while let Some(distance) = next.next() {
        port += distance as usize;
        let (mut values, mut value) = (Vec::new(), 0_i64);
        for _ in 0..next.next().unwrap() {
            values.resize(values.len() + next.next().unwrap() as usize, value as u64 * unit);
            let zigzag = next.next().unwrap();
            value += (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
        }
        values.resize(frames, value as u64 * unit);
        all.insert(port, values);
    }
    all
}

#[test]
fn a_replay_is_the_tables_frame_by_frame() {
    let scratch = Scratch::new("replay");
    let [small, ring] = results(&scratch);
    let out = scratch.path("report.html");
    assert_eq!(run(&["report", &small, &ring, "-q", "--out", &out]).code, Some(0));
    let data = data(&std::fs::read_to_string(&out).unwrap());
    let replay = &data["replays"][0];
    assert!(data["replays"][1].is_null(), "the ring recorded nothing to replay");
    // Links are sampled every 10 us and queues every 1 us: a replay frame covers 10 us, and 200 us have 20 frames.
    assert_eq!(replay["sample_intervals_ps"], serde_json::json!([10_000_000, 1_000_000]));
    assert_eq!((&replay["step_ps"], &replay["frames"]), (&10_000_000.into(), &20.into()));
    let ports = record::trace::read_ports(&Path::new(&small).join("ports.parquet")).unwrap();
    let location = |node: u64, port: u64| {
        ports.iter().position(|row| (u64::from(row.node), u64::from(row.port)) == (node, port)).expect("a port")
    };
    assert_eq!(replay["ports"]["node"].as_array().unwrap().len(), ports.len());
    let of = |name: &str| record::table::read_table(&Path::new(&small).join(name)).unwrap();
    let numbers = |table: &record::table::Table, name: &str| -> Vec<u64> {
        table.u64s(name).unwrap().iter().map(|value| value.expect("a value")).collect()
    };
    let links = of("links.parquet");
    let [times, nodes, numbered] = ["time_ps", "node", "port"].map(|name| numbers(&links, name));
    let shares = links.f64s("utilisation").unwrap();
    let mut expected: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
    for row in 0..links.rows {
        let frames = expected.entry(location(nodes[row], numbered[row])).or_insert_with(|| vec![0; 20]);
        frames[(times[row] / 10_000_000) as usize - 1] = ((shares[row].unwrap() * 1000.0).round() as u64).max(1);
    }
    assert!(links.rows > 50 && unpacked(&replay["links"], 20) == expected, "{expected:?}");
    let queues = of("queues.parquet");
    let [times, nodes, numbered, lengths] =
        ["time_ps", "node", "port", "queue_bytes"].map(|name| numbers(&queues, name));
    let mut longest: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
    for row in 0..queues.rows {
        let frames = longest.entry(location(nodes[row], numbered[row])).or_insert_with(|| vec![0; 20]);
        let frame = ((times[row] - 1) / 10_000_000) as usize;
        frames[frame] = frames[frame].max(lengths[row]);
    }
    let found = unpacked(&replay["queues"], 20);
    let unit = replay["queues"]["unit"].as_u64().unwrap();
    assert_eq!(found.keys().collect::<Vec<_>>(), longest.keys().collect::<Vec<_>>());
    for (port, values) in &longest {
        let near = |(a, b): (&u64, &u64)| a.abs_diff(*b) <= unit && (*a == 0) == (*b == 0);
        assert!(values.iter().zip(&found[port]).all(near), "port {port}: {values:?} {:?}", found[port]);
    }
    // At least one port was paused, and no port for more than the whole frame (1000 thousandths).
    let pauses = unpacked(&replay["pauses"], 20);
    assert!(pauses.values().flatten().any(|&share| share > 0), "{pauses:?}");
    assert!(pauses.values().flatten().all(|&share| share <= 1000), "{pauses:?}");
}

#[test]
fn missing_parts_of_a_damaged_result_are_reported_and_the_rest_is_shown() {
    let scratch = Scratch::new("damaged");
    let [small, _] = results(&scratch);
    let (out, folder) = (scratch.path("report.html"), Path::new(&small));
    let report = ["report", &small, "--force", "--out", &out];
    let shown = || data(&std::fs::read_to_string(&out).unwrap())["runs"][0].clone();
    // The result is an incomplete copy: one table is missing, and another one is truncated.
    std::fs::remove_file(folder.join("queues.parquet")).unwrap();
    let links = std::fs::read(folder.join("links.parquet")).unwrap();
    std::fs::write(folder.join("links.parquet"), &links[..links.len() / 2]).unwrap();
    let ran = run(&report);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("warning: ") && ran.err.contains("queues.parquet is missing"), "{}", ran.err);
    let printed = shown();
    let damage: Vec<&str> = printed["damage"].as_array().unwrap().iter().map(|what| what.as_str().unwrap()).collect();
    assert_eq!(damage[..2], ["links.parquet was modified", "queues.parquet is missing"]);
    assert!(damage.iter().any(|what| what.starts_with("utilisation is omitted: ")), "{damage:?}");
    let count = |key: &str| printed[key].as_array().unwrap().len();
    assert_eq!((count("queues"), count("utilisation")), (0, 0));
    assert!(count("throughput") == 1 && count("pauses") > 0 && printed["fct"]["all"]["y"].is_array(), "the rest");
    // Without `ports.parquet` the fabric cannot be drawn, and without the manifest no file can be verified; the report
    // is still written.
    for name in ["ports.parquet", "tidegate.sha256"] {
        std::fs::remove_file(folder.join(name)).unwrap();
        assert_eq!(run(&report).code, Some(0), "{name}");
        let said = shown()["damage"].to_string();
        assert!(said.contains(&format!("{name} is missing")), "{said}");
    }
    // A folder with a truncated summary is not a result.
    let summary = std::fs::read(folder.join("summary.json")).unwrap();
    std::fs::write(folder.join("summary.json"), &summary[..summary.len() / 2]).unwrap();
    let ran = run(&report);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains("holds no result of tidegate"), "{}", ran.err);
}

#[test]
fn what_is_no_result_is_named() {
    let scratch = Scratch::new("noresult");
    let [small, _] = results(&scratch);
    let out = scratch.path("report.html");
    let ran = run(&["report", &scratch.path("nowhere"), "--out", &out]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("nowhere holds no result of tidegate"), "{}", ran.err);
    // A result of another version is rejected.
    let summary = Path::new(&small).join("summary.json");
    let text = std::fs::read_to_string(&summary).unwrap();
    let version = concat!("\"version\": \"", env!("CARGO_PKG_VERSION"), "\"");
    std::fs::write(&summary, text.replace(version, "\"version\": \"0.0.1\"")).unwrap();
    let ran = run(&["report", &small, "--out", &out]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("was written by tidegate 0.0.1"), "{}", ran.err);
    assert!(!Path::new(&out).exists(), "nothing is written");
}

/// Returns the path of an installed browser that can run headless; `None` if there is none.
fn browser() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).flat_map(|path| names.map(|name| path.join(name))).find(|path| path.is_file())
}

/// Script that acts on the page like a user, and writes the results into the DOM, which the browser prints.
const CLICKS: &str = r#"<script>
window.addEventListener("load", () => {
  const found = {};
  const figures = [...document.querySelectorAll("figure")];
  found.figures = figures.length;
  const lined = figures.find((figure) => figure.querySelector(".legend button"));
  const button = lined.querySelector(".legend button");
  const shown = () => lined.plot.u.series[2].show;
  button.click();
  found.hidden = !shown() && button.getAttribute("aria-pressed") === "false";
  button.click();
  found.again = shown();
  const theme = document.documentElement.dataset.theme;
  document.getElementById("theme").click();
  found.themeChanged = document.documentElement.dataset.theme !== theme;
  found.tables = document.querySelectorAll("button.csv").length;
  found.notice = document.querySelector(".notice").textContent.includes("as expected by the scenario");
  found.alarms = document.querySelectorAll(".alarm").length;
  // The replay: keys with the focus nowhere, a click on the first node that is found, and a run that recorded nothing.
  const canvas = document.querySelector("canvas.fabric");
  const press = (key) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  document.getElementById("replay").scrollIntoView();
  ["ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"].forEach(press);
  found.frame = canvas.dataset.frame;
  const colors = (image) => new Set(new Uint32Array(image.data.buffer)).size;
  found.colors = colors(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height));
  const fabric = canvas.getBoundingClientRect();
  canvas.setPointerCapture = () => {};
  for (let at = 0; at < 400 && !document.querySelector(".panel h3"); at += 1) {
    const [across, down] = [at % 20 / 20, at / 400];
    const point = { clientX: fabric.left + fabric.width * across, clientY: fabric.top + fabric.height * down };
    canvas.dispatchEvent(new PointerEvent("pointerdown", point));
    canvas.dispatchEvent(new PointerEvent("pointerup", point));
  }
  found.panel = document.querySelector(".panel").textContent;
  found.strips = document.querySelectorAll(".panel canvas").length;
  const which = document.querySelector('select[aria-label="Run"]');
  which.value = "1";
  which.dispatchEvent(new Event("change"));
  found.nothing = document.querySelector(".replay").textContent;
  // Zoom, which all figures over time follow, and the cursor of one in another.
  const times = figures.filter((figure) => figure.plot.time && figure.isConnected);
  times[0].scrollIntoView();
  // Events without a movement are none to the library.
  const send = (name, share, target) => {
    const box = times[0].plot.u.over.getBoundingClientRect();
    target.dispatchEvent(new MouseEvent(name, {
      clientX: box.left + box.width * share, clientY: box.top + 20, movementX: 9,
      bubbles: true, button: 0, view: window }));
  };
  const ranges = () => times.map(({ plot: { u } }) => [u.scales.x.min, u.scales.x.max].join(" to "));
  const settled = () => new Promise((done) => setTimeout(done, 200));
  (async () => {
    await settled();
    const before = ranges();
    send("mouseenter", 0.25, times[0].plot.u.over);
    send("mousemove", 0.25, times[0].plot.u.over);
    await settled();
    found.reads = times[0].querySelector(".legend").textContent;
    send("mousedown", 0.25, times[0].plot.u.over);
    send("mousemove", 0.5, times[0].plot.u.over);
    await settled();
    send("mouseup", 0.5, document);
    await settled();
    found.ranges = [...new Set(ranges())];
    found.whole = [...new Set(before)];
    send("dblclick", 0.5, times[0].plot.u.over);
    await settled();
    found.unzoomed = ranges().join() === before.join();
    document.body.setAttribute("data-found", JSON.stringify(found));
  })();
});
</script>"#;

/// Opens a page, and returns its DOM after all scripts have run without errors.
fn opened(browser: &Path, page: &str, profile: &str) -> String {
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--enable-logging=stderr"])
        .args(["--virtual-time-budget=5000", &format!("--user-data-dir={profile}"), "--dump-dom"])
        .arg(format!("file://{page}"))
        .output()
        .expect("a browser");
    let log = String::from_utf8_lossy(&output.stderr);
    let errors: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(errors.is_empty(), "{errors:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// One flow of 1 MB; within the duration it completes with the shorter of two link delays, but not with the longer one.
#[test]
fn a_browser_opens_the_page_of_a_sweep_which_does_not_rank_incomplete_rows() {
    let Some(browser) = browser() else {
        eprintln!("SKIPPED: there is no chromium to open a report in");
        return;
    };
    let scratch = Scratch::new("browser-sweep");
    let text = "duration = \"1ms\"\n[fabric]\nkind = \"single-switch\"\nhosts = 2\nlink = { rate = \"10Gbps\", delay = \
                \"1us\" }\n[[traffic]]\nkind = \"pairs\"\npairs = [[\"H1\", \"H2\"]]\nsize = \"1MB\"\n";
    let (file, sweep, page) = (scratch.file("one.toml", text), scratch.path("sweep"), scratch.path("sweep.html"));
    let swept = run(&["sweep", &file, "--vary", "fabric.link.delay=1us,400us", "--out", &sweep, "--quiet"]);
    assert_eq!(swept.code, Some(0), "{}", swept.err);
    assert_eq!(run(&["report", &sweep, "-q", "--out", &page]).code, Some(0));
    let dom = opened(&browser, &page, &scratch.path("profile"));
    assert!(dom.contains("Undecided: ") && dom.contains("1 of 1 flows unfinished"), "{dom}");
    assert!(dom.contains("completed/started") && dom.contains("0/1"), "{dom}");
}

#[test]
fn a_browser_opens_it_without_an_error() {
    let Some(browser) = browser() else {
        eprintln!("SKIPPED: there is no chromium to open a report in");
        return;
    };
    let scratch = Scratch::new("browser");
    let [small, ring] = results(&scratch);
    let out = scratch.path("report.html");
    assert_eq!(run(&["report", &small, &ring, "-q", "--out", &out]).code, Some(0));
    let page = std::fs::read_to_string(&out).unwrap();
    let clicked = scratch.file("clicked.html", &page.replace("</body>", &format!("{CLICKS}</body>")));
    let profile = scratch.path("profile");
    let dom = opened(&browser, &clicked, &profile);
    let (_, rest) = dom.split_once("data-found=\"").unwrap_or_else(|| panic!("the page did not finish:\n{dom}"));
    let found = rest.split_once('"').expect("its end").0.replace("&quot;", "\"");
    let found: serde_json::Value = serde_json::from_str(&found).expect("JSON");
    assert!(found["figures"].as_u64() >= Some(6), "{found}");
    for yes in ["hidden", "again", "themeChanged", "unzoomed"] {
        assert_eq!(found[yes], true, "{yes}: {found}");
    }
    assert_eq!(found["whole"].as_array().unwrap().len(), 1, "figures over time begin alike: {found}");
    assert!(found["ranges"].as_array().unwrap().len() == 1 && found["ranges"] != found["whole"], "{found}");
    assert!(found["reads"].as_str().unwrap().contains("at "), "{found}");
    assert!(found["frame"] == "2" && found["colors"].as_u64() > Some(20), "{found}");
    assert!(found["panel"].as_str().is_some_and(|panel| panel.contains("Load") || panel.contains("load")), "{found}");
    assert!(found["strips"].as_u64() >= Some(2), "{found}");
    let nothing = found["nothing"].as_str().unwrap();
    assert!(nothing.contains("did not record its ports") && nothing.contains("record.links={every="), "{nothing}");
    assert!(found["tables"].as_u64() >= Some(4) && found["notice"] == true, "{found}");
    assert_eq!(found["alarms"], 0, "the scenario expects its deadlock: {found}");
}
