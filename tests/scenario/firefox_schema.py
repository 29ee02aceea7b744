#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# Holds a Firefox profile against the format's description (version 61: the
# types of firefox-devtools/profiler's src/types/profile.ts): every field that
# is required, the length of every column, the range of every index, the order
# of times.
#
#   firefox_schema.py FILE CPU-SECONDS WALL-SECONDS
#
# The last two are what the threads' tables have to add up to, as far as three
# decimals say. Prints what is wrong, and ends with 1 if anything is.
import json
import sys

faults = []


def expect(condition, *words):
    if not condition:
        faults.append(" ".join(str(word) for word in words))


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# A column of `table` named `name`, as long as the table. A row is an index
# below `limit`, or one of `others`; or anything that `test` is true for.
def column(title, table, name, limit=None, others=(), test=None):
    rows = table.get(name)
    expect(isinstance(rows, list), title, name, "is no column")
    if not isinstance(rows, list):
        return []
    expect(len(rows) == table["length"], title, name, "has", len(rows),
           "rows of", table["length"])
    for row in rows:
        fits = row in others if others else False
        if limit is not None and isinstance(row, int):
            fits = fits or 0 <= row < limit
        if test is not None:
            fits = fits or test(row)
        if not fits:
            expect(False, title, name, "has", row)
            break
    return rows


def check_meta(meta):
    for key, kind in {
        "interval": (int, float), "startTime": (int, float),
        "processType": int, "stackwalk": int, "version": int,
        "preprocessedProfileVersion": int, "product": str,
        "categories": list, "markerSchema": list, "sampleUnits": dict,
        "symbolicated": bool,
    }.items():
        expect(isinstance(meta.get(key), kind), "meta", key, meta.get(key))
    expect(meta["preprocessedProfileVersion"] == 61, "another version")
    expect(meta["interval"] > 0, "interval", meta["interval"])
    colours = [category["color"] for category in meta["categories"]]
    expect("grey" in colours, "no default category")
    expect(set(colours) <= {
        "transparent", "purple", "green", "orange", "yellow", "lightblue",
        "blue", "brown", "magenta", "red", "lightred", "darkgrey", "grey",
    }, "colours", colours)
    for category in meta["categories"]:
        expect(category["subcategories"][0] == "Other", category)
    for schema in meta["markerSchema"]:
        expect(isinstance(schema["name"], str), schema)
        expect(isinstance(schema["display"], list), schema)
        for field in schema["fields"]:
            expect(set(field) >= {"key", "format"}, field)


def check_libs(libs):
    for lib in libs:
        for key in ("arch", "name", "path", "debugName", "debugPath",
                    "breakpadId"):
            expect(isinstance(lib[key], str), "lib", key, lib.get(key))
        expect(len(lib["breakpadId"]) == 33 and
               set(lib["breakpadId"]) <= set("0123456789ABCDEF"), lib)
        code = lib["codeId"]
        expect(code is None or isinstance(code, str), "codeId", code)
        # The first bytes of the build-id, read as numbers of a GUID.
        if code is not None and len(code) >= 32:
            first = bytes.fromhex(code[:8])[::-1].hex().upper()
            expect(lib["breakpadId"].startswith(first), lib)


def check_stacks(shared):
    frames, stacks = shared["frameTable"], shared["stackTable"]
    frame = column("stackTable", stacks, "frame", frames["length"])
    prefix = column("stackTable", stacks, "prefix", stacks["length"], (None,))
    for i, caller in enumerate(prefix):
        expect(caller is None or caller < i, "stack", i, "called by", caller)
        depth = frames["inlineDepth"][frame[i]]
        if depth > 0:
            outer = frame[caller] if caller is not None else None
            expect(outer is not None and
                   frames["inlineDepth"][outer] == depth - 1 and
                   frames["address"][outer] == frames["address"][frame[i]],
                   "stack", i, "is inlined in another place")


def check_shared(profile):
    shared, categories = profile["shared"], profile["meta"]["categories"]
    strings = len(shared["stringArray"])
    functions, frames = shared["funcTable"], shared["frameTable"]
    resources, sources = shared["resourceTable"], shared["sources"]
    natives = shared["nativeSymbols"]

    expect(all(isinstance(text, str) for text in shared["stringArray"]),
           "a string is none")
    expect(len(set(shared["stringArray"])) == strings, "a string occurs twice")
    column("frames", frames, "address", 1 << 53, (-1,))
    column("frames", frames, "inlineDepth", 1 << 31)
    column("frames", frames, "category", len(categories), (None,))
    column("frames", frames, "func", functions["length"])
    column("frames", frames, "nativeSymbol", natives["length"], (None,))
    column("frames", frames, "innerWindowID", 1, (None,))
    for name in ("line", "column"):
        column("frames", frames, name, 1 << 31, (None,))
    for i, kind in enumerate(column("frames", frames, "subcategory", 1 << 31,
                                    (None,))):
        if frames["category"][i] is not None:
            of = categories[frames["category"][i]]["subcategories"]
            expect(kind is not None and kind < len(of), "subcategory", kind)
    column("functions", functions, "name", strings)
    column("functions", functions, "isJS", others=(False,))
    column("functions", functions, "relevantForJS", others=(False,))
    column("functions", functions, "resource", resources["length"], (-1,))
    column("functions", functions, "source", sources["length"], (None,))
    column("functions", functions, "lineNumber", others=(None,))
    column("functions", functions, "columnNumber", others=(None,))
    column("resources", resources, "lib", len(profile["libs"]), (None,))
    column("resources", resources, "name", strings)
    column("resources", resources, "host", strings, (None,))
    column("resources", resources, "type", others=(1,))
    column("sources", sources, "id", others=(None,))
    column("sources", sources, "filename", strings)
    column("sources", sources, "startLine", 1 << 31)
    column("sources", sources, "startColumn", 1 << 31)
    column("sources", sources, "sourceMapURL", strings, (None,))
    for name in ("libIndex", "address", "name", "functionSize"):
        column("nativeSymbols", natives, name, 1 << 53, (None,))
    check_stacks(shared)


def check_markers(profile, thread):
    title, markers = "markers of " + thread["name"], thread["markers"]
    strings = len(profile["shared"]["stringArray"])
    schemas = {schema["name"]: schema
               for schema in profile["meta"]["markerSchema"]}

    column(title, markers, "name", strings)
    column(title, markers, "category", len(profile["meta"]["categories"]))
    starts = column(title, markers, "startTime", test=is_number)
    ends = column(title, markers, "endTime", others=(None,), test=is_number)
    for i, phase in enumerate(column(title, markers, "phase", 2)):
        expect(phase == 0 or starts[i] <= ends[i], title, i, "ends early")
    for data in column(title, markers, "data",
                       test=lambda row: isinstance(row, dict)):
        expect(data["type"] in schemas, title, data)
        for field in schemas[data["type"]]["fields"]:
            value = data.get(field["key"])
            if field["format"] == "unique-string" and value is not None:
                expect(0 <= value < strings, title, data)
        if "cause" in data:
            expect(0 <= data["cause"]["stack"] <
                   profile["shared"]["stackTable"]["length"], title, data)


def check_thread(profile, thread):
    title, samples = "samples of " + thread["name"], thread["samples"]
    for key, kind in {
        "processType": str, "processStartupTime": (int, float),
        "registerTime": (int, float), "pausedRanges": list, "name": str,
        "isMainThread": bool, "processName": str, "pid": str, "tid": int,
    }.items():
        expect(isinstance(thread.get(key), kind), title, key, thread.get(key))
    for key in ("processShutdownTime", "unregisterTime"):
        expect(thread[key] is None or is_number(thread[key]), title, key)
    column(title, samples, "stack", profile["shared"]["stackTable"]["length"],
           (None,))
    column(title, samples, "weight", test=is_number)
    column(title, samples, "threadCPUDelta", test=is_number)
    times = column(title, samples, "time", test=is_number)
    expect(times == sorted(times), title, "go back in time")
    expect(samples["weightType"] == "tracing-ms", title, "weightType")
    check_markers(profile, thread)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        profile = json.load(file)
    cpu = wall = 0
    check_meta(profile["meta"])
    check_libs(profile["libs"])
    check_shared(profile)
    expect(len(profile["threads"]) > 0, "no threads")
    for thread in profile["threads"]:
        check_thread(profile, thread)
        cpu += sum(thread["samples"]["threadCPUDelta"]) / 1e9
        wall += sum(thread["samples"]["weight"]) / 1e3
    for what, sum_, text in (("CPU", cpu, sys.argv[2]),
                             ("wall", wall, sys.argv[3])):
        expect(abs(sum_ - float(text)) < 0.00051, what, sum_, "is not", text)
    for fault in faults[:20]:
        print(fault)
    sys.exit(1 if faults else 0)


main()
