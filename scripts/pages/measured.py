#!/usr/bin/env python3
"""Opens pages of reports in headless Chromium and measures them: nothing reaches beyond the window, no text lies over another or is hard to tell
from what is behind it, nothing is fetched, and the console says nothing. Each at 1280 and 390 pixels, by light and in the dark, and as printed.

Arguments: the browser; a folder that is there, for pictures; pages.
"""
import os
import sys

from browser import Browser

BROWSER, PICTURES, *PAGES = sys.argv[1:]
# By pixels; paper is A4.
LOOKS = [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark"), (794, "print")]
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "measure.js"), encoding="utf-8") as script:
    MEASURE = script.read()


def look_at(browser, page, width, look):
    """What is wrong with a page."""
    name = os.path.splitext(os.path.basename(page))[0]
    said, asked, seconds = browser.open("file://" + os.path.abspath(page), width, look)
    measured = browser.run(MEASURE)
    found = [f"the console says {message}" for message in said] + [f"{url} was asked for" for url in asked] + measured["found"]
    print(f"{name} at {width}, {look}: {measured['charts']} charts, {measured['texts']} texts, least contrast {measured['contrast']:.1f}, "
          f"loaded in {seconds:.2f} s" + "".join(f"\n  {fault}" for fault in found[:20]), flush=True)
    browser.picture(os.path.join(PICTURES, f"{name}.{width}.{look}.png"))
    return bool(found)


def main():
    browser = Browser(BROWSER)
    try:
        bad = sum(look_at(browser, page, width, look) for page in PAGES for width, look in LOOKS)
    finally:
        browser.close()
    sys.exit(f"{bad} of {len(PAGES) * len(LOOKS)} looks found something" if bad else 0)


main()
