"""Tests that read Kymo's files with other programs."""

def consumer_test(name, srcs = [], data = [], env = {}, **kwargs):
    """Runs NAME.py with the viewers' packages.

    Args:
      name: of the test; its module is NAME.py.
      srcs: modules of this folder that it imports.
      data: what else it needs.
      env: variables beside those that say where programs are.
      **kwargs: of sh_test.
    """
    native.sh_test(
        name = name,
        size = "large",
        srcs = ["viewer_test.sh"],
        args = ["tests.e2e.consumers." + name],
        data = [
            name + ".py",
            "recorded.py",
            "strict_json.py",
            ":gpu_trace_writer",
            "//examples:train_mlp",
            "//tools:profile",
        ] + srcs + data,
        env = dict(
            env,
            KYMO_GPU_WRITER = "$(rootpath :gpu_trace_writer)",
            KYMO_PROFILE = "$(rootpath //tools:profile)",
            KYMO_TRAIN_MLP = "$(rootpath //examples:train_mlp)",
        ),
        # They profile, and start browsers and servers.
        tags = [
            "local",
            "no_sanitizer",
        ],
        **kwargs
    )
