"""What the scripts say and do where no real server is: sunlight.sh and dist.sh on stand-ins of their programs."""

import base64
import os
import pathlib
import re
import subprocess
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGETS = ROOT / "scripts/targets"

# Real servers may be installed, and on PATH as the gate has it. Here none is.
INSTALLED = {pathlib.Path.home() / ".cache/hammer/bin", pathlib.Path(os.environ.get("HAMMER_TARGETS_BIN", "/none"))}
PATH = ":".join(folder for folder in os.environ["PATH"].split(":") if pathlib.Path(folder) not in INSTALLED)

# Sunlight as far as sunlight.sh meets it: it answers everything, and a log that is there already it starts only if it can read its checkpoint
# by the monitoring prefix. As Skylight it serves the log's folder.
LOG = r"""#!/usr/bin/env python3
import http.server, pathlib, re, sys, urllib.request
config = pathlib.Path(sys.argv[2]).read_text()
value = lambda key: re.search(rf"{key}: (\S+)", config).group(1)
folder, prefix = pathlib.Path(value("localdirectory")), value("monitoringprefix")
checkpoint = folder / "checkpoint"
if "submissionprefix" in config:
    if checkpoint.exists() and urllib.request.urlopen(prefix + "/checkpoint").read() != checkpoint.read_bytes():
        sys.exit("checkpoints from Backend and MonitoringPrefix don't match")
    folder.mkdir(exist_ok=True)
    checkpoint.write_text("127.0.0.1/sun\n0\n")
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(checkpoint.read_bytes())
    def log_message(self, *_):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(re.search(r"listen: \[\"127.0.0.1:(\d+)", config).group(1))), Answer).serve_forever()
"""


def openssl(*arguments, given=None):
    return subprocess.run(["openssl", *arguments], input=given, check=True, capture_output=True).stdout


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.programs = self.folder / "bin"
        self.programs.mkdir()
        self.environment = {
            "PATH": f"{self.programs}:{PATH}",
            "HOME": str(self.folder),
            "HAMMER_TARGETS_BIN": str(self.folder / "none"),
            # By default they stand in the home that is replaced.
            "CARGO_HOME": os.environ.get("CARGO_HOME", str(pathlib.Path.home() / ".cargo")),
            "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(pathlib.Path.home() / ".rustup")),
        }

    def program(self, name, text):
        path = self.programs / name
        path.write_text(text)
        path.chmod(0o755)

    def roots(self):
        path = self.folder / "roots.pem"
        path.write_text("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n")
        return str(path)

    def script(self, path, *arguments, **environment):
        return subprocess.run(
            [path, *arguments], cwd=self.folder, env=self.environment | environment, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL
        )


class Help(Case):
    def test_every_script_says_how_it_is_called_and_does_nothing(self):
        scripts = [ROOT / ".ci/run", *(ROOT / "scripts").glob("*.sh"), *TARGETS.glob("*.sh")]
        scripts = [path for path in scripts if os.access(path, os.X_OK)]
        self.assertGreater(len(scripts), 20)
        for path in scripts:
            with self.subTest(path.name):
                answer = self.script(path, "--help")
                self.assertEqual((answer.returncode, answer.stderr), (0, ""))
                called = str(path.relative_to(ROOT)) if path.name != "duty.sh" else path.name
                self.assertIn(called, answer.stdout)
                self.assertNotIn("#!", answer.stdout)


class Tesseract(Case):
    def up(self, **environment):
        return self.script(TARGETS / "tesseract.sh", "up", **environment)

    def test_without_a_program_it_gives_the_command_that_builds_one(self):
        for given in {}, {"TESSERACT_BIN": "no-such-log"}:
            with self.subTest(**given):
                answer = self.up(ROOTS_PEM=self.roots(), **given)
                self.assertEqual(answer.returncode, 3)
                self.assertIn("go install github.com/transparency-dev/tesseract/cmd/tesseract/posix@v", answer.stderr)

    def test_a_name_on_the_path_will_do_and_roots_that_are_missing_are_named(self):
        self.program("a-log", "#!/bin/sh\nexit 1\n")
        empty = self.folder / "empty.pem"
        empty.write_text("")
        for roots, said in ("", "must name the PEM file"), ("absent.pem", "cannot be read"), (str(empty), "holds no certificate"):
            with self.subTest(said):
                answer = self.up(TESSERACT_BIN="a-log", ROOTS_PEM=roots)
                self.assertEqual(answer.returncode, 2, answer.stderr)
                self.assertIn(said, answer.stderr)
                self.assertIn("hammer ct roots", answer.stderr)


class Sunlight(Case):
    def setUp(self):
        super().setUp()
        self.key = openssl("pkey", "-pubout", "-outform", "DER", given=openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout"))
        self.program("sunlight", LOG)
        self.program("skylight", LOG)
        self.run_folder = self.folder / "run"

    def keygen(self, output, wanted=("-prefix",)):
        """One that takes these flags, and -f, alone."""
        flags = "|".join(("-f", *wanted))
        self.program(
            "sunlight-keygen",
            f'#!/bin/sh\nfor a; do case $a in {flags}) ;; -*) echo "flag provided but not defined: $a" >&2; exit 2 ;; esac; done\ncat <<\'OUT\'\n{output}\nOUT\n',
        )

    def sunlight(self, command):
        return self.script(TARGETS / "sunlight.sh", command, RUN=str(self.run_folder), ROOTS_PEM=self.roots())

    def variable(self, name):
        return re.search(rf"^{name}=(.*)$", (self.run_folder / "env").read_text(), re.M).group(1)

    def test_the_key_of_every_keygen_is_read(self):
        pem = openssl("pkey", "-pubin", "-inform", "DER", given=self.key).decode()
        line = base64.b64encode(self.key).decode()
        # Its Ed25519 key is raw bytes under the label of a public key.
        other = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2Vw\n-----END PUBLIC KEY-----"
        forms = {
            "PEM": (f"Log ID: abcd=\nECDSA public key:\n{pem}Ed25519 public key:\n{other}", ("-log",)),
            "one line": (f"Log ID: abcd=\nECDSA public key: {line}\nEd25519 public key: MCowBQYDK2Vw\nWitness verifier key: 127.0.0.1/sun+1+A", ("-prefix",)),
            "a line below": (f"Log ID: abcd=\nVerifier key: a+1+A\nECDSA public key:\n{line}\nEd25519 public key: AA", ()),
        }
        for name, (output, wanted) in forms.items():
            with self.subTest(name):
                self.run_folder = self.folder / name.replace(" ", "-")
                self.keygen(output, wanted)
                answer = self.sunlight("up")
                self.addCleanup(self.sunlight, "down")
                self.assertEqual(answer.returncode, 0, answer.stderr)
                self.assertEqual(self.variable("LOG_KEY_B64").replace("\\", ""), line)
                self.assertEqual(self.sunlight("down").returncode, 0)

    def test_a_key_that_is_empty_or_none_is_an_error_and_nothing_is_left_running(self):
        for said in "", "ECDSA public key:", "ECDSA public key: \nEd25519 public key: MCowBQYDK2Vw", "ECDSA public key: bm8ga2V5":
            with self.subTest(said):
                self.run_folder = self.folder / f"run-{len(said)}"
                self.keygen(said)
                answer = self.sunlight("up")
                self.assertEqual(answer.returncode, 1)
                self.assertIn("printed no ECDSA public key", answer.stderr)
                self.assertEqual(list((self.run_folder / "pid").iterdir()), [])

    def test_a_log_that_is_there_is_started_again(self):
        self.keygen(f"ECDSA public key: {base64.b64encode(self.key).decode()}")
        self.addCleanup(self.sunlight, "down")
        self.assertEqual(self.sunlight("up").returncode, 0)
        before = (self.run_folder / "pid/sunlight").read_text()
        answer = self.sunlight("restart")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertNotEqual((self.run_folder / "pid/sunlight").read_text(), before)
        self.assertIn("tree size 0", self.sunlight("status").stdout)


class Package(Case):
    def setUp(self):
        super().setUp()
        self.out = self.folder / "package"
        self.program(
            "hammer",
            """#!/bin/sh
case $1 in
  --version) echo 'hammer 7.8.9' ;;
  completions) echo "for $2" ;;
  man) mkdir -p "$3" && echo page >"$3/hammer.1" ;;
esac
""",
        )

    def dist(self, **environment):
        given = {"HAMMER": str(self.programs / "hammer"), "TARGET": "any-unknown-linux-gnu", "SOURCE_DATE_EPOCH": "1700000000"}
        return self.script(ROOT / "scripts/dist.sh", str(self.out), **(given | environment))

    def test_it_has_what_is_installed_and_the_same_bytes_again(self):
        package, sums = self.out / "hammer-7.8.9-any-unknown-linux-gnu.tar.gz", self.out / "SHA256SUMS"
        found = []
        for _ in range(2):
            answer = self.dist()
            self.assertEqual(answer.returncode, 0, answer.stderr)
            self.assertIn(str(package), answer.stdout)
            subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=self.out, check=True, capture_output=True)
            self.assertIn(package.name, sums.read_text())
            found.append(package.read_bytes())
        self.assertEqual(*found)
        with tarfile.open(package) as archive:
            members = {member.name.removeprefix("hammer-7.8.9-any-unknown-linux-gnu/"): member for member in archive}
        for name in ("hammer", "LICENSE", "README.md", "CHANGELOG.md", "completions/hammer.bash", "completions/_hammer", "completions/hammer.fish",
                     "man/man1/hammer.1", "configs/ct-quickstart.yaml", "docs/plan.md"):
            self.assertIn(name, members)
        self.assertEqual((members["hammer"].mode, members["LICENSE"].mode), (0o755, 0o644))
        self.assertEqual({(member.mtime, member.uid, member.gid, member.uname) for member in members.values()}, {(1700000000, 0, 0, "")})

    def test_a_program_that_needs_libraries_is_no_program_for_musl(self):
        answer = self.dist(HAMMER=os.path.realpath("/bin/bash"), TARGET="any-unknown-linux-musl")
        self.assertEqual(answer.returncode, 1)
        self.assertIn("is not static", answer.stderr)
        self.assertFalse(self.out.exists())


if __name__ == "__main__":
    unittest.main()
