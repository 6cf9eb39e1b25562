"""A precompiled header of GCC."""

def _precompiled_header_impl(ctx):
    objects = ctx.attr.compiled[OutputGroupInfo].compilation_outputs.to_list()

    # There is no NAME.h beside it, which GCC would read in silence if it could
    # not use the precompiled one. So `-include NAME.h` is an error then, and
    # -Winvalid-pch says why.
    header = ctx.actions.declare_file(ctx.label.name + ".h.gch")
    ctx.actions.symlink(output = header, target_file = objects[0])
    return [
        DefaultInfo(files = depset([header])),
        CcInfo(compilation_context = cc_common.create_compilation_context(
            headers = depset([header]),
        )),
    ]

precompiled_header = rule(
    implementation = _precompiled_header_impl,
    doc = "NAME.h.gch from a library of one source and -x c++-header. What" +
          " depends on it is compiled with `-include PACKAGE/NAME.h`.",
    attrs = {"compiled": attr.label(mandatory = True)},
)
