# SPDX-License-Identifier: MIT
"""The load of stress.py ends with the one that asked for it, however that one ends."""
import pathlib
import subprocess
import sys
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ASK = """import stress, sys
for _ in range(2):
    print(stress.keep_doing(stress.spin), flush=True)
sys.stdin.read()
"""


class Load(unittest.TestCase):
    def test_it_ends_with_whoever_asked_for_it(self):
        asking = subprocess.Popen([sys.executable, "-c", ASK], cwd=HERE, stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE)
        load = [int(asking.stdout.readline()) for _ in range(2)]
        self.assertTrue(all(pathlib.Path(f"/proc/{pid}").exists() for pid in load))
        asking.kill()
        asking.communicate()
        while any(pathlib.Path(f"/proc/{pid}").exists() for pid in load):
            time.sleep(0.01)


if __name__ == "__main__":
    unittest.main()
