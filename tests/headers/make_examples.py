#!/usr/bin/env python3
"""Makes one C++ source of the examples in the comments of public headers.

  make_examples.py --preamble=FILE --output=FILE HEADER ...

An example is an indented block of a header's first comment:

  - It starts after an empty comment line, three spaces right of the `//`.
    Empty lines between indented lines belong to it. (In a header of C89, whose
    comments are blocks, ` *` stands for the `//`.)
  - It becomes the body of a function, so it may `return` a status. If the
    paragraph above it ends with `at namespace scope:`, it stands there instead.
  - A block that begins with `|` (a table or a diagram) or with `$` (a command)
    is not compiled.
  - Its lines with `#include` move out of the function. The header's own include
    comes by itself. The names of the preamble stand for the reader's code.

The source includes one header, then has that header's examples, then includes
the next: an example sees its own header and those that were listed before it.
Errors of the compiler name the header and the line of the example. A header
without an example is an error.
"""

import argparse
import re
import sys

INDENTED = re.compile(r"//   ( *)\S")
SCOPE_MARK = "at namespace scope:"


def first_comment(text):
    """The lines of the comment that a file begins with."""
    lines = []
    is_block = text.startswith("/*")
    for line in text.splitlines():
        if is_block and not line.endswith("*/"):
            line = "//" + line[2:]
        if not line.startswith("//"):
            break
        lines.append(line)
    return lines


def blocks(comment):
    """Yields (line number from 1, code lines, is at namespace scope)."""
    i = 0
    while i < len(comment):
        before = comment[i - 1] if i else ""
        if not INDENTED.match(comment[i]) or before != "//":
            i += 1
            continue
        begin = i
        while i < len(comment) and (INDENTED.match(comment[i]) or
                                    comment[i] == "//"):
            i += 1
        code = [line[5:] for line in comment[begin:i]]
        while not code[-1]:
            code.pop()
        if code[0][0] not in "|$":
            above = comment[begin - 2] if begin > 1 else ""
            yield begin + 1, code, above.endswith(SCOPE_MARK)


def include_path(header):
    """How programs spell a header of the workspace."""
    return re.sub(r"^profiler/api/", "kymo/", header)


def examples_source(headers):
    """The source; `headers` has (path, text)s. Raises ValueError."""
    body = []
    count = 0
    for path, text in headers:
        body.append(f'\n#include "{include_path(path)}"')
        found = list(blocks(first_comment(text)))
        if not found:
            raise ValueError(
                f"{path}: the first comment has no example; write one, see "
                "tests/headers/make_examples.py")
        for number, code, at_namespace_scope in found:
            is_include = [line.startswith("#include") for line in code]
            body += [line for line, yes in zip(code, is_include) if yes]
            lines = ["" if yes else line for line, yes in zip(code, is_include)]
            count += 1
            body.append(f"namespace example_{count} {{")
            if not at_namespace_scope:
                body.append("auto Example() {")
            body += [f'#line {number} "{path}"', *lines]
            if not at_namespace_scope:
                body.append("}")
            body.append(f"}}  // namespace example_{count}")
            body.append('#line 1 "header_examples.cc"')
    return "\n".join(body) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--preamble", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("headers", nargs="+")
    options = parser.parse_args()

    headers = []
    for path in options.headers:
        with open(path, encoding="utf-8") as file:
            headers.append((path, file.read()))
    try:
        source = examples_source(headers)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    with open(options.output, "w", encoding="utf-8") as file:
        file.write(f'#include "{options.preamble}"\n')
        file.write(source)
    return 0


if __name__ == "__main__":
    sys.exit(main())
