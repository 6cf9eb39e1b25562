"""JSON as RFC 8259 has it, where Python's own parser is more generous.

    load("trace.json")       # also "trace.json.gz"

Raises ValueError for NaN and infinities, text that is not UTF-8, halves of
surrogate pairs, names that come twice in an object and numbers that overflow.
"""

import gzip
import json
import math
import pathlib


def _reject(name):
    raise ValueError(f"{name} is not JSON")


def _number(text):
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text} is more than a double holds")
    return value


def _object(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        names = [name for name, _ in pairs]
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"an object has {twice} more than once")
    return members


def parse(data):
    """The value that the bytes `data` stand for."""
    text = data.decode("utf-8")
    if text.startswith("\ufeff"):
        raise ValueError("a byte order mark is not JSON")
    value = json.loads(text, parse_constant=_reject, parse_float=_number,
                       object_pairs_hook=_object)
    # A lone surrogate is written as an escape and cannot be encoded again.
    if "\\ud" in text or "\\uD" in text:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    return value


def load(path):
    data = pathlib.Path(path).read_bytes()
    return parse(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
