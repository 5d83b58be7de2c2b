//! `tidegate report` from outside, and in a browser where there is one.

mod common;

use common::{SMALL, Scratch, example, run};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Two results: an incast under PFC with everything recorded, and a deadlock.
fn results(scratch: &Scratch) -> [String; 2] {
    let scenario = scratch.file("small.toml", SMALL);
    let [small, ring] = ["small", "ring"].map(|name| scratch.path(name));
    let control = "record.control={ every = \"10us\" }";
    assert_eq!(run(&["run", &scenario, "-q", "--set", control, "--out", &small]).code, Some(0));
    assert_eq!(run(&["run", &example("deadlock-ring.toml"), "-q", "--out", &ring]).code, Some(0));
    [small, ring]
}

/// The JSON within the page.
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
    // Its runs are results as any other.
    assert_eq!(run(&["report", &format!("{swept}/runs"), "-q", "--out", &out]).code, Some(0));
    // What is no sweep is told, and so is one of another version.
    let manifest = std::path::Path::new(&swept).join("sweep.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    for (broken, said) in [("{".to_owned(), "no sweep"), (text.replace("0.1.0", "0.0.9"), "0.0.9")] {
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
        let local = page.matches(remote).filter(|_| true).count();
        let known = match remote {
            // The names of XML namespaces, and a reference within a figure.
            "http://" => page.matches("http://www.w3.org/").count(),
            "url(" => page.matches("url(#").count(),
            _ => 0,
        };
        assert_eq!(local, known, "{remote}");
    }
    let data = data(&page);
    let runs = data["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    let text = std::fs::read_to_string(Path::new(&small).join("summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(runs[0]["summary"], summary, "all of the summary");
    for curve in ["queues", "throughput", "utilisation", "pauses"] {
        assert!(!runs[0][curve].as_array().unwrap().is_empty(), "{curve}");
    }
    // A figure for each thing that a control has, in the units of the axis: a sender at the line rate of its port.
    let panels = runs[0]["controls"].as_array().unwrap();
    let rate = panels.iter().find(|panel| panel["title"] == "Sending rate").expect("a rate");
    assert_eq!(rate["unit"], "Gbps");
    assert!(rate["curves"][0]["name"].as_str().unwrap().ends_with(", flow 0"), "{rate}");
    assert!(
        rate["curves"][0]["y"].as_array().unwrap().iter().all(|y| y.as_f64().is_some_and(|y| y <= 100.0)),
        "{rate}"
    );
    assert!(runs[1]["controls"].as_array().unwrap().is_empty(), "nobody asked");
    assert_eq!(runs[0]["fct"]["y"].as_array().unwrap().last().unwrap(), 100.0);
    assert!(runs[1]["summary"]["deadlock"]["cycle"].as_array().unwrap().len() == 4);
    let whole = run(&["report", &scratch.path(""), "--out", &out]);
    assert_eq!(whole.code, Some(0), "a folder of results is all of them: {}", whole.err);
}

#[test]
fn what_is_no_result_is_named() {
    let scratch = Scratch::new("noresult");
    let [small, _] = results(&scratch);
    let out = scratch.path("report.html");
    let ran = run(&["report", &scratch.path("nowhere"), "--out", &out]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("nowhere holds no result of tidegate"), "{}", ran.err);
    // Copied by halves.
    std::fs::remove_file(Path::new(&small).join("queues.parquet")).unwrap();
    let ran = run(&["report", &small, "--out", &out]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("do not add up") && ran.err.contains("copied by halves"), "{}", ran.err);
    // Of another version.
    let summary = Path::new(&small).join("summary.json");
    let text = std::fs::read_to_string(&summary).unwrap();
    let version = concat!("\"version\": \"", env!("CARGO_PKG_VERSION"), "\"");
    std::fs::write(&summary, text.replace(version, "\"version\": \"0.0.1\"")).unwrap();
    let ran = run(&["report", &small, "--out", &out]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("was written by tidegate 0.0.1"), "{}", ran.err);
    assert!(!Path::new(&out).exists(), "nothing is written");
}

/// A browser that runs without a screen.
fn browser() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).flat_map(|path| names.map(|name| path.join(name))).find(|path| path.is_file())
}

/// Clicks what a reader clicks, and writes what came of it where the dumped page shows it.
const CLICKS: &str = r#"<script>
window.addEventListener("load", () => {
  const found = {};
  const figures = [...document.querySelectorAll("svg.figure")];
  found.figures = figures.length;
  found.lines = figures[0].querySelectorAll("path").length;
  const button = figures[0].parentElement.querySelector(".legend button");
  button.click();
  found.linesHidden = figures[0].querySelectorAll("path").length;
  found.pressed = button.getAttribute("aria-pressed");
  button.click();
  found.linesAgain = figures[0].querySelectorAll("path").length;
  const theme = document.documentElement.dataset.theme;
  document.getElementById("theme").click();
  found.themeChanged = document.documentElement.dataset.theme !== theme;
  const box = figures[0].getBoundingClientRect();
  const send = (name, share, target) => target.dispatchEvent(new PointerEvent(name, {
            clientX: box.left + box.width * share, clientY: box.top + 50, bubbles: true }));
  const axis = () => [...figures[0].querySelectorAll("text")].map((text) => text.textContent).join(" ");
  const before = axis();
  send("pointerdown", 0.3, figures[0]);
  send("pointermove", 0.5, figures[0]);
  send("pointerup", 0.5, window);
  found.zoomed = axis() !== before;
  figures[0].dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
  found.unzoomed = axis() === before;
  found.tables = document.querySelectorAll("button.csv").length;
  found.alarms = document.querySelectorAll(".alarm").length;
  document.body.setAttribute("data-found", JSON.stringify(found));
});
</script>"#;

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
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--virtual-time-budget=5000"])
        .args([&format!("--user-data-dir={profile}"), "--dump-dom", &format!("file://{clicked}")])
        .output()
        .expect("a browser");
    let dom = String::from_utf8_lossy(&output.stdout);
    let log = String::from_utf8_lossy(&output.stderr);
    let errors: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let (_, rest) = dom.split_once("data-found=\"").unwrap_or_else(|| panic!("the page did not finish:\n{log}"));
    let found = rest.split_once('"').expect("its end").0.replace("&quot;", "\"");
    let found: serde_json::Value = serde_json::from_str(&found).expect("JSON");
    assert!(found["figures"].as_u64() >= Some(6), "{found}");
    assert_eq!(found["linesHidden"].as_u64().unwrap() + 1, found["lines"].as_u64().unwrap(), "{found}");
    assert_eq!((&found["linesAgain"], &found["pressed"]), (&found["lines"], &"false".into()), "{found}");
    for yes in ["themeChanged", "zoomed", "unzoomed"] {
        assert_eq!(found[yes], true, "{yes}: {found}");
    }
    assert!(found["tables"].as_u64() >= Some(4) && found["alarms"].as_u64() == Some(1), "{found}");
}
