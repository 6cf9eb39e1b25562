"""Libraries of which a shared library gets all parts, asked for or not."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _whole_libraries_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    inputs = []
    for dep in ctx.attr.deps:
        for given in dep[CcInfo].linking_context.linker_inputs.to_list():
            inputs.append(cc_common.create_linker_input(
                owner = given.owner,
                libraries = depset([
                    cc_common.create_library_to_link(
                        actions = ctx.actions,
                        feature_configuration = features,
                        cc_toolchain = toolchain,
                        static_library = library.static_library,
                        pic_static_library = library.pic_static_library,
                        alwayslink = True,
                    )
                    for library in given.libraries
                ]),
                user_link_flags = depset(given.user_link_flags),
                additional_inputs = depset(given.additional_inputs),
            ))
    return [CcInfo(linking_context = cc_common.create_linking_context(
        linker_inputs = depset(inputs),
    ))]

whole_libraries = rule(
    implementation = _whole_libraries_impl,
    attrs = {
        "deps": attr.label_list(mandatory = True, providers = [CcInfo]),
        "_cc_toolchain": attr.label(
            default = "@bazel_tools//tools/cpp:current_cc_toolchain",
        ),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
