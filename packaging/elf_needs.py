"""What a program or a shared library needs, as binutils and the loader say."""

import os
import re
import struct
import subprocess

# Every glibc system has these, and only the system's own fit its loader. The
# C++ library is the system's as well: a plugin that a user compiles with a
# newer compiler would not load beside an older copy of ours.
OF_THE_SYSTEM = re.compile(
    r"(ld-linux-.*|linux-vdso|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+))\.so\.?\d*")

MACHINES = {62: "x86_64", 183: "aarch64"}  # e_machine of elf(5)


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def machine(path):
    """"x86_64", as uname calls it."""
    with open(path, "rb") as file:
        header = file.read(20)
    number, = struct.unpack_from("<H", header, 18)
    if number not in MACHINES:
        raise SystemExit(f"{path} is for machine {number} of elf(5), for which "
                         "there are no packages; see packaging/elf_needs.py")
    return MACHINES[number]


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE,
                          encoding="utf-8",
                          env=dict(os.environ, LC_ALL="C")).stdout


def libraries(path):
    """The libraries that the loader finds for a program: {soname: path}.

    Those of the system are not among them.
    """
    found = {}
    for line in output("ldd", path).splitlines():
        name, arrow, rest = line.strip().partition(" => ")
        if not arrow or OF_THE_SYSTEM.fullmatch(name):
            continue
        if rest.startswith("not found"):
            raise SystemExit(f"{path} needs {name}, which is not installed "
                             "here; ./bazelw installs what the build needs")
        found[name] = rest.split(" (")[0]
    return found


def needed(path):
    """The sonames that a file names itself."""
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-dW", path))


def glibc_version(paths):
    """The oldest glibc that has all that the files need: (2, 36)."""
    versions = re.findall(r"Name: GLIBC_(\d+)\.(\d+)",
                          output("readelf", "-VW", *paths))
    return max(((int(major), int(minor)) for major, minor in versions),
               default=(0, 0))


# The first GCC whose C++ library has a version of symbols: the manual of
# libstdc++, "ABI Policy and Guidelines".
FIRST_GCC = {
    "GLIBCXX_3.4": {26: "9.1", 27: "9.2", 28: "9.3", 29: "11", 30: "12",
                    31: "13.1", 32: "13.2", 33: "14", 34: "15"},
    "CXXABI_1.3": {12: "9.1", 13: "11", 14: "13.1", 15: "14", 16: "15"},
}
OLDEST_GCC = "9.1"


def gcc_of_versions(names):
    """The least GCC whose C++ library has all these versions of symbols.

    OLDEST_GCC stands for all that is as old or older.
    """
    least = OLDEST_GCC
    for name in names:
        series, _, number = name.rpartition(".")
        known = FIRST_GCC.get(series)
        if known is None or int(number) < min(known):
            continue
        if int(number) not in known:
            raise SystemExit(
                f"{name} is newer than the table of packaging/elf_needs.py; "
                "add the version of GCC that has it first")
        least = max(least, known[int(number)],
                    key=lambda version: [int(n) for n in version.split(".")])
    return least


def gcc_version(paths):
    """The least GCC whose C++ library has all that the files need."""
    return gcc_of_versions(re.findall(r"Name: ((?:GLIBCXX|CXXABI)_\S+)",
                                      output("readelf", "-VW", *paths)))
