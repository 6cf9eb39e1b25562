"""Compiler flags: one list for products, a looser one for tests."""

_COMMON = [
    "-std=c++20",
    "-Wall",
    "-Wextra",
    "-Werror=return-type",
    "-Wno-sign-compare",
    "-Wno-missing-field-initializers",
]

KYMO_COPTS = _COMMON + [
    "-Werror",
    "-Wcast-qual",
    "-Wnon-virtual-dtor",
    "-Wundef",
    "-Wvla",
    "-Wwrite-strings",
]

KYMO_TEST_COPTS = _COMMON + [
    "-Wno-unused-parameter",
]

# For code that also runs inside a preloaded library, which must not need the
# C++ runtime library.
KYMO_NO_RUNTIME_COPTS = [
    "-fno-exceptions",
    "-fno-rtti",
]
