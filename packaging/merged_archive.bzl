"""An archive with one object: a library of C++ and all that it needs of ours."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _merged_archive_impl(ctx):
    tools = find_cpp_toolchain(ctx)
    context = ctx.attr.dep[CcInfo].linking_context
    archives = []
    for linker_input in context.linker_inputs.to_list():
        for library in linker_input.libraries:
            archives.append(library.pic_static_library or library.static_library)
    made = ctx.actions.declare_file("lib%s.a" % ctx.label.name)

    # Templates of C++ stand in groups, which a linker would drop if another
    # object has them: the object's own are sections like others. Inline
    # variables are GNU's unique symbols, which objcopy makes local only once
    # they are weak. What the object needs of the C library must not be weak: a
    # static program would go without it.
    ctx.actions.run_shell(
        outputs = [made],
        inputs = depset(archives, transitive = [tools.all_files]),
        command = """
            object={archive}.folder/{name}.o
            mkdir -p {archive}.folder
            {ld} -r --force-group-allocation -u {root} -o $object \\
              --start-group {archives} --end-group &&
            {objcopy} --wildcard --weaken-symbol='_Z*' $object &&
            {objcopy} --wildcard --keep-global-symbol='{symbols}' \\
              --strip-debug $object &&
            rm -f {archive} &&
            {ar} rcsD {archive} $object &&
            rm -r {archive}.folder""".format(
            name = ctx.label.name,
            archive = made.path,
            archives = " ".join([archive.path for archive in archives]),
            ar = tools.ar_executable,
            ld = tools.ld_executable,
            objcopy = tools.objcopy_executable,
            root = ctx.attr.root,
            symbols = ctx.attr.symbols,
        ),
        use_default_shell_env = True,
        mnemonic = "MergeArchive",
    )
    return [DefaultInfo(files = depset([made]))]

merged_archive = rule(
    implementation = _merged_archive_impl,
    doc = "libNAME.a, for people who link it with a linker of their own. Its" +
          " object has what `root` needs. All other names are the object's" +
          " own, so that it gets along with any other copy of that code.",
    attrs = {
        "dep": attr.label(mandatory = True, providers = [CcInfo]),
        "root": attr.string(mandatory = True, doc = "A symbol that is used."),
        "symbols": attr.string(
            mandatory = True,
            doc = "The symbols that others see, as a pattern.",
        ),
        "_cc_toolchain": attr.label(
            default = "@bazel_tools//tools/cpp:current_cc_toolchain",
        ),
    },
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
