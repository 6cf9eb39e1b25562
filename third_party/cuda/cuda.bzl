"""Finds a CUDA toolkit for the parts that are built against its headers.

Makes a repository, @cuda, that exists with a toolkit or without one:

    load("@cuda//:defs.bzl", "CUDA_ONLY", "HAS_CUDA", "NVTX_ONLY")

    kymo_cc_test(
        name = "client_test",
        target_compatible_with = NVTX_ONLY,   # skipped where there is none
        deps = ["@cuda//:nvtx"],
    )

    select({"@cuda//:has_cuda": [...], "//conditions:default": [...]})

Looked for, in this order: $CUDA_HOME, $CUDA_PATH, /usr/local/cuda, and the
wheels of PyPI (site-packages/nvidia/*), whose headers are in several folders.
KYMO_NO_CUDA=1 in the environment: there is none, whatever is installed.
"""

def _wheels(ctx):
    """The folders of NVIDIA's wheels that have headers."""
    python = ctx.which("python3")
    if not python:
        return []
    found = ctx.execute([python, "-c", """
import glob, os, site
for folder in site.getsitepackages() + [site.getusersitepackages()]:
    for include in sorted(glob.glob(os.path.join(folder, "nvidia/*/include"))):
        print(os.path.dirname(include))
"""])
    return [ctx.path(line) for line in found.stdout.splitlines() if line]

def _roots(ctx):
    """What may hold include/ folders of a toolkit; the first one counts."""
    if ctx.os.environ.get("KYMO_NO_CUDA"):
        return []
    for folder in [
        ctx.os.environ.get("CUDA_HOME"),
        ctx.os.environ.get("CUDA_PATH"),
        "/usr/local/cuda",
    ]:
        if folder and ctx.path(folder + "/include/cuda.h").exists:
            return [ctx.path(folder)]
    return _wheels(ctx)

def _is_new_enough(ctx, part, folder):
    """CUPTI's newest records that we read are those of CUDA 13.0."""
    if part != "cupti":
        return True
    version = ctx.path(folder + "/cupti_version.h")
    if not version.exists:
        return False
    for line in ctx.read(version).splitlines():
        words = line.split(" ")
        if words[:2] == ["#define", "CUPTI_API_VERSION"]:
            return int(words[-1]) >= 130000
    return False

def _cuda_repository_impl(ctx):
    roots = _roots(ctx)
    headers = {"cuda": "cuda.h", "nvtx": "nvtx3/nvToolsExt.h", "cupti": "cupti.h"}
    found = {}
    for root in roots:
        for folder in ["include", "extras/CUPTI/include"]:
            for part, header in headers.items():
                path = "{}/{}".format(root, folder)
                if part in found or not ctx.path(path + "/" + header).exists:
                    continue
                if _is_new_enough(ctx, part, path):
                    found[part] = path
    for part, path in found.items():
        ctx.symlink(ctx.path(path), part)
    ctx.template("BUILD.bazel", ctx.attr._build, {
        "{has_cuda}": str("cuda" in found),
        "{has_nvtx}": str("nvtx" in found),
        "{has_cupti}": str("cupti" in found),
    })
    none = "[\"@cuda//:missing\"]"
    ctx.file("defs.bzl", "\n".join([
        "\"\"\"Whether there is a CUDA toolkit, and where.\"\"\"",
        "HAS_CUDA = {}".format("cuda" in found),
        "HAS_NVTX = {}".format("nvtx" in found),
        "HAS_CUPTI = {}".format("cupti" in found),
        "CUDA_HOME = \"{}\"".format(roots[0] if "cuda" in found else ""),
        "# For target_compatible_with.",
        "CUDA_ONLY = {}".format("[]" if "cuda" in found else none),
        "NVTX_ONLY = {}".format("[]" if "nvtx" in found else none),
        "CUPTI_ONLY = {}".format("[]" if "cupti" in found else none),
        "",
    ]))

cuda_repository = repository_rule(
    implementation = _cuda_repository_impl,
    attrs = {
        "_build": attr.label(default = "//third_party/cuda:cuda.BUILD"),
    },
    configure = True,
    environ = ["CUDA_HOME", "CUDA_PATH", "KYMO_NO_CUDA"],
    local = True,
    doc = "A CUDA toolkit's headers, or empty targets where there is none.",
)
