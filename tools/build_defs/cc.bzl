"""The C++ rules of this workspace: rules_cc with Kymo's flags and defaults."""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library", "cc_test")
load("//:copts.bzl", "KYMO_COPTS", "KYMO_TEST_COPTS")

def kymo_cc_library(name, copts = [], **kwargs):
    """A library of the product."""
    cc_library(
        name = name,
        copts = (KYMO_TEST_COPTS if kwargs.get("testonly") else KYMO_COPTS) + copts,
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
        copts = copts + select({
            "//tests/support:no_test_headers": [],
            "//conditions:default": [
                "-Winvalid-pch",
                "-include",
                "tests/support/test_headers.h",
            ],
        })
        deps = deps + select({
            "//tests/support:no_test_headers": [],
            "//conditions:default": ["//tests/support:test_headers"],
        })
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
