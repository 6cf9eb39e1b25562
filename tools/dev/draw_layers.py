#!/usr/bin/env python3
"""Draws the table of tools/dev/layers.txt into docs/architecture.md.

  tools/dev/draw_layers.py [--check]

The picture has one box for each world. Each line of it is an area, and the
areas that it may include. The picture stands between the two lines that name this
command; everything else of the page is left alone. With --check nothing is
written: a picture that is not current is an error (status 1).
"""

import argparse
import os
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path.insert(0, ROOT)

from tools.dev import check_layers  # noqa: E402 (needs the path above)

PAGE = "docs/architecture.md"
BEGIN = "<!-- made by tools/dev/draw_layers.py -->"
END = "<!-- end of tools/dev/draw_layers.py -->"

# The worlds from top to bottom, and what each is called.
WORLDS = [
    ("surface", "What people use: headers, what implements them, commands"),
    ("collector", "After the program: the collector, or the end of a session"),
    ("target", "In the profiled program: libc only, nothing that waits on the hot path"),
    ("both", "In both"),
]
WIDTH = 98


def wrapped(words, width):
    """The words as lines of at most `width` columns."""
    lines = [""]
    for word in words:
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and len(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def short(area, row):
    """How a row calls an area: without profiler/, or its own top folder."""
    if "*" in area:
        return area
    top, _, rest = area.partition("/")
    return rest if top in ("profiler", row.split("/")[0]) else area


def draw(table):
    """The picture, as lines."""
    arrows = {}  # row -> the areas that it may include, as they stand
    for row, targets in table.rows:
        if not row.startswith("@"):
            arrows.setdefault(row, []).extend(targets)
    name_width = max(map(len, arrows)) + 2
    lines = []
    for world, title in WORLDS:
        lines.append("+-- " + title + " " + "-" * (WIDTH - len(title) - 5) +
                     "+")
        for row, targets in arrows.items():
            if table.world(row) != world:
                continue
            words = [short(t, row) for t in dict.fromkeys(targets)]
            texts = wrapped(words, WIDTH - name_width - 7) if words else [""]
            for index, text in enumerate(texts):
                name = row if index == 0 else ""
                arrow = "->" if words and index == 0 else "  "
                lines.append(f"| {name:<{name_width}}{arrow} {text}".ljust(
                    WIDTH) + "|")
        lines.append("+" + "-" * (WIDTH - 1) + "+")
    return lines


def page_with_picture(page, table):
    """The page with the current picture between the two marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{PAGE} lacks the line '{BEGIN}' or '{END}'")
    picture = "\n".join("    " + line for line in draw(table))
    return f"{before}{BEGIN}\n\n{picture}\n\n{END}{after}"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--root", default=ROOT)
    options = parser.parse_args()
    with open(os.path.join(options.root, "tools/dev/layers.txt"),
              encoding="utf-8") as file:
        table = check_layers.Table(file.read())
    path = os.path.join(options.root, PAGE)
    with open(path, encoding="utf-8") as file:
        page = file.read()
    current = page_with_picture(page, table)
    if page == current:
        return 0
    if options.check:
        print(f"{PAGE} does not show tools/dev/layers.txt;"
              " run: tools/dev/draw_layers.py", file=sys.stderr)
        return 1
    with open(path, "w", encoding="utf-8") as file:
        file.write(current)
    return 0


if __name__ == "__main__":
    sys.exit(main())
