"""kymo_profile_test: holds a program to a budget of what it may take.

    load("@kymo//tools/build_defs:profile_test.bzl", "kymo_profile_test")

    kymo_profile_test(
        name = "matmul_perf",
        binary = ":matmul_bench",
        budget = "matmul.budget.textproto",
    )

`bazel test :matmul_perf` runs the binary and holds it to the budget.
`bazel run :matmul_perf.update` writes the budget: the first one, or new numbers
into the one that is there. docs/gate.md says what a budget can hold.
"""

_KYMO = str(Label("//tools/build_defs:kymo_of_a_profile_test"))
_RUNNER = str(Label("//tools/build_defs:profile_test.sh"))

def kymo_profile_test(
        name,
        binary,
        budget,
        args = [],
        data = [],
        env = {},
        shard_count = None,
        size = "small",
        tags = [],
        **kwargs):
    """A test that records `binary`, and fails if it takes more than its budget.

    Args:
      name: of the test. NAME.update is the program that writes the budget.
      binary: a program or a test. It must do the same each time, and end with
        status 0.
      budget: a file of this package. It need not be there before the first
        NAME.update; until then the test fails.
      args: of the binary. `$$TEST_TMPDIR` stands for a folder to write to.
      data: files that the binary reads.
      env: the binary's environment, a dictionary.
      shard_count: as for any test. A budget of several shards has lines for
        each of them; NAME.update writes them.
      size: as for any test.
      tags: as for any test.
      **kwargs: further attributes of the test.
    """
    budgets = native.glob([budget], allow_empty = True)
    words = [
        "$(rootpath %s)" % _KYMO,
        "$(rootpath %s)" % binary,
        "/".join([part for part in [native.package_name(), budget] if part]),
    ]

    # Bazel's own are taken from the binary; these are not.
    variables = "," + ",".join(sorted(env))
    native.sh_test(
        name = name,
        size = size,
        srcs = [_RUNNER],
        args = ["test"] + words + ["0", variables] + args,
        data = [_KYMO, binary] + budgets + data,
        env = env,
        shard_count = shard_count,
        # Sanitizers change what a program takes.
        tags = tags + ["no_sanitizer"],
        **kwargs
    )
    native.sh_binary(
        name = name + ".update",
        testonly = True,
        srcs = [_RUNNER],
        args = ["update"] + words + [str(shard_count or 0), variables] + args,
        data = [_KYMO, binary] + data,
        env = env,
        tags = tags + ["manual"],
    )
