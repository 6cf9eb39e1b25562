"""Prints what the linker is told of libkymo.so, besides what it consists of.

  link_params.py VERSION_HEADER LIBRARY ...

The name that programs ask for has the whole version: headers and library fit
each other, and no other version. And the library itself asks for all that the
LIBRARYs need: a runpath, unlike an rpath, does not hold for the libraries of
libraries.
"""

import sys

import elf_needs
from kymo_version import version_of


def main():
    header, *paths = sys.argv[1:]
    parts = set(paths)
    for path in paths:
        parts |= set(elf_needs.libraries(path).values())
    print(f"-Wl,-soname,libkymo.so.{version_of(header)}")
    print("-Wl,--push-state,--no-as-needed", *sorted(parts),
          "-Wl,--pop-state", sep="\n")


if __name__ == "__main__":
    main()
