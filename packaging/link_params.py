"""Prints what the linker is told of libkymo.so, besides what it consists of.

  link_params.py VERSION_HEADER LIBRARY ...

The name that programs ask for has the whole version: headers and library fit
each other, and no other version. And the library needs all parts of Abseil that
the LIBRARYs need. They lie beside it, where a program's own libraries of
Abseil, which the program asks for as well, would not look.
"""

import sys

import elf_needs
from kymo_version import version_of


def main():
    header, *paths = sys.argv[1:]
    parts = set(paths)
    for path in paths:
        parts |= {found for name, found in elf_needs.libraries(path).items()
                  if name.startswith("libabsl_")}
    print(f"-Wl,-soname,libkymo.so.{version_of(header)}")
    print("-Wl,--push-state,--no-as-needed", *sorted(parts),
          "-Wl,--pop-state", sep="\n")


if __name__ == "__main__":
    main()
