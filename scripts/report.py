#!/usr/bin/env python3
"""Opens a report in Chromium without a screen, does what a reader does with its figures and its replay, and measures.

    scripts/report.py REPORT.html [--least-fps N] [--shots FOLDER [--at SHARE] [--node NAME | --flow N]]

Needs chromium and python3, nothing else: it speaks to the browser over a pipe. It points at figures, zooms, hides
lines, saves and copies, changes the theme, makes the window narrow and prints; it plays the replay, steps, seeks,
zooms, clicks a switch, a link and a flow. It fails if anything does not do what it should or the page reports an
error. The page of a sweep it treats alike, but for the replay. With --shots it leaves screenshots, 1200 and 400 pixels wide, light and dark.
"""

import argparse
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time


class Browser:
    """A Chromium of its own, and the one page in it, over the DevTools protocol."""

    def __init__(self, folder):
        names = ["chromium", "chromium-browser", "google-chrome"]
        path = next(filter(None, map(shutil.which, names)), None)
        if path is None:
            sys.exit("there is no chromium here")
        to_browser, self.to = os.pipe()
        self.of, of_browser = os.pipe()

        def pipes():
            # The browser reads from 3 and writes to 4; two steps, since one of them may be what the other takes.
            read, write = os.dup(to_browser), os.dup(of_browser)
            os.dup2(read, 3)
            os.dup2(write, 4)

        switches = ["--headless", "--no-sandbox", "--disable-dev-shm-usage", "--remote-debugging-pipe", "--hide-scrollbars"]
        switches.append(f"--user-data-dir={folder}")
        self.process = subprocess.Popen(
            [path, *switches, "about:blank"], preexec_fn=pipes, close_fds=False, stderr=subprocess.DEVNULL
        )
        os.close(to_browser)
        os.close(of_browser)
        self.number, self.rest, self.session, self.errors = 0, b"", None, []
        targets = self.ask("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        self.session = self.ask("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log"]:
            self.ask(f"{domain}.enable")

    def message(self):
        while b"\0" not in self.rest:
            part = os.read(self.of, 1 << 20)
            if not part:
                sys.exit("the browser went away")
            self.rest += part
        one, self.rest = self.rest.split(b"\0", 1)
        found = json.loads(one)
        if found.get("method") == "Runtime.exceptionThrown":
            details = found["params"]["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        if found.get("method") == "Log.entryAdded" and found["params"]["entry"]["level"] == "error":
            self.errors.append(found["params"]["entry"]["text"])
        return found

    def ask(self, method, **params):
        self.number += 1
        question = {"id": self.number, "method": method, "params": params}
        if self.session:
            question["sessionId"] = self.session
        os.write(self.to, json.dumps(question).encode() + b"\0")
        while True:
            found = self.message()
            if found.get("id") == self.number:
                if "error" in found:
                    raise RuntimeError(f"{method}: {found['error']}")
                return found["result"]

    def run(self, script):
        """What a script says; a promise is waited for."""
        asked = self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in asked:
            raise RuntimeError(asked["exceptionDetails"]["exception"].get("description", script))
        return asked["result"].get("value")

    def open(self, path, width, height, theme):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
        started = time.monotonic()
        self.ask("Page.navigate", url=path.resolve().as_uri())
        # The script of a page is its last element, so what it draws is there as soon as the page is complete.
        self.wait("document.readyState === 'complete' && document.querySelector('figure, table') !== null")
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        return time.monotonic() - started

    def wait(self, condition, seconds=30):
        end = time.monotonic() + seconds
        while not self.run(condition):
            if time.monotonic() > end:
                raise RuntimeError(f"waited {seconds} s for {condition}")
            time.sleep(0.05)

    def key(self, key, code, text=""):
        self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, code=code, text=text)
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key, code=code)

    def click(self, x, y):
        for kind in ["mousePressed", "mouseReleased"]:
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)

    def move(self, x, y, **more):
        self.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y, **more)

    def drag(self, x, y, to_x):
        self.move(x, y)
        self.ask("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left", buttons=1, clickCount=1)
        for step in range(1, 6):
            self.move(x + (to_x - x) * step / 5, y, button="left", buttons=1)
        self.ask("Input.dispatchMouseEvent", type="mouseReleased", x=to_x, y=y, button="left", buttons=0, clickCount=1)
        self.settle()

    def double(self, x, y):
        for count in [1, 2]:
            for kind in ["mousePressed", "mouseReleased"]:
                self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=count)
        self.settle()

    def settle(self):
        frames = "requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 60)))"
        self.run(f"new Promise((done) => {frames})")

    def shot(self, file, clip=None):
        """A part of the document, or what is in sight, with the cursor in it."""
        beyond = {"captureBeyondViewport": True, "clip": clip} if clip else {}
        asked = self.ask("Page.captureScreenshot", format="png", **beyond)
        file.write_bytes(base64.b64decode(asked["data"]))

    def close(self):
        self.ask("Browser.close")
        self.process.wait(20)


FRAME = "Number(document.querySelector('canvas.fabric').dataset.frame)"
BOX = """(({ left, top, width, height }) => [left, top, width, height])
    (document.querySelector("canvas.fabric").getBoundingClientRect())"""
PICTURE = "document.querySelector('canvas.fabric').toDataURL()"
# Counts frames that the browser drew in three seconds, and in how many of them the replay had moved on.
RATE = """
new Promise((done) => {
  const canvas = document.querySelector("canvas.fabric");
  let drawn = 0, moved = 0, last = canvas.dataset.frame, longest = 0, before = performance.now();
  const start = before;
  const each = (now) => {
    drawn += 1;
    longest = Math.max(longest, now - before);
    before = now;
    if (canvas.dataset.frame !== last) { moved += 1; last = canvas.dataset.frame; }
    if (now - start < 3000) requestAnimationFrame(each);
    else done({ fps: drawn * 1000 / (now - start), moved: moved * 1000 / (now - start), longest });
  };
  requestAnimationFrame(each);
})"""


def choose(label, value):
    return f"""(() => {{ const list = document.querySelector('select[aria-label="{label}"]');
        list.value = "{value}"; list.dispatchEvent(new Event("change")); }})()"""


def click(browser, wanted, name=None):
    """Clicks here and there, from the top, until a node or a link is chosen, of that name if there is one; what the
    page calls it."""
    left, top, width, height = browser.run(BOX)
    for row in range(2, 60):
        for column in range(1, 60):
            browser.click(left + width * column / 60, top + height * row / 60)
            title = browser.run("(document.querySelector('.panel h3') || {}).innerText || ''")
            if title and (" port " in title) == (wanted == "link") and name in (None, title):
                return title
    return None


def check(what, holds):
    if not holds:
        raise SystemExit(f"FAIL: {what}")
    print(f"ok    {what}")


# Figures of the page, and those over time, by their place.
FIGURES = "[...document.querySelectorAll('figure')]"
TIMES = f"{FIGURES}.filter((figure) => figure.plot.time && !figure.plot.bare)"
RANGES = f"{TIMES}.map(({{ plot }}) => [plot.u.scales.x.min, plot.u.scales.x.max])"


def area(browser, figures, at):
    """Brings a figure into sight, and tells where its plotting area is: left, top, width, height."""
    browser.run(f"{figures}[{at}].scrollIntoView({{ block: 'center' }})")
    browser.settle()
    return browser.run(
        "(({ left, top, width, height }) => [left, top, width, height])"
        f"({figures}[{at}].plot.u.over.getBoundingClientRect())"
    )


def said(browser, figures, at):
    """What a figure tells of the place under the cursor."""
    return browser.run(
        f"[...{figures}[{at}].querySelectorAll('.legend .value, .legend .at')]"
        ".map((one) => one.textContent).filter(Boolean)"
    )


def same(ranges):
    return all(abs(a - b) < 1e-6 for one in ranges for a, b in zip(one, ranges[0]))


def figures(browser):
    """What a reader does with figures."""
    count = browser.run(f"{FIGURES}.length")
    check(f"{count} figures", count >= 1)
    silent = browser.run(
        f"{FIGURES}.filter(({{ plot: {{ u }} }}) => u.axes.some((axis) => (axis._values || []).some((text) =>"
        " String(text).replace(/[^0-9]/g, '').length > 8))).map((figure) => figure.textContent)"
    )
    check(f"ticks are short: {silent}", not silent)
    for at in range(min(count, 40)):
        left, top, width, height = area(browser, FIGURES, at)
        found = []
        for share in [0.5, 0.12, 0.3, 0.7, 0.88]:
            browser.move(left + width * share, top + height * 0.5)
            browser.settle()
            found = found or [text for text in said(browser, FIGURES, at) if text]
        title = browser.run(f"({FIGURES}[{at}].querySelector('figcaption') || {{}}).innerText || ''").split("\n")[0]
        check(f"pointing at {title!r} reads {found[:3]}", found)
    browser.move(2, 2)

    times = browser.run(f"{TIMES}.length")
    if times:
        at = times // 2
        left, top, width, height = area(browser, TIMES, at)
        browser.move(left + width * 0.4, top + height / 2)
        browser.settle()
        cursors = browser.run(f"{TIMES}.map(({{ plot: {{ u }} }}) => u.posToVal(u.cursor.left, 'x'))")
        check("cursors are linked", max(cursors) - min(cursors) < 0.02 * (browser.run(RANGES)[0][1]))
        whole = browser.run(RANGES)
        check("figures over time begin alike", same(whole))
        browser.drag(left + width * 0.3, top + height / 2, left + width * 0.5)
        zoomed = browser.run(RANGES)
        asked = [whole[0][1] * share for share in [0.3, 0.5]]
        check(f"dragging zooms all {times} figures over time", same(zoomed)
              and all(abs(a - b) < 0.02 * whole[0][1] for a, b in zip(zoomed[0], asked)))
        left, top, width, height = area(browser, TIMES, at)
        browser.double(left + width * 0.5, top + height / 2)
        check("a double click shows all again", browser.run(RANGES) == whole)
        if browser.run("document.querySelector('canvas.fabric') !== null"):
            frames = browser.run("Number(document.querySelector('.replay input').max) + 1")
            browser.click(left + width * 0.75, top + height / 2)
            browser.settle()
            check("a click takes the replay there", abs(browser.run(FRAME) - 0.75 * frames) <= 0.02 * frames + 1)
            place = browser.run(f"(({{ left }}) => left)({TIMES}[{at}].querySelector('.now').getBoundingClientRect())")
            check("and a line shows where it is", abs(place - (left + width * 0.75)) < 0.03 * width + 2)
    lined = browser.run(f"{FIGURES}.findIndex((figure) => figure.querySelector('.legend button'))")
    if lined >= 0:
        button = f"{FIGURES}[{lined}].querySelector('.legend button')"
        shown = f"{FIGURES}[{lined}].plot.u.series[2].show"
        browser.run(f"{button}.click()")
        hidden = browser.run(f"{shown} === false && {button}.getAttribute('aria-pressed') === 'false'")
        browser.run(f"{button}.click()")
        check("a click on a name hides its line, another shows it", hidden and browser.run(shown))
    saved = browser.run("""(async () => {
        const blobs = [], was = URL.createObjectURL;
        URL.createObjectURL = (blob) => { blobs.push(blob); return was.call(URL, blob); };
        HTMLAnchorElement.prototype.click = () => {};
        for (const button of document.querySelectorAll("button.save")) button.click();
        delete HTMLAnchorElement.prototype.click;
        URL.createObjectURL = was;
        const texts = await Promise.all(blobs.map((blob) => blob.text()));
        return texts.map((text) => {
          const svg = new DOMParser().parseFromString(text, "image/svg+xml");
          const of = ["parsererror", "g path, g rect, g circle, g line"];
          const [bad, marks] = of.map((what) => svg.querySelectorAll(what));
          return [bad.length, marks.length, text.includes("NaN")];
        });
    })()""")
    good = all(bad == 0 and marks and not nan for bad, marks, nan in saved)
    check(f"{len(saved)} figures save as SVG", len(saved) >= 1 and good)
    copied = browser.run("""(async () => {
        let text = null;
        navigator.clipboard.writeText = async (what) => { text = what; };
        document.querySelector("button.csv").click();
        await new Promise((done) => setTimeout(done, 50));
        return text;
    })()""")
    check("a table copies as CSV", copied and "," in copied.split("\n")[1])
    picture = f"{FIGURES}[0].querySelector('canvas').toDataURL()"
    before = browser.run(picture)
    browser.run("document.querySelector('#theme').click()")
    browser.settle()
    other = browser.run(picture)
    browser.run("document.querySelector('#theme').click()")
    browser.settle()
    check("the theme changes figures, and back", other != before and browser.run(picture) == before)


def heat(browser):
    """The links over time: many colours, and another picture of queues."""
    map_ = "document.querySelector('figure.heat')"
    if not browser.run(f"{map_} !== null"):
        return
    colors = browser.run(f"""(() => {{ const canvas = {map_}.querySelector("canvas");
        const {{ data }} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        return new Set(new Uint32Array(data.buffer)).size; }})()""")
    check(f"the heat map has {colors} colours", colors > 8)
    kinds = browser.run("document.querySelector('select[aria-label^=Quantity]').options.length")
    if kinds > 1:
        picture = f"{map_}.querySelector('canvas').toDataURL()"
        before = browser.run(picture)
        browser.run(choose("Quantity of the heat map", 1))
        browser.settle()
        check("and shows queues or pauses too", browser.run(picture) != before)
        browser.run(choose("Quantity of the heat map", 0))


def narrow_and_print(browser, page):
    """400 pixels, and paper."""
    browser.open(page, 400, 800, "dark")
    browser.settle()
    wide = browser.run("""[document.documentElement.scrollWidth, [...document.querySelectorAll("body *")]
        .filter((one) => one.getBoundingClientRect().right > 401 && !one.closest(".scroll, pre, .stage, .u-over"))
        .map((one) => one.tagName + "." + one.className).slice(0, 5)]""")
    check(f"nothing is wider than 400 pixels: {wide}", wide[0] <= 400)
    browser.ask("Emulation.setEmulatedMedia", media="print", features=[])
    browser.settle()
    printed = browser.run("""({
        theme: document.documentElement.dataset.theme,
        buttons: [...document.querySelectorAll("#theme, .tools button, .controls button")]
          .filter((one) => one.offsetParent).length,
        widths: [...document.querySelectorAll("figure")].map(({ plot }) => plot.u.width),
    })""")
    check("paper is light, without buttons, and figures fit",
          printed["theme"] == "light" and printed["buttons"] == 0 and all(width <= 700 for width in printed["widths"]))
    pages = base64.b64decode(browser.ask("Page.printToPDF", printBackground=True)["data"])
    check(f"it prints: {len(pages) / 1e3:.0f} KB", pages.startswith(b"%PDF") and len(pages) > 20_000)
    browser.ask("Emulation.setEmulatedMedia", media="", features=[])
    browser.settle()
    check("and is dark again", browser.run("document.documentElement.dataset.theme") == "dark")


def flow_of(browser):
    """The flows beside the fabric: filter, choose one, and what it shows."""
    browser.run("document.querySelector('#replay').scrollIntoView()")
    browser.run("(document.querySelector('.panel .close') || { click() {} }).click()")
    rows = "document.querySelectorAll('tr.flow').length"
    listed = browser.run(rows)
    if not listed:
        return
    before = browser.run(PICTURE)
    browser.run("""(() => { const filter = document.querySelector("input[type=search]");
        filter.value = document.querySelector("tr.flow button").innerText;
        filter.dispatchEvent(new Event("input")); })()""")
    check(f"{listed} flows are listed, and a filter narrows them", 1 <= browser.run(rows) < max(2, listed))
    browser.run("document.querySelector('tr.flow').click()")
    browser.settle()
    panel = browser.run("document.querySelector('.panel').innerText")
    check(f"a flow shows itself: {panel.splitlines()[1]!r}", "slowdown" in panel and "completed after" in panel)
    check("lights up its path", browser.run(PICTURE) != before)
    check("and names the command that tells more", "tidegate why" in panel)
    browser.run("document.querySelector('.panel .close').click()")


def drive(browser, page, least_fps):
    """Does what a reader does."""
    seconds = browser.open(page, 1200, 900, "light")
    size = page.stat().st_size
    print(f"{page.name}: {size / 1e6:.2f} MB, opened in {seconds:.2f} s")
    figures(browser)
    if browser.run("document.querySelector('canvas.fabric') !== null"):
        heat(browser)
        flow_of(browser)
        replay(browser, least_fps)
    narrow_and_print(browser, page)
    check(f"no errors: {browser.errors}", not browser.errors)


def replay(browser, least_fps):
    """Plays, steps, seeks, clicks and zooms."""
    frames = browser.run("Number(document.querySelector('.replay input').max) + 1")
    print(f"      {frames} frames")
    browser.run("document.querySelector('.replay input').value = 0;"
                "document.querySelector('.replay input').dispatchEvent(new Event('input'))")
    browser.run("document.querySelector('#replay').scrollIntoView()")

    # Keys, with the focus nowhere.
    browser.key("ArrowRight", "ArrowRight")
    browser.key("ArrowRight", "ArrowRight")
    browser.key("ArrowLeft", "ArrowLeft")
    check("arrows step", browser.run(FRAME) == 1)
    browser.key(" ", "Space", " ")
    browser.wait(f"{FRAME} > 1")
    browser.key(" ", "Space", " ")
    at = browser.run(FRAME)
    time.sleep(0.4)
    check("space plays and stops", browser.run(FRAME) == at and at > 1)
    browser.run(
        f"(() => {{ const s = document.querySelector('.replay input'); s.value = {frames // 2};"
        " s.dispatchEvent(new Event('input')); })()"
    )
    check("the slider seeks", browser.run(FRAME) == frames // 2)

    for kind in ["node", "link"]:
        title = click(browser, kind)
        check(f"a click on a {kind} shows {title!r}", title is not None)
        said = browser.run("document.querySelector('.panel').innerText")
        check("and its series, or why there are none", "oad" in said or "not recorded" in said)
    before = browser.run(PICTURE)
    browser.run("document.querySelector('.zooms button').click()")
    zoomed = browser.run(PICTURE)
    browser.run("document.querySelectorAll('.zooms button')[2].click()")
    after = browser.run(PICTURE)
    check("zoom goes there and back", before != zoomed and before == after)
    browser.run("document.querySelector('#theme').click()")
    check("the theme changes the picture", browser.run(PICTURE) != after)
    browser.run("document.querySelector('#theme').click()")

    # How smoothly it plays, at a frame of the run for each frame of the screen.
    if frames >= 200:
        options = "document.querySelector('select[aria-label=Speed]').options"
        speeds = browser.run(f"[...{options}].map((option) => Number(option.value))")
        fastest = max(speed for speed in speeds if speed <= 60)
        browser.run(choose("Speed", fastest))
        browser.key("Home", "Home")
        browser.run("document.querySelector('button.play').click()")
        rate = browser.run(RATE)
        print(f"      plays at {rate['fps']:.0f} frames a second, of which {rate['moved']:.0f} moved on, at a speed of"
              f" {fastest}; the longest took {rate['longest']:.0f} ms")
        if least_fps:
            check(f"at least {least_fps} frames a second", rate["fps"] >= least_fps)


# From the top of one element to the bottom of another, in pixels of the document; at most so high.
CLIP = """((from, to, most) => {
  const y = Math.max(0, from.getBoundingClientRect().top + window.scrollY - 6);
  const height = Math.min(most, to.getBoundingClientRect().bottom + window.scrollY + 10 - y);
  return { x: 0, y, width: document.documentElement.clientWidth, height, scale: 1 };
})"""
REST = """(() => {
  const all = [...document.querySelectorAll("main > h2")], replay = document.querySelector(".replay");
  return all.find((one) => one.compareDocumentPosition(replay) & Node.DOCUMENT_POSITION_PRECEDING) || all[0];
})()"""


def shots(browser, page, folder, arguments):
    """Screenshots of the top, of the replay at a share of the run with a node or a flow chosen, and of the figures."""
    folder.mkdir(parents=True, exist_ok=True)
    for width, height in [(1200, 900), (400, 900)]:
        for theme in ["light", "dark"]:
            browser.open(page, width, height, theme)
            last = "document.querySelector('footer')"
            parts = [("top", "document.body", last, 1100)]
            if browser.run("document.querySelector('canvas.fabric') !== null"):
                browser.run(
                    "(() => { const s = document.querySelector('.replay input');"
                    f" s.value = Math.floor({arguments.at} * s.max); s.dispatchEvent(new Event('input'));"
                    " document.querySelector('#replay').scrollIntoView(); })()"
                )
                if arguments.flow is not None:
                    browser.run(
                        "[...document.querySelectorAll('tr.flow')].find((row) =>"
                        f" row.querySelector('button').innerText === '{arguments.flow}').click()"
                    )
                elif arguments.node:
                    click(browser, "node", arguments.node)
                parts.append(("replay", "document.querySelector('#replay')", "document.querySelector('.replay')", 4000))
                parts.append(("figures", REST, last, 1500))
            browser.settle()
            for part, first, end, most in parts:
                file = folder / f"{page.stem}-{part}-{width}-{theme}.png"
                browser.shot(file, browser.run(f"{CLIP}({first}, {end}, {most})"))
                print(f"      {file}")
            titled = f"{TIMES}.findIndex(({{ plot }}) => plot.title.startsWith('Queues'))"
            if width == 1200 and browser.run(titled) >= 0:
                # A figure zoomed and pointed at, and what is around it.
                left, top, wide, high = area(browser, TIMES, browser.run(titled))
                browser.drag(left + wide * 0.1, top + high / 2, left + wide * 0.4)
                left, top, wide, high = area(browser, TIMES, browser.run(titled))
                browser.move(left + wide * 0.3, top + high * 0.4)
                browser.settle()
                file = folder / f"{page.stem}-zoom-{width}-{theme}.png"
                browser.shot(file)
                print(f"      {file}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--shots", type=pathlib.Path, help="leave screenshots in this folder")
    parser.add_argument("--at", type=float, default=0.3, help="of a screenshot: the share of the run (0..1)")
    parser.add_argument("--node", help="of a screenshot: the node to choose")
    parser.add_argument("--flow", type=int, help="of a screenshot: the flow to choose")
    parser.add_argument("--least-fps", type=float, help="fail below so many frames a second")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(folder)
        try:
            drive(browser, arguments.page, arguments.least_fps)
            if arguments.shots:
                shots(browser, arguments.page, arguments.shots, arguments)
        finally:
            for error in browser.errors:
                print(f"      the page reports: {error}")
            browser.close()


if __name__ == "__main__":
    main()
