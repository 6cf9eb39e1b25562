#!/usr/bin/env python3
"""join_tests.py OUTPUT SOURCE ...: one source of tests from many.

Reading the same headers again is most of what a small test costs. Each source
keeps its names for itself: what it has in a namespace without a name gets one
with its own name. Messages name the source's own lines.
"""
import pathlib
import re
import sys


def joined(source):
    name = re.sub(r"\W", "_", source)
    text = pathlib.Path(source).read_text()
    text = re.sub(r"^namespace \{$", f"namespace in_{name} {{", text, flags=re.M)
    return f'#line 1 "{source}"\n{text}'


def main(output, *sources):
    pathlib.Path(output).write_text("".join(joined(s) for s in sources))


if __name__ == "__main__":
    main(*sys.argv[1:])
