"""Prints a trace of 5,000 operations, each with a child and an allocation.

It is so large that what an exporter takes for each event outweighs what it
takes once: a budget then sees a change of 1 % in the former.
"""

import json

OPERATIONS = 5000


def event(**fields):
    return {"pid": 7, **fields}


def operation(number):
    tid, start = number % 2 + 1, number * 100
    for name, begin, length in (("aten::linear", 0, 90), ("aten::mm", 10, 60)):
        yield event(ph="X", cat="cpu_op", name=name, tid=tid, ts=start + begin,
                    dur=length)
    yield event(ph="i", s="t", cat="cpu_instant_event", name="[memory]",
                tid=tid, ts=start + 20, args={
                    "Addr": 4096 * (number + 1), "Bytes": 1024,
                    "Total Allocated": 1024 * (number + 1),
                    "Device Type": 0, "Device Id": -1})


def main():
    events = [event(ph="M", tid=tid, name="thread_name",
                    args={"name": f"worker {tid}"}) for tid in (1, 2)]
    for number in range(OPERATIONS):
        events.extend(operation(number))
    print(json.dumps({"traceEvents": events}))


if __name__ == "__main__":
    main()
