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
