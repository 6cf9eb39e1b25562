"""Writes a trace as Kineto does, of as many operations as one likes.

    python3 tests/e2e/kineto_trace.py 1000000 /tmp/trace.json      # 232 MB
    python3 tests/e2e/kineto_trace.py 1000000 /tmp/trace.json 3    # 281 MB

With a third argument, each operation is a backward one, and their forward ones
ran in so many threads, in turn.

Eight threads, 200 names, three to nine operations deep; the same every time.
"""

import random
import sys

THREADS = 8
NAMES = 200
START_US = 4_353_493_032_474
PROCESS = 28857

HEAD = """{
  "schemaVersion": 1,
  "displayTimeUnit": "ms",
  "baseTimeNanoseconds": 1790857026000000000,
  "traceEvents": [
"""
EVENT = """  {
    "ph": "X", "cat": "cpu_op", "name": "aten::operation_%d", "pid": %d, "tid": %d,
    "ts": %.3f, "dur": %.3f,
    "args": {
      "External id": %d,"Record function id": 0, "Ev Idx": %d%s
    }
  }"""
# Of backward operations, whose forward ones ran in several threads.
FORWARD = ', "Sequence number": %d, "Fwd thread id": %d'
TAIL = """
  ],
  "traceName": "trace.json"
}
"""


def operations(count, chance):
    """(begin, end, name) in nanoseconds, in order of begin."""
    made, open_ones, now = [], [], 0
    while len(made) < count or open_ones:
        is_deep = len(open_ones) >= 3
        begins = not is_deep or (len(open_ones) < 9 and chance.random() < 0.5)
        if begins and len(made) < count:
            open_ones.append(len(made))
            made.append([now, None, chance.randrange(NAMES)])
            now += chance.randrange(100, 900)
        else:
            made[open_ones.pop()][1] = now
            now += chance.randrange(50, 500)
    return made


def write(path, count, forward_threads=0):
    chance = random.Random(1)
    number = 0
    with open(path, "w", encoding="ascii") as file:
        file.write(HEAD)
        for thread in range(THREADS):
            for begin, end, name in operations(count // THREADS, chance):
                number += 1
                forward = (FORWARD % (number, number % forward_threads + 1)
                           if forward_threads else "")
                file.write(",\n" if number > 1 else "")
                file.write(EVENT % (name, PROCESS, PROCESS + thread,
                                    START_US + begin / 1000,
                                    (end - begin) / 1000, number, number,
                                    forward))
        file.write(TAIL)


if __name__ == "__main__":
    write(sys.argv[2], int(sys.argv[1]), *map(int, sys.argv[3:]))
