# SPDX-License-Identifier: MIT
"""libsprof, a sampling profiler that runs inside the program.

The command is `sprofile`, or `python -m libsprof`. LIBRARY is the library for
LD_PRELOAD, INCLUDE the folder of sprof.h, COMMAND the command itself.
"""
import os

_folder = os.path.dirname(os.path.abspath(__file__))
COMMAND = os.path.join(_folder, "bin", "sprofile")
LIBRARY = os.path.join(_folder, "bin", "libsprof.so")
INCLUDE = os.path.join(_folder, "include")
