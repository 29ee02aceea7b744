# SPDX-License-Identifier: MIT
"""Packages of PyPI in an environment of their own, for the scripts that measure
beside them or with them."""
import subprocess
import sys

import bench

PLACE = bench.CACHE / "pypi"
PYTHON = str(PLACE / "bin/python3")
PATH = f"{PLACE}/bin:/usr/bin:/bin"


def fetch(*packages):
    """An environment with Python and, where they can be had, PACKAGES."""
    if not PLACE.exists():
        subprocess.run([sys.executable, "-m", "venv", str(PLACE)], check=True)
    for package in packages:
        shown = subprocess.run([PYTHON, "-m", "pip", "show", "-q", package],
                               check=False, capture_output=True)
        if shown.returncode != 0 and subprocess.run(
                [PYTHON, "-m", "pip", "install", "-q", package],
                check=False).returncode != 0:
            bench.progress(f"{package} cannot be had; left out")


def command(name):
    """The path of the command NAME of a package, or None."""
    place = PLACE / "bin" / name
    return place if place.exists() else None
