"""The Python packages of these tests, for scripts that people run by hand.

    sys.path.insert(0, str(ROOT))
    from tests.e2e.consumers import viewers
    viewers.use()
    from tests.e2e.consumers.browser import Browser
"""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]


def use():
    """Runs the script again with the packages, unless it has them already."""
    folder = ROOT / "third_party/python"
    python = subprocess.run(
        [folder / "environment.sh", "path", folder / "viewers.txt"],
        check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    python += "/bin/python"
    if not os.path.exists(python):
        sys.exit(f"there is no {python}; ./bazelw test makes it")
    if sys.executable != python:
        os.execv(python, [python, "-B", *sys.argv])
