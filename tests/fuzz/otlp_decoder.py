# SPDX-License-Identifier: MIT
"""Reads what fuzz_otlp wrote with OpenTelemetry's own decoder (opentelemetry-proto).

otlp_decoder.py FILE: each request must be decoded whole, have the zero value
first in each table, refer to nothing that is not there, and have the sums of
the profile that it was made of.
"""
import struct
import sys

from opentelemetry.proto.collector.profiles.v1development import \
    profiles_service_pb2 as service
from opentelemetry.proto.profiles.v1development import profiles_pb2 as profiles

TABLES = ("mapping", "location", "function", "link", "attribute", "stack")


def check_tables(d):
    assert d.string_table[0] == ""
    for name in TABLES:
        first = getattr(d, name + "_table")[0]
        if name != "link":
            assert not first.ListFields(), first
    assert not any(d.link_table[0].trace_id + d.link_table[0].span_id)
    texts = len(d.string_table)
    for function in d.function_table:
        assert max(function.name_strindex, function.system_name_strindex,
                   function.filename_strindex) < texts
    for mapping in d.mapping_table:
        assert mapping.filename_strindex < texts
    for attribute in d.attribute_table:
        assert max(attribute.key_strindex, attribute.unit_strindex) < texts
    for link in d.link_table:
        assert len(link.trace_id) == 16 and len(link.span_id) == 8
    for location in d.location_table:
        assert location.mapping_index < len(d.mapping_table)
        for line in location.lines:
            assert line.function_index < len(d.function_table)
    for stack in d.stack_table:
        assert all(i < len(d.location_table) for i in stack.location_indices)


def sums_of(d, profile):
    total = 0
    assert len(profile.profile_id) == 16
    for sample in profile.samples:
        assert sample.stack_index < len(d.stack_table)
        assert sample.link_index < len(d.link_table)
        assert all(i < len(d.attribute_table)
                   for i in sample.attribute_indices)
        assert len(sample.values) == 1
        total += sample.values[0]
    return d.string_table[profile.sample_type.type_strindex], total


def check(data, expected):
    request = service.ExportProfilesServiceRequest()
    request.ParseFromString(data)
    # The bytes of a file and of a request are the same (otlp.h).
    assert profiles.ProfilesData.FromString(data).dictionary == request.dictionary
    d = request.dictionary
    check_tables(d)
    found = {}
    for resource in request.resource_profiles:
        keys = [pair.key for pair in resource.resource.attributes]
        assert len(keys) == len(set(keys)), keys
        for scope in resource.scope_profiles:
            for profile in scope.profiles:
                kind, total = sums_of(d, profile)
                found[kind] = found.get(kind, 0) + total
    for kind, total in expected.items():
        assert found.get(kind, 0) == total, (found, expected)


def main():
    count = 0
    with open(sys.argv[1], "rb") as file:
        while head := file.read(28):
            length, *sums = struct.unpack("<IQQQ", head)
            data = file.read(length)
            try:
                check(data, dict(zip(("samples", "cpu", "wall"), sums)))
            except Exception:
                with open(sys.argv[1] + ".bad", "wb") as bad:
                    bad.write(data)
                print(f"request {count}, kept as {sys.argv[1]}.bad")
                raise
            count += 1
    print(count, "requests decoded")
    return count == 0


sys.exit(main())
