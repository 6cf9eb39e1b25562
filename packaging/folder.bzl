"""A genrule whose output is a folder."""

def _folder_impl(ctx):
    folder = ctx.actions.declare_directory(ctx.label.name)
    ctx.actions.run_shell(
        outputs = [folder],
        inputs = ctx.files.srcs,
        # Bazel 4 ignores `env` beside the default one, which has the PATH.
        command = "OUT='%s'; %s" % (
            folder.path,
            ctx.expand_location(ctx.attr.cmd, ctx.attr.srcs),
        ),
        use_default_shell_env = True,
        mnemonic = "Package",
        progress_message = "Packing %s" % ctx.label,
    )
    return [DefaultInfo(
        files = depset([folder]),
        runfiles = ctx.runfiles(files = [folder]),
    )]

folder = rule(
    implementation = _folder_impl,
    doc = "Runs `cmd`, which fills the folder $OUT. What is in there, and by" +
          " which name, is known only then. $(location LABEL) works as in a" +
          " genrule.",
    attrs = {
        "cmd": attr.string(mandatory = True),
        "srcs": attr.label_list(allow_files = True),
    },
)
