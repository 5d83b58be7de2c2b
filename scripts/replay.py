#!/usr/bin/env python3
"""Opens a report in Chromium without a screen, plays its replay as a reader would, and measures how smoothly.

    scripts/replay.py REPORT.html [--least-fps N] [--shots FOLDER [--at SHARE] [--node NAME]]

Needs chromium and python3, nothing else: it speaks to the browser over a pipe. It plays, steps, seeks, zooms, clicks a
switch, a host and a link, changes the theme, and fails if anything does not do what it should or the page reports an
error. With --shots it leaves screenshots, 1200 and 400 pixels wide, light and dark.
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

        switches = ["--headless", "--no-sandbox", "--remote-debugging-pipe", "--hide-scrollbars"]
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
        self.wait("document.readyState === 'complete' && document.querySelector('#replay') !== null")
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

    def shot(self, file, clip):
        asked = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
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
    """Clicks here and there, from the top, until a node or a link is chosen, of that name if there is one; what the page
    calls it."""
    left, top, width, height = browser.run(BOX)
    for row in range(2, 60):
        for column in range(1, 60):
            browser.click(left + width * column / 60, top + height * row / 60)
            title = browser.run("(document.querySelector('.panel h3') || {}).innerText || ''")
            if title and (" port " in title) == (wanted == "link") and name in (None, title):
                return title
    return None


def drive(browser, page, least_fps):
    """Does what a reader does."""
    seconds = browser.open(page, 1200, 900, "light")
    frames = browser.run("Number(document.querySelector('.replay input').max) + 1")
    size = page.stat().st_size
    print(f"{page.name}: {size / 1e6:.2f} MB, opened in {seconds:.2f} s, {frames} frames")
    browser.run("document.querySelector('#replay').scrollIntoView()")

    def check(what, holds):
        if not holds:
            raise SystemExit(f"FAIL: {what}")
        print(f"ok    {what}")

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
    check(f"no errors: {browser.errors}", not browser.errors)


# The replay with its heading, in pixels of the document.
CLIP = """(() => {
  const [from, to] = ["#replay", ".replay"].map((name) => document.querySelector(name).getBoundingClientRect());
  const y = from.top + window.scrollY - 6;
  return { x: 0, y, width: document.documentElement.clientWidth, height: to.bottom + window.scrollY + 10 - y, scale: 1 };
})()"""


def shots(browser, page, folder, at, node):
    """Screenshots of the replay at a share of the run, with a node chosen."""
    folder.mkdir(parents=True, exist_ok=True)
    for width, height in [(1200, 900), (400, 900)]:
        for theme in ["light", "dark"]:
            browser.open(page, width, height, theme)
            browser.run(
                f"(() => {{ const s = document.querySelector('.replay input'); s.value = Math.floor({at} * s.max);"
                " s.dispatchEvent(new Event('input')); document.querySelector('#replay').scrollIntoView(); })()"
            )
            click(browser, "node", node)
            browser.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
            file = folder / f"{page.stem}-{width}-{theme}.png"
            browser.shot(file, browser.run(CLIP))
            print(f"      {file}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--shots", type=pathlib.Path, help="leave screenshots in this folder")
    parser.add_argument("--at", type=float, default=0.3, help="of a screenshot: the share of the run (0..1)")
    parser.add_argument("--node", help="of a screenshot: the node to choose, the first if not given")
    parser.add_argument("--least-fps", type=float, help="fail below so many frames a second")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(folder)
        try:
            drive(browser, arguments.page, arguments.least_fps)
            if arguments.shots:
                shots(browser, arguments.page, arguments.shots, arguments.at, arguments.node)
        finally:
            browser.close()


if __name__ == "__main__":
    main()
