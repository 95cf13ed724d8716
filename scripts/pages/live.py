#!/usr/bin/env python3
"""Drives the live page of a run in headless Chromium: it is measured as pages of reports are, in every look, while the run goes and once it has
ended; it goes on by itself, leaves open what was opened and shown what is under the pointer; a mark that is set by `hammer ctl` comes up on it; and
at its end it says what the report says. Nothing but the run's own page is asked for, and the console says nothing.

Arguments: the browser; a folder that is there, for pictures; the binary; a folder for what the run leaves.
"""
import json
import os
import subprocess
import sys
import time

from browser import Browser

BROWSER, PICTURES, HAMMER, FOLDER = sys.argv[1:]
LOOKS = [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark"), (794, "print")]
DEADLINE = 120
PLAN = """
name: live
target: { lab: { http: { faults: { rules: [ { latency: { lognormal: { median: 3ms, sigma: 0.8 } } }, { refuse: { share: 0.02, status: 503 } } ] } } } }
workloads:
  - { name: get, http: {}, load: { rate: 300/s } }
  - { name: users, http: {}, load: { users: 3, think: 2ms } }
phases: { warm_up: 1s, measurement: 600s }
"""
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "measure.js"), encoding="utf-8") as script:
    MEASURE = script.read()


def until(what, holds):
    """Waits until that holds, and has what it says."""
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        found = holds()
        if found:
            return found
    sys.exit(f"the live page: it does not come about that {what}")


def ctl(url, *command):
    return subprocess.run([HAMMER, "ctl", url, *command], check=True, capture_output=True, text=True, timeout=DEADLINE).stdout


def measured(browser, name, faults):
    """Measures the page as it stands, in every look."""
    for width, look in LOOKS:
        browser.look(width, look)
        found = browser.run(MEASURE)
        print(f"live page, {name}, at {width}, {look}: {found['charts']} charts, {found['texts']} texts, least contrast {found['contrast']:.1f}"
              + "".join(f"\n  {fault}" for fault in found["found"][:20]), flush=True)
        faults += found["found"]
        browser.picture(os.path.join(PICTURES, f"live-{name}.{width}.{look}.png"))
    browser.look(*LOOKS[0])


def drive(browser, run, url):
    """What is wrong with the page."""
    faults = []
    browser.open(url + "/", *LOOKS[0])
    title = lambda: browser.run("document.querySelector('h1').textContent")
    until("it measures", lambda: "measurement" in title() and browser.run("document.querySelectorAll('figure svg').length") >= 8)
    # What is opened, and what is under the pointer, stays while parts are made anew.
    browser.run("document.querySelector('#series-0 figure details').open = true")
    browser.run("""(() => {
      const drawing = document.querySelector('#series-0 .drawing');
      drawing.scrollIntoView({ block: 'center' });
      const box = drawing.getBoundingClientRect();
      drawing.dispatchEvent(new PointerEvent('pointermove', { clientX: box.left + box.width / 2, clientY: box.top + box.height / 2, bubbles: true }));
    })()""")
    before = title()
    rows = lambda: browser.run("document.querySelectorAll('#series-0 figure tbody')[0].rows.length")
    known = rows()
    until("it goes on by itself", lambda: title() != before and rows() > known)
    if not browser.run("document.querySelector('#series-0 figure details').open"):
        faults.append("what was opened is closed again")
    if browser.run("document.getElementById('tip').hidden || !document.querySelector('#series-0 .drawing .at')"):
        faults.append("what was under the pointer is gone")
    ctl(url, "mark", "deploy <17>")
    until("a mark comes up", lambda: "deploy <17>" in browser.run("document.getElementById('events').textContent"))
    measured(browser, "running", faults)
    ctl(url, "stop", "enough seen")
    until("it ends", lambda: "ended" in browser.run("document.getElementById('link').textContent"))
    run.wait(timeout=DEADLINE)
    measured(browser, "ended", faults)
    with open(os.path.join(FOLDER, "live.json"), encoding="utf-8") as file:
        report = json.load(file)
    said = browser.run("document.body.textContent")
    for count in [report["totals"]["all"]["offered"], report["totals"]["all"]["fates"]["accepted"]]:
        if f"{count:,}" not in said:
            faults.append(f"the report says {count:,}, and the page does not")
    if not title().startswith("live: "):
        faults.append(f"its title is {title()}")
    heard, asked = browser.heard()
    faults += [f"the console says {message}" for message in heard]
    faults += [f"{other} was asked for" for other in asked if other not in (url + "/", url + "/live")]
    return faults


def asks_for_a_token(browser):
    """What is wrong with the form that asks a person for the token, where others can reach the page."""
    token = os.path.join(FOLDER, "token")
    run = subprocess.Popen([HAMMER, "run", os.path.join(FOLDER, "live.yaml"), "--web", "0.0.0.0:0", "--web-token", token],
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        url = next(line for line in run.stderr if "live page at " in line).split("live page at ")[1].strip()
        with open(token, encoding="utf-8") as file:
            right = file.read().strip()
        browser.open(url, *LOOKS[0])
        for shown, what, comes in [("another-token-than-that", "it says that a token is wrong", "That is not the token"), (right, "the token opens the page", "EventSource")]:
            browser.run(f"document.querySelector('input').value = {json.dumps(shown)}; document.querySelector('button').click()")
            # Between two pages there is no element yet.
            until(what, lambda: comes in browser.run("document.documentElement?.innerHTML ?? ''"))
    finally:
        run.terminate()
        run.wait(timeout=DEADLINE)


def main():
    plan = os.path.join(FOLDER, "live.yaml")
    with open(plan, "w", encoding="utf-8") as file:
        file.write(PLAN)
    os.environ["XDG_RUNTIME_DIR"] = FOLDER
    run = subprocess.Popen([HAMMER, "run", plan, "--web", "127.0.0.1:0", "--control", "--tolerate-lag", "--out", os.path.join(FOLDER, "live.json")],
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        line = next(line for line in run.stderr if "live page at " in line)
        url = line.split("live page at ")[1].strip().rstrip("/")
        browser = Browser(BROWSER)
        try:
            faults = drive(browser, run, url)
            asks_for_a_token(browser)
        finally:
            browser.close()
    finally:
        if run.poll() is None:
            run.terminate()
            run.wait(timeout=DEADLINE)
    sys.exit("the live page: " + "; ".join(faults[:20]) if faults else 0)


main()
