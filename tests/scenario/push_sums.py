# SPDX-License-Identifier: MIT
"""What a server of push_server.py got, summed up.

push_sums.py DIR SERVICE: for each path one line "PATH cpu NS wall NS requests N
repeated N" about the programs called SERVICE, or all if it is empty. A request that came twice has the
same key and the same bytes, and counts once. Uses no library: fields of protobuf are read here.
"""
import base64
import glob
import gzip
import json
import os
import sys


def fields(data):
    """(number, value) of each field; bytes of a message, else a number."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
        elif tag & 7 == 1:
            yield tag >> 3, int.from_bytes(data[at:at + 8], "little")
            at += 8
        elif tag & 7 == 2:
            size = varint()
            yield tag >> 3, data[at:at + size]
            at += size
        else:
            raise ValueError(f"wire type {tag & 7}")


def every(data, number):
    return [value for n, value in fields(data) if n == number]


def numbers(data):
    """The numbers of a packed field."""
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0


def otlp_sums(data, service):
    dictionary = every(data, 2)[0]
    texts = [text.decode() for text in every(dictionary, 5)]
    sums = {}
    for resource in every(data, 1):
        if (b"service.name" not in resource or
                service.encode() not in every(resource, 1)[0]):
            continue
        for scope in every(resource, 2):
            for profile in every(scope, 2):
                kind = texts[every(every(profile, 1)[0], 1)[0]]
                for sample in every(profile, 2):
                    for packed in every(sample, 4):
                        sums[kind] = sums.get(kind, 0) + sum(numbers(packed))
    return sums


def pprof_sums(data, service=""):
    data = gzip.decompress(data)
    if service.encode() not in data:
        return {}
    texts = [text.decode() for text in every(data, 6)]
    kinds = [texts[every(kind, 1)[0]] for kind in every(data, 1)]
    sums = dict.fromkeys(kinds, 0)
    for table, number in ((3, "mapping"), (4, "location"), (5, "function")):
        ids = [every(entry, 1)[0] for entry in every(data, table)]
        assert ids == list(range(1, len(ids) + 1)), (number, ids[:9])
    for sample in every(data, 2):
        values = list(numbers(every(sample, 2)[0]))
        assert len(values) == len(kinds)
        for kind, value in zip(kinds, values):
            sums[kind] += value
    return sums


def json_sums(data, service):
    sums = {}
    for series in json.loads(data)["series"]:
        labels = series["labels"]
        if isinstance(labels, dict):
            labels = labels["labels"]
        names = {label["name"]: label["value"] for label in labels}
        assert names["__name__"] in ("process_cpu", "wall"), names
        if names.get("service_name", names.get("job")) != (
                service or names.get("service_name", names.get("job"))):
            continue
        for sample in series["samples"]:
            raw = sample.get("rawProfile") or sample["raw_profile"]
            found = pprof_sums(base64.b64decode(raw))
            kind = "cpu" if names["__name__"] == "process_cpu" else "wall"
            sums[kind] = sums.get(kind, 0) + found[kind]
    return sums


def main():
    seen, totals = {}, {}
    for path in sorted(glob.glob(sys.argv[1] + "/*.body")):
        name = os.path.basename(path)[7:-5]
        body = open(path, "rb").read()
        head = open(path[:-5] + ".head").read().lower()
        key = head.split("idempotency-key: ")[1].split("\n")[0]
        total = totals.setdefault(name, {"requests": 0, "repeated": 0})
        if key in seen:
            assert seen[key] == body, f"{key}: other bytes under the same key"
            total["repeated"] += 1
            continue
        seen[key] = body
        total["requests"] += 1
        if "v1development" in name:
            found = otlp_sums(gzip.decompress(body), sys.argv[2])
        elif "push.v1" in name or "writeraw" in name:
            found = json_sums(body, sys.argv[2])
        else:
            found = pprof_sums(body, sys.argv[2])
        for kind in ("cpu", "wall"):
            total[kind] = total.get(kind, 0) + found.get(kind, 0)
    for name, total in sorted(totals.items()):
        print(name, "cpu", total["cpu"], "wall", total["wall"], "requests",
              total["requests"], "repeated", total["repeated"])


if __name__ == "__main__":
    main()
