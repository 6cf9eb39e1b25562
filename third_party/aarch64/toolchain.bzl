"""The toolchain of --config=aarch64: Debian's cross compiler and emulator.

Makes a repository, @aarch64, with the compiler's toolchain, a platform, and an
emulator that runs tests. It takes the libraries that libraries.sh has got.
"""

_COMPILER = "/usr/bin/aarch64-linux-gnu-"
_EMULATOR = "/usr/bin/qemu-aarch64"

def _aarch64_toolchain_impl(ctx):
    script = ctx.path(ctx.attr._libraries)
    libraries = ctx.execute([script, "path"]).stdout.strip()
    for path, what in [
        (_COMPILER + "g++", "apt-get install g++-aarch64-linux-gnu"),
        (_EMULATOR, "apt-get install qemu-user"),
        (libraries, "third_party/aarch64/libraries.sh make"),
    ]:
        if not ctx.path(path).exists:
            fail("--config=aarch64 needs %s; run: %s" % (path, what))
    ctx.template("BUILD.bazel", ctx.attr._build, {
        "{compiler}": _COMPILER,
        "{libraries}": libraries,
    })
    left_out = [
        line
        for line in ctx.read(ctx.attr._left_out).splitlines()
        if line and not line.startswith("#")
    ]
    ctx.file("emulator.sh", "\n".join([
        "#!/bin/sh",
        "export GTEST_FILTER=-%s" % ":".join(left_out),
        "exec %s -L /usr/aarch64-linux-gnu \\" % _EMULATOR,
        "  -E LD_LIBRARY_PATH=%s/usr/lib/aarch64-linux-gnu \"$@\"" % libraries,
        "",
    ]))

aarch64_toolchain = repository_rule(
    implementation = _aarch64_toolchain_impl,
    attrs = {
        "_build": attr.label(default = "//third_party/aarch64:toolchain.BUILD"),
        "_left_out": attr.label(default = "//third_party/aarch64:left_out.txt"),
        "_libraries": attr.label(default = "//third_party/aarch64:libraries.sh"),
    },
    configure = True,
    environ = ["HOME", "XDG_CACHE_HOME"],
    local = True,
    doc = "Debian's cross toolchain for AArch64.",
)
