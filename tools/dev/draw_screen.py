"""Draws what a command shows on a terminal as an SVG picture, for the documentation.

    python3 tools/dev/draw_screen.py --columns=100 --prompt='profile ./a.out' \
        --from='^a.out: ' docs/images/screen.svg bazel-bin/tools/profile ./a.out

runs the command in a pseudo-terminal of 100 columns. The picture has the prompt, and below it what stands on the screen
in the end, in colour. With --from, the lines before the first one that it matches become "...".
"""

import argparse
import fcntl
import html
import os
import pty
import re
import struct
import sys
import termios

ROWS = 30  # the height of the terminal
CELL = 7.8  # the width of a character
LINE = 17
EDGE = 12
# The colours that the commands use (SGR), on a dark screen.
COLORS = {"31": "#ff7b72", "33": "#e3b341"}
PLAIN, DIM, BACKGROUND = "#d6dde5", "#8b949e", "#161b22"


def run(columns, command):
    """All that the command writes to its terminal."""
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))
        os.environ["TERM"] = "xterm"
        os.environ.pop("NO_COLOR", None)
        os.execvp(command[0], command)
    output = b""
    while True:
        try:
            output += os.read(terminal, 1 << 16)
        except OSError:  # the other end is closed
            break
    _, status = os.waitpid(pid, 0)
    if status != 0:
        sys.exit(f"{command[0]} ended with {os.waitstatus_to_exitcode(status)}:\n{output.decode()}")
    return output.decode()


def lines_of(output):
    """The lines that stay: a progress bar goes back to the line's begin and clears it."""
    for line in output.replace("\r\n", "\n").splitlines():
        yield re.split("\r|\033\\[K", line)[-1]


def draw_line(line, y):
    """The SVG text of a line with colours."""
    parts = []
    column = 0
    color, weight = PLAIN, ""
    for piece in re.split("(\033\\[[0-9;]*m)", line):
        codes = re.fullmatch("\033\\[([0-9;]*)m", piece)
        if codes is None:
            if piece.strip():
                parts.append(f'<text x="{EDGE + column * CELL:.1f}" y="{y}" fill="{color}"{weight} '
                             f'textLength="{len(piece) * CELL:.1f}" xml:space="preserve">{html.escape(piece)}</text>')
            column += len(piece)
            continue
        for code in codes[1].split(";"):
            if code in ("", "0"):
                color, weight = PLAIN, ""
            elif code == "1":
                weight = ' font-weight="bold"'
            elif code == "2":
                color = DIM
            else:
                color = COLORS[code]
    return "".join(parts)


def draw(lines, columns):
    """The SVG text of a screen."""
    width = 2 * EDGE + columns * CELL
    height = 2 * EDGE + len(lines) * LINE
    body = [draw_line(line, EDGE + LINE * row + 12) for row, line in enumerate(lines)]
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
        f'viewBox="0 0 {width:.0f} {height}" font-family="monospace" font-size="13">',
        f'<rect width="100%" height="100%" rx="6" fill="{BACKGROUND}"/>',
        *(part for part in body if part), "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--prompt", required=True, help="the command as the picture shows it")
    parser.add_argument("--from", dest="begin", default="", help="a regular expression")
    parser.add_argument("output")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    lines = list(lines_of(run(arguments.columns, arguments.command)))
    plain = [re.sub("\033\\[[0-9;]*m", "", line) for line in lines]
    first = next((i for i, line in enumerate(plain) if re.search(arguments.begin, line)), None)
    if first is None:
        sys.exit(f"no line matches {arguments.begin}")
    dots = ["\033[2m...\033[0m"] if first else []
    with open(arguments.output, "w", encoding="utf-8") as file:
        file.write(draw([f"\033[2m$\033[0m \033[1m{arguments.prompt}\033[0m", *dots, *lines[first:]],
                        arguments.columns))


if __name__ == "__main__":
    main()
