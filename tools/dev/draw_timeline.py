"""Draws part of a Chrome trace as an SVG picture, for the documentation.

    python3 tools/dev/draw_timeline.py trace.json docs/images/timeline.svg \
        --step 'ProfilerStep#400'

shows the threads during that range, one row per nesting level.
"""

import argparse
import collections
import html
import json
import zlib

ROW = 18  # height of a nesting level
GAP = 10  # between tracks
LEFT = 150  # for the tracks' names
WIDTH = 1100


def color(name):
    """One of many soft colours, the same for the same name."""
    return f"hsl({zlib.crc32(name.encode()) % 360}, 55%, 72%)"


def rows(slices):
    """Yields (slice, nesting level); slices of one track, nested."""
    stack = []
    for event in sorted(slices, key=lambda e: (e["ts"], -e["dur"])):
        while stack and stack[-1] <= event["ts"]:
            stack.pop()
        yield event, len(stack)
        stack.append(event["ts"] + event["dur"])


def label(name, width):
    """As much of the name as the width holds."""
    fits = int(width / 6.6)
    if fits < 3:
        return ""
    return name if len(name) <= fits else name[:fits - 1] + "…"


def draw(events, begin, end):
    """The SVG text of what happens between two times (us)."""
    names = {(e["pid"], e["tid"]): e["args"]["name"]
             for e in events if e["name"] == "thread_name"}
    tracks = collections.defaultdict(list)
    for event in events:
        if (event["ph"] == "X" and event.get("cat") != "Trace" and
                event["ts"] < end and event["ts"] + event["dur"] > begin):
            tracks[event["pid"], event["tid"]].append(event)
    scale = (WIDTH - LEFT) / (end - begin)
    parts = []
    top = 28
    for tick in range(6):
        at = begin + (end - begin) * tick / 5
        x = LEFT + (at - begin) * scale
        anchor = "end" if tick == 5 else "start"
        parts.append(f'<text x="{x:.1f}" y="14" fill="#666" '
                     f'text-anchor="{anchor}">{at - begin:.0f} us</text>'
                     f'<path d="M{x:.1f} 18V100%" stroke="#ddd"/>')
    for track, slices in sorted(tracks.items(), key=lambda t: str(t[0])):
        name = names.get(track, str(track))
        parts.append(f'<text x="4" y="{top + 13}" fill="#222">'
                     f'{html.escape(label(name, LEFT - 8))}</text>')
        deepest = 0
        for event, level in rows(slices):
            deepest = max(deepest, level)
            left = LEFT + (max(event["ts"], begin) - begin) * scale
            right = LEFT + (min(event["ts"] + event["dur"], end) -
                            begin) * scale
            width = max(right - left, 0.5)
            y = top + level * ROW
            parts.append(
                f'<g><title>{html.escape(event["name"])} '
                f'{event["dur"]:.1f} us</title>'
                f'<rect x="{left:.1f}" y="{y}" width="{width:.1f}" '
                f'height="{ROW - 1}" fill="{color(event["name"])}"/>'
                f'<text x="{left + 3:.1f}" y="{y + 13}" fill="#222">'
                f'{html.escape(label(event["name"], width - 6))}</text></g>')
        top += (deepest + 1) * ROW + GAP
    body = "\n".join(parts).replace("V100%", f"V{top}")
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
            f'height="{top}" font-family="monospace" font-size="11">\n'
            f'<rect width="{WIDTH}" height="{top}" fill="#fff"/>\n'
            f"{body}\n</svg>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace")
    parser.add_argument("picture")
    parser.add_argument("--step", required=True,
                        help="name of the range that the picture shows")
    flags = parser.parse_args()
    with open(flags.trace, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    step = next(e for e in events
                if e["ph"] == "X" and e["name"] == flags.step)
    with open(flags.picture, "w", encoding="utf-8") as file:
        file.write(draw(events, step["ts"], step["ts"] + step["dur"]))


if __name__ == "__main__":
    main()
