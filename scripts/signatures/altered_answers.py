#!/usr/bin/env python3
"""Passes on what a signature service is asked and answers, on loopback, and alters one in three of the files that it signed.

Arguments: the service's URL (http://127.0.0.1:PORT); a port of its own; a folder, where each file that it handed on is kept: NNN.right.p7m,
NNN.altered.pdf, in the order in which they came.
"""
import base64
import http.client
import itertools
import json
import os
import re
import sys
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

UPSTREAM, PORT, FOLDER = urllib.parse.urlsplit(sys.argv[1]).netloc, int(sys.argv[2]), sys.argv[3]
# id-aa-signatureTimeStampToken, a whole element.
SIGNATURE_TIMESTAMP = bytes.fromhex("060b2a864886f70d010910020e")
HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "host"}
numbers = itertools.count()
connections = threading.local()


def last_of_signature(cms):
    """Where the last byte of the signature stands: at the end, or before the unsigned attributes, a long element that starts with a timestamp."""
    at = cms.find(SIGNATURE_TIMESTAMP)
    if at < 0:
        return len(cms) - 1
    # [1] and the attribute, each with a length of two bytes.
    assert cms[at - 8] == 0xA1 and cms[at - 4] == 0x30, "unsigned attributes of another form"
    return at - 9


def altered(file, number):
    """One bit is another: of the document, or of the signature."""
    changed = bytearray(file)
    document = file.index(b"%PDF-")
    if number // 6 % 2 == 0:
        # In the filler of a document of 4 KiB, so that it is as well-formed as it was.
        changed[document + 2048] ^= 1
    elif document > 0:
        changed[last_of_signature(file)] ^= 1
    else:
        # The page has Contents as well, by reference.
        start, end = re.search(rb"/Contents\s*<([0-9A-Fa-f]+)>", file).span(1)
        contents = bytearray.fromhex(file[start:end].decode())
        length = 4 + int.from_bytes(contents[2:4], "big")
        contents[last_of_signature(bytes(contents[:length]))] ^= 1
        changed[start:end] = contents.hex().encode()
    return bytes(changed)


def handed_on(text):
    """A signed file in base64: the one that is handed on, of which a copy is kept."""
    file, number = base64.b64decode(text), next(numbers)
    is_altered = number % 3 == 2
    if is_altered:
        file = altered(file, number)
    kind = "pdf" if file.startswith(b"%PDF-") else "p7m"
    with open(os.path.join(FOLDER, f"{number:03}.{'altered' if is_altered else 'right'}.{kind}"), "wb") as out:
        out.write(file)
    return base64.b64encode(file).decode()


def answer_of(path, body):
    """What is handed on of an answer."""
    if path.endswith("/signDocument"):
        answer = json.loads(body)
        answer["bytes"] = handed_on(answer["bytes"])
    elif "Signatures/" in path and path.endswith("/SignedBytes"):
        answer = json.loads(body)
        answer["signatureFile"]["content"] = handed_on(answer["signatureFile"]["content"])
    else:
        return body
    return json.dumps(answer).encode()


class Proxy(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def passed_on(self):
        if not hasattr(connections, "upstream"):
            connections.upstream = http.client.HTTPConnection(UPSTREAM)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP}
        connections.upstream.request(self.command, self.path, body or None, headers)
        answer = connections.upstream.getresponse()
        said = answer.read()
        if answer.status == 200:
            said = answer_of(self.path, said)
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.getheader("Content-Type", "application/json"))
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    do_GET = do_POST = passed_on

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", PORT), Proxy)
print("ready", flush=True)
server.serve_forever()
