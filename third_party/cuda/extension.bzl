"""cuda.bzl for MODULE.bazel. Bazel 4 does not know what a module is."""

load(":cuda.bzl", "cuda_repository")

def _cuda_impl(_ctx):
    cuda_repository(name = "cuda")

cuda = module_extension(implementation = _cuda_impl)
