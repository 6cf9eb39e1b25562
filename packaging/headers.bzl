"""All headers of libraries, theirs and those of what they need."""

def _headers_impl(ctx):
    return [DefaultInfo(files = depset(transitive = [
        dep[CcInfo].compilation_context.headers
        for dep in ctx.attr.deps
    ]))]

headers = rule(
    implementation = _headers_impl,
    doc = "The headers that whoever includes the headers of `deps` needs.",
    attrs = {"deps": attr.label_list(mandatory = True, providers = [CcInfo])},
)
