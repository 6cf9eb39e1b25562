"""The external repositories of Kymo, for its own WORKSPACE and for its users'.

Everything comes from Debian's packages (`bazelw` installs them), so that a
build needs no network. Each name can be overridden: a repository that the
calling WORKSPACE already defines is left alone.
"""

load("//third_party/cuda:cuda.bzl", "cuda_repository")

_DEBIAN_REPOSITORIES = {
    "bazel_skylib": "/usr/share/bazel/tools/skylib",
    "rules_java": "/usr/share/bazel/rules/java",
    "rules_proto": "/usr/share/bazel/rules/proto",
}

def kymo_repositories(root = "."):
    """Defines what Kymo loads from, unless the caller has defined it.

    Args:
      root: the path of Kymo's own folder, relative to the calling workspace.
    """
    existing = native.existing_rules()
    for name, path in _DEBIAN_REPOSITORIES.items():
        if name not in existing:
            native.local_repository(name = name, path = path)

    # Debian's bazel-rules-cc does not fit Debian's Bazel; this one forwards
    # to the native rules. A newer Bazel takes the real rules_cc instead.
    if "rules_cc" not in existing:
        native.local_repository(name = "rules_cc", path = root + "/third_party/rules_cc")
    if "remote_coverage_tools" not in existing:
        native.local_repository(
            name = "remote_coverage_tools",
            path = root + "/third_party/remote_coverage_tools",
        )
    # A CUDA toolkit if there is one on this machine; nothing needs it.
    if "cuda" not in existing:
        cuda_repository(name = "cuda")
