"""The C++ rules of this workspace: rules_cc with Kymo's flags and defaults."""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library", "cc_test")
load("//:copts.bzl", "KYMO_COPTS", "KYMO_TEST_COPTS")

def _precompiled(header):
    """Further copts and deps of a target that begins with PACKAGE:NAME."""
    return select({
        "//tools/build_defs:precompiled_headers": [
            "-Winvalid-pch",
            # It does not keep which code is the system's, of which GCC's
            # optimiser would say much that is wrong (for example PR 105651).
            "-Wno-array-bounds",
            "-Wno-restrict",
            "-Wno-stringop-overflow",
            "-Wno-stringop-overread",
            "-include",
            header.lstrip("/").replace(":", "/") + ".h",
        ],
        "//conditions:default": [],
    }), select({
        "//tools/build_defs:precompiled_headers": [header],
        "//conditions:default": [],
    })

def kymo_cc_library(name, srcs = [], copts = [], deps = [], **kwargs):
    """A library of the product.

    It begins with the precompiled //tools/build_defs:library_headers, unless it
    has flags of its own, which the precompiled header was not compiled with.
    """
    if not copts and [src for src in srcs if src.endswith(".cc")]:
        more_copts, more_deps = _precompiled("//tools/build_defs:library_headers")
        copts = copts + more_copts
        deps = deps + more_deps
    cc_library(
        name = name,
        srcs = srcs,
        copts = (KYMO_TEST_COPTS if kwargs.get("testonly") else KYMO_COPTS) + copts,
        deps = deps,
        **kwargs
    )

def kymo_cc_binary(name, copts = [], **kwargs):
    """A program of the product, an example, or (testonly) a test's target."""
    cc_binary(
        name = name,
        copts = (KYMO_TEST_COPTS if kwargs.get("testonly") else KYMO_COPTS) + copts,
        **kwargs
    )

def _begins_with_test_headers(srcs):
    for src in [src for src in srcs if src.endswith(".cc")]:
        if not src.endswith("_test.cc"):
            return False  # It gets other flags; see .bazelrc.
        tested = src[:-len("_test.cc")]
        if native.glob([tested + ".h"]) and not native.glob([tested + ".cc"]):
            return False
    return True

def kymo_cc_test(name, srcs, copts = [], deps = [], size = "small", **kwargs):
    """A GoogleTest; its main comes with it.

    It begins with the precompiled //tests/support:test_headers. The exception
    is the test of a header without a .cc: no other source shows that this
    header includes what it needs.
    """
    if _begins_with_test_headers(srcs):
        more_copts, more_deps = _precompiled("//tests/support:test_headers")
        copts = copts + more_copts
        deps = deps + more_deps
    cc_test(
        name = name,
        size = size,
        srcs = srcs,
        copts = KYMO_TEST_COPTS + copts,
        deps = deps + ["//third_party/googletest:gtest_main"],
        **kwargs
    )

def kymo_cc_benchmark(name, srcs, copts = [], deps = [], tags = [], **kwargs):
    """A Google Benchmark program and, as NAME_smoke, a short run of it.

    The program itself is run by hand:
        ./bazelw run //profiler/text:json_benchmark
    """
    cc_binary(
        name = name,
        testonly = True,
        srcs = srcs,
        copts = KYMO_TEST_COPTS + copts,
        tags = tags + ["benchmark"],
        deps = deps + ["//third_party/benchmark:benchmark_main"],
        **kwargs
    )
    native.sh_test(
        name = name + "_smoke",
        size = "small",
        srcs = ["//tools/build_defs:smoke.sh"],
        args = ["$(rootpath :%s)" % name],
        data = [":" + name],
        tags = tags + ["benchmark"],
        **{k: v for k, v in kwargs.items() if k == "target_compatible_with"}
    )
