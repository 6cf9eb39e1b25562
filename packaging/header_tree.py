"""The headers of Kymo::kymo: public ones, and what these include.

  for name, data in packaged(["profiler/api/profile.h"], "/usr/include"):
      ...  # ("kymo/profile.h", b"..."), ("kymo/internal/absl/...", b"...")

Programs include kymo/..., and nothing else may take a name from them. So what
the public headers include of the workspace and of Abseil goes to kymo/internal,
and the includes are spelled in that way.

Abseil's include guards get other names, too. A source that includes another
Abseil as well then does not compile. With equal guards it would have types of
one Abseil and call functions of the other.

What is internal counts as the system's, because programs can change none of
what -Wpedantic says of it (__int128).
"""

import os
import re

INTERNAL = "kymo/internal/"
INCLUDE = re.compile(r'^( *# *include +)"([^"]+)"', re.M)
GUARD = re.compile(r"\bABSL_(\w+_(?:H|INC)_)\b")
# Which of them each header of Abseil includes first.
FIRST = "absl/base/config.h"

NOTICE = """\
// Kymo's copy of a header of Debian's libabsl-dev: its includes and its guard
// have other names.
"""
OF_SYSTEM = "#pragma GCC system_header\n"
CHECK = """\
#ifdef ABSL_BASE_CONFIG_H_
#error "Kymo's headers bring an Abseil of their own, and this source includes \\
another one before; move what uses kymo/... into a source without the other"
#endif
"""


def source_of(name, system):
    """The file that an include of this name means; None if it is none of ours.
    """
    if name.startswith("kymo/"):
        return "profiler/api/" + name.removeprefix("kymo/")
    if name.startswith("absl/"):
        return os.path.join(system, name)
    return name if os.path.exists(name) else None


def packaged_name(source, system):
    """Where a header stands below include/."""
    if source.startswith("profiler/api/"):
        return "kymo/" + source.removeprefix("profiler/api/")
    if source.startswith(system):
        return INTERNAL + os.path.relpath(source, system)
    return INTERNAL + source


def packaged(public, system):
    """Yields names below include/ and what the headers contain.

    `public` are paths in the workspace, where this runs; `system` is the folder
    that has absl/.
    """
    waiting, seen = sorted(public), set(public)
    while waiting:
        source = waiting.pop()
        with open(source, encoding="utf-8") as file:
            text = file.read()

        def spelled(match):
            included = source_of(match[2], system)
            if included is None:
                return match[0]
            if included not in seen:
                seen.add(included)
                waiting.append(included)
            return f'{match[1]}"{packaged_name(included, system)}"'

        text = INCLUDE.sub(spelled, text)
        if source.startswith(system):
            text = NOTICE + GUARD.sub(r"KYMO_ABSL_\1", text)
            if source == os.path.join(system, FIRST):
                text = text.replace("#ifndef KYMO_ABSL_BASE_CONFIG_H_",
                                    "#ifndef KYMO_ABSL_BASE_CONFIG_H_\n"
                                    + CHECK, 1)
        name = packaged_name(source, system)
        if name.startswith(INTERNAL):
            text = OF_SYSTEM + text
        yield name, text.encode()
