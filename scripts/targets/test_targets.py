"""What the scripts say and do before a real server is there."""

import os
import pathlib
import subprocess
import tempfile
import unittest

TARGETS = pathlib.Path(__file__).resolve().parent
ROOT = TARGETS.parent.parent

class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.programs = self.folder / "bin"
        self.programs.mkdir()
        self.environment = {
            "PATH": f"{self.programs}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "HAMMER_TARGETS_BIN": str(self.folder / "none"),
        }

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


if __name__ == "__main__":
    unittest.main()
