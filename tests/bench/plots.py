# SPDX-License-Identifier: MIT
"""Draws what curves.py measured, as four pictures (SVG) for the page of
measurements: cost and error against the rate, the handler against the depth,
and the cost against threads.

Usage: plots.py [--data FILE] [--out DIRECTORY]. Needs matplotlib.
"""
import argparse
import json
import sys
from pathlib import Path

import matplotlib

import bench

matplotlib.use("svg")
from matplotlib import pyplot  # noqa: E402  (the backend is chosen before)

COLOURS = {"libsprof": "#c0392b", "floor": "#7f8c8d", "perf record": "#2980b9",
           "perf record -g": "#2980b9", "perf record dwarf": "#8e44ad",
           "gperftools": "#27ae60", "async-profiler": "#d68910"}
STYLE = {"svg.hashsalt": "libsprof", "svg.fonttype": "none", "font.size": 10,
         "axes.grid": True, "grid.alpha": 0.3, "axes.spines.top": False,
         "axes.spines.right": False, "legend.frameon": False,
         "figure.figsize": (6.4, 3.6), "figure.facecolor": "white"}


def begin(title, across, up):
    figure, axes = pyplot.subplots(layout="constrained")
    axes.set_title(title, loc="left", fontsize=11)
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    return figure, axes


def save(figure, path):
    figure.savefig(path, metadata={"Date": None, "Creator": "plots.py"})
    pyplot.close(figure)


def lines_by_way(axes, rows, value):
    for way in dict.fromkeys(row["way"] for row in rows):
        mine = [row for row in rows if row["way"] == way]
        label = "empty handler" if way == "floor" else way
        axes.plot([row["rate"] for row in mine], [row[value] for row in mine],
                  marker="o", markersize=3, label=label,
                  linewidth=2.2 if way == "libsprof" else 1.2,
                  color=COLOURS.get(way))
    axes.legend()


def draw_rate(rows, directory):
    figure, axes = begin("Cost: CPU over the unprofiled run",
                         "samples asked for a CPU second", "percent")
    lines_by_way(axes, rows, "cost")
    axes.set_ylim(bottom=0)
    save(figure, directory / "cost-rate.svg")


def draw_error(rows, directory):
    figure, axes = begin("Error: largest error of a function's share",
                         "samples asked for a CPU second", "points")
    lines_by_way(axes, rows, "error")
    axes.set_ylim(bottom=0)
    save(figure, directory / "error-rate.svg")


def draw_depth(rows, directory):
    figure, axes = begin("Time in the handler", "frames of the stack",
                         "microseconds")
    across = [row["depth"] for row in rows]
    axes.plot(across, [row["median"] for row in rows], marker="o",
              markersize=3, color=COLOURS["libsprof"], label="median")
    axes.plot(across, [row["p99"] for row in rows], marker="o", markersize=3,
              color=COLOURS["libsprof"], linestyle=":",
              label="99th percentile")
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:,g}")
    axes.legend()
    save(figure, directory / "handler-depth.svg")


def draw_threads(rows, directory):
    figure, axes = begin("Cost against threads", "threads",
                         "percent of the work; of one core, if idle")
    across = [row["threads"] for row in rows]
    styles = {"busy": "-", "busy, SPROF_COST=off": "--", "idle": ":"}
    for key, style in styles.items():
        axes.plot(across, [row[key] for row in rows], marker="o",
                  markersize=3, linestyle=style, label=key,
                  color=COLOURS["libsprof"])
    axes.legend()
    save(figure, directory / "cost-threads.svg")


DRAWN = {"rate": draw_rate, "error": draw_error, "depth": draw_depth,
         "threads": draw_threads}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path,
                        default=bench.CACHE / "curves.json")
    parser.add_argument("--out", type=Path,
                        default=bench.ROOT / "docs/pictures")
    arguments = parser.parse_args()
    if not arguments.data.exists():
        sys.exit(f"plots: {arguments.data} is not there; run curves.py first")
    data = json.loads(arguments.data.read_text())
    arguments.out.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context(STYLE):
        for name, draw in DRAWN.items():
            if name in data:
                draw(data[name], arguments.out)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main()
