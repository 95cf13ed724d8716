"""A headless Chromium, driven by the Chrome DevTools Protocol over a pipe (--remote-debugging-pipe): messages are JSON, each ended by a zero byte."""
import base64
import json
import os
import subprocess
import tempfile
import time

OPTIONS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-background-networking",
           "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--remote-debugging-pipe"]


class Browser:
    """One page at a time, of any width, by light, in the dark or as on paper."""

    def __init__(self, path):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self.sends = os.pipe()
        self.receives, from_browser = os.pipe()

        def pipes():
            # The browser reads from 3 and writes to 4; duplicates first, since either may be the other's number.
            first, second = os.dup(to_browser), os.dup(from_browser)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self.process = subprocess.Popen([path, *OPTIONS, f"--user-data-dir={self.profile.name}", "about:blank"], preexec_fn=pipes,
                                        close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.number, self.session, self.events = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def message(self):
        while b"\0" not in self.buffer:
            read = os.read(self.receives, 1 << 20)
            if not read:
                raise EOFError("the browser went away")
            self.buffer += read
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        call = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            call["sessionId"] = self.session
        os.write(self.sends, json.dumps(call).encode() + b"\0")
        while True:
            message = self.message()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def look(self, width, look):
        """Lays pages out for that width, by light, in the dark or as on paper."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", media="print" if look == "print" else "screen",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if look == "dark" else "light"}])

    def open(self, url, width, look):
        """Opens a page, and waits until it has loaded; what its console said, what it asked for, and how long that took."""
        self.look(width, look)
        self.events.clear()
        self.call("Page.navigate", url=url)
        started = time.monotonic()
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.message())
        seconds = time.monotonic() - started
        said, asked = self.heard()
        return said, [other for other in asked if other != url], seconds

    def heard(self):
        """What the console has said since the page was opened, and what the page has asked for."""
        said = [event["params"] for event in self.events if event.get("method") in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")]
        asked = [event["params"]["request"]["url"] for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        return said, [url for url in asked if not url.startswith("data:")]

    def run(self, script):
        """The value of a script in the page."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"])
        return found["result"].get("value")

    def picture(self, path):
        """Writes the whole page as PNG."""
        taken = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(taken["data"]))

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=60)
        self.profile.cleanup()
