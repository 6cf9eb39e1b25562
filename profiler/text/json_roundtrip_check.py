"""Reads test_json_writer's lines back with Python's own JSON reader."""

import decimal
import json
import math
import sys


def reject(constant):
    raise ValueError(constant + " is not JSON")


def check(kind, source, text):
    value = json.loads(text, parse_constant=reject)
    if kind == "s":
        raw = b"" if source == "-" else bytes.fromhex(source)
        return value == raw.decode("utf-8", errors="replace")
    if kind == "d":
        expected = float.fromhex(source)
        if math.isinf(expected):
            return value == ("Infinity" if expected > 0 else "-Infinity")
        return float(value) == expected
    return decimal.Decimal(text) * 1000 == int(source)


def main():
    count = 0
    for line in sys.stdin.buffer.read().split(b"\n")[:-1]:
        kind, source, text = line.decode("utf-8").split(" ", 2)
        if not check(kind, source, text):
            sys.exit("does not read back: " + repr(line))
        count += 1
    if count < 25_000:
        sys.exit("only %d lines" % count)
    print("%d values read back" % count)


main()
