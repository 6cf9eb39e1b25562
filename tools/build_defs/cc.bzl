"""The C++ rules of this workspace: rules_cc with Kymo's flags and defaults."""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library", "cc_test")
load("//:copts.bzl", "KYMO_COPTS", "KYMO_TEST_COPTS")

def _kymo_copts(testonly):
    copts = KYMO_TEST_COPTS if testonly else KYMO_COPTS

    # Where Kymo is a part of somebody's build, a compiler that is newer than
    # those it was tested with must not stop that build.
    if native.repository_name() != "@":
        return [copt for copt in copts if copt != "-Werror"]
    return copts

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

def kymo_cc_library(
        name,
        srcs = [],
        copts = [],
        deps = [],
        as_one = False,
        few_headers = False,
        **kwargs):
    """A library of the product.

    It begins with the precompiled //tools/build_defs:library_headers, unless it
    has flags of its own, which the precompiled header was not compiled with, or
    `few_headers`: reading the precompiled header takes 0.7 s, which is more
    than a small source without Abseil takes in all.
    With `as_one`, its sources are compiled as one: see kymo_cc_unity_library.
    """
    if not copts and not few_headers and [src for src in srcs if src.endswith(".cc")]:
        more_copts, more_deps = _precompiled("//tools/build_defs:library_headers")
        copts = copts + more_copts
        deps = deps + more_deps
    cc_library(
        name = name,
        srcs = _as_one(name, srcs, "all_of_" + name) if as_one else srcs,
        copts = _kymo_copts(kwargs.get("testonly")) + copts,
        deps = deps,
        **kwargs
    )

def _as_one(name, srcs, source):
    """The headers of `srcs`, and one source of those that it has."""
    sources = [src for src in srcs if src.endswith(".cc")]
    native.genrule(
        name = name + "_source",
        srcs = sources,
        outs = [source + ".cc"],
        cmd = "for source in $(SRCS); do" +
              " echo \"#line 1 \\\"$$source\\\"\" && cat \"$$source\";" +
              " done > $@",
    )
    return [src for src in srcs if src not in sources] + select({
        "//tools/build_defs:source_by_source": sources,
        "//conditions:default": [":" + name + "_source"],
    })

def kymo_cc_unity_library(name, srcs = [], hdrs = [], deps = [], part = "", **kwargs):
    """A library of the product that is compiled with the others of its package.

    `kymo_cc_unity()` at the package's end compiles the sources of all of them
    as one (a unity build, as CMake calls it): reading the same headers and
    instantiating the same templates is most of what a small source costs. So a
    package's names are unique, those in namespaces without a name, too.

    Who depends on one of them links them all. Code that runs in other people's
    processes is made of kymo_cc_library, and so is what has flags of its own.
    With --define=kymo_unity=0 each source is compiled alone.

    A folder that uses another folder, which uses this one, has two such
    sources: the libraries above the other folder have a `part` of their own.
    """

    # Says what the library is made of, since existing_rules() tells only this.
    native.filegroup(
        name = name + "_of_" + _unity(part),
        srcs = srcs + hdrs,
        data = deps,
        tags = ["manual"],
    )
    cc_library(
        name = name,
        deps = [":" + _unity(part)],
        **kwargs
    )

def _unity(part):
    return "unity_" + part if part else "unity"

def kymo_cc_unity(part = ""):
    """The sources of all kymo_cc_unity_library of the package above this line.

    With `part`, of those with this part.
    """
    unity = _unity(part)
    suffix = "_of_" + unity
    parts = {
        name[:-len(suffix)]: rule
        for name, rule in native.existing_rules().items()
        if name.endswith(suffix)
    }
    files = [file for part in parts.values() for file in part["srcs"]]
    srcs = [file for file in files if file.endswith(".cc")]
    deps = {
        dep: True
        for part in parts.values()
        for dep in part["data"]
        if not (dep.startswith(":") and dep[1:] in parts)
    }
    more_copts, more_deps = _precompiled("//tools/build_defs:library_headers")
    cc_library(
        name = unity,
        srcs = _as_one(unity, srcs, unity),
        hdrs = [file for file in files if not file.endswith(".cc")],
        copts = _kymo_copts(False) + more_copts,
        visibility = ["//visibility:private"],
        deps = deps.keys() + more_deps,
    )

def kymo_cc_binary(name, copts = [], **kwargs):
    """A program of the product, an example, or (testonly) a test's target."""
    cc_binary(
        name = name,
        copts = _kymo_copts(kwargs.get("testonly")) + copts,
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
        copts = _kymo_copts(True) + copts,
        deps = deps + ["//third_party/googletest:gtest_main"],
        **kwargs
    )

def kymo_cc_unit_test(name, srcs, deps = [], data = []):
    """A GoogleTest that shares its program with the others of its package.

    `kymo_cc_unit_tests()` at the package's end makes that program, :unit_tests.
    The test's own program is there, too, for whoever works on it; `//...` and
    `:all` leave it out:
        ./bazelw test //profiler/text:json_test
    What needs a process for itself (signals, a fresh host, its own malloc) or
    has flags of its own is a kymo_cc_test.
    """
    kymo_cc_test(
        name = name,
        srcs = srcs,
        data = data,
        tags = ["manual"],
        deps = deps,
    )

    # A library, since existing_rules() does not tell deps that have a select().
    cc_library(
        name = name + _PART,
        testonly = True,
        data = data,
        hdrs = [src for src in srcs if src.endswith(".h")],
        textual_hdrs = [src for src in srcs if src.endswith(".cc")],
        tags = ["manual"],
        deps = deps,
    )

_PART = "_of_unit_tests"

def kymo_cc_unit_tests(name = "unit_tests", **kwargs):
    """One program of all kymo_cc_unit_test of the package above this line.

    The tests' sources become one (join_tests.py), so that what they share is
    compiled once: a third of the time.
    """
    parts = [
        rule
        for rule in native.existing_rules().values()
        if rule["name"].endswith(_PART)
    ]
    source = name + "_test.cc"
    native.genrule(
        name = name + "_source",
        testonly = True,
        srcs = [src for part in parts for src in part["textual_hdrs"]],
        outs = [source],
        cmd = "$(location //tools/build_defs:join_tests.py) $@ $(SRCS)",
        tools = ["//tools/build_defs:join_tests.py"],
    )
    kymo_cc_test(
        name = name,
        srcs = [source],
        deps = [":" + part["name"] for part in parts],
        **kwargs
    )

def kymo_cc_benchmark(name, srcs, copts = [], deps = [], tags = [], **kwargs):
    """A Google Benchmark program and, as NAME_smoke, a short run of it.

    The program itself is run by hand:
        ./bazelw run //profiler/text:json_benchmark
    """
    more_copts, more_deps = _precompiled("//tools/build_defs:library_headers")
    cc_binary(
        name = name,
        testonly = True,
        srcs = srcs,
        copts = _kymo_copts(True) + copts + more_copts,
        tags = tags + ["benchmark"],
        deps = deps + more_deps + ["//third_party/benchmark:benchmark_main"],
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
