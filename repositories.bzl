"""The external repositories of Kymo, for its own WORKSPACE and for its users'.

Everything comes from Debian's packages (`bazelw` installs them) and from Kymo's
own folder, so that a build needs no network. Each name can be overridden: a
repository that the calling WORKSPACE already defines is left alone.
"""

load("//third_party/cuda:cuda.bzl", "cuda_repository")

_DEBIAN_REPOSITORIES = {
    "bazel_skylib": "/usr/share/bazel/tools/skylib",
    "rules_java": "/usr/share/bazel/rules/java",
    "rules_proto": "/usr/share/bazel/rules/proto",
}

# Folders of third_party that are repositories.
_OWN_REPOSITORIES = [
    # Debian's bazel-rules-cc does not fit Debian's Bazel; this one forwards to
    # the native rules. A newer Bazel takes the real rules_cc instead.
    "rules_cc",
    "remote_coverage_tools",
]

def _own_repository_impl(ctx):
    # Wherever Kymo lies: in a folder, or unpacked by http_archive.
    kymo = ctx.path(Label("//:repositories.bzl")).dirname
    folder = kymo.get_child("third_party").get_child(ctx.attr.folder)
    for entry in folder.readdir():
        ctx.symlink(entry, entry.basename)

_own_repository = repository_rule(
    implementation = _own_repository_impl,
    attrs = {"folder": attr.string(mandatory = True)},
    local = True,
    doc = "A folder of Kymo's third_party as a repository.",
)

def kymo_repositories():
    """Defines what Kymo loads from, unless the caller has defined it."""
    existing = native.existing_rules()
    for name, path in _DEBIAN_REPOSITORIES.items():
        if name not in existing:
            native.local_repository(name = name, path = path)
    for name in _OWN_REPOSITORIES:
        if name not in existing:
            _own_repository(name = name, folder = name)

    # A CUDA toolkit if there is one on this machine; nothing needs it.
    if "cuda" not in existing:
        cuda_repository(name = "cuda")

    if "com_google_absl" in existing:
        # buildifier: disable=print
        print("This workspace has an Abseil of its own, @com_google_absl. " +
              "@kymo//:kymo links Debian's Abseil (libabsl-dev, 20220623), so " +
              "a program with both has two. Depend on @kymo//:kymo only in " +
              "programs without @com_google_absl. @kymo//:record_function, " +
              "which annotates, needs no Abseil: use it anywhere, and record " +
              "with @kymo//tools:profile.")
