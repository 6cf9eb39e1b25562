"""Checks what viewers ask of a Chrome trace, with Python's own JSON reader.

Strict JSON in valid UTF-8; a name everywhere and a category on every slice;
ids in 31 bits; the slices of a row nested, parents before children; each flow
with one start and its ends, where slices begin.
"""

import collections
import decimal
import json
import sys


def reject(constant):
    raise ValueError(constant + " is not JSON")


def unique(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        raise ValueError("a key twice: " + repr(keys))
    return dict(pairs)


def check_ids(event):
    if event["pid"] in ("Spans", "Traces", ""):
        return
    for key in ("pid", "tid"):
        if not 0 <= event[key] < 2**31:
            sys.exit("id out of range: " + repr(event))


def check_nesting(row, slices):
    open_ends = []
    last = None
    for ts, dur, name in slices:
        if last is not None and ts < last:
            sys.exit("not in start order: %r in row %r" % (name, row))
        last = ts
        while open_ends and open_ends[-1] <= ts:
            open_ends.pop()
        if open_ends and ts + dur > open_ends[-1]:
            sys.exit("reaches over its parent's end: %r in row %r at %s"
                     % (name, row, ts))
        open_ends.append(ts + dur)


def check_flows(flows, rows):
    if not flows:
        sys.exit("no flows to check")
    for key, ends in flows.items():
        phases = sorted(end["ph"] for end in ends)
        # A call may launch many kernels, under one id.
        if key[0] == "ac2g":
            phases = sorted(set(phases)) if phases.count("s") == 1 else phases
        if phases != ["f", "s"]:
            sys.exit("a flow without one start and one end: %r" % (key,))
        for end in ends:
            if end["ph"] == "f" and end["bp"] != "e":
                sys.exit("binds to the next slice: " + repr(end))
            slices = rows[end["pid"], end["tid"]]
            if end["ts"] not in (ts for ts, _, _ in slices):
                sys.exit("no slice begins at " + repr(end))


def main():
    with open(sys.argv[1], "rb") as file:
        raw = file.read()
    if not raw.startswith(b'{"') or b'"traceEvents": [' not in raw:
        sys.exit("does not begin as readers expect")
    trace = json.loads(raw.decode("utf-8"), parse_constant=reject,
                       parse_float=decimal.Decimal, object_pairs_hook=unique)
    rows = collections.defaultdict(list)
    flows = collections.defaultdict(list)
    phases = collections.Counter()
    for event in trace["traceEvents"]:
        phases[event["ph"]] += 1
        if not isinstance(event["name"], str):
            sys.exit("no name: " + repr(event))
        check_ids(event)
        if event["ph"] == "X":
            if not isinstance(event["cat"], str):
                sys.exit("no category: " + repr(event))
            rows[event["pid"], event["tid"]].append(
                (event["ts"], event["dur"], event["name"]))
        if event["ph"] in ("s", "f"):
            flows[event["cat"], event["name"], event["id"]].append(event)
    for row, slices in rows.items():
        check_nesting(row, slices)
    check_flows(flows, rows)
    if trace["traceEvents"][-1]["name"] != "Record Window End":
        sys.exit("the last event is not the end of the window")
    print(dict(phases), len(rows), "rows")


main()
