"""A library from outside, whichever way this Bazel finds it."""

def system_library(name, module, target, **kwargs):
    """An alias of a library that a module of the Bazel Central Registry has.

    With modules (MODULE.bazel) it is that module's. Without them (WORKSPACE) it
    is the system's, which third_party/system has under the same labels.

    Args:
      name: of the alias.
      module: the module, as the Central Registry calls it.
      target: the label within the module, from its root: "absl/time:time".
      **kwargs: further attributes of the alias.
    """
    if hasattr(native, "module_name") and native.module_name() != None:
        actual = "@%s//%s" % (module, target)
    else:
        actual = "//third_party/system/%s%s%s" % (
            module,
            "" if target.startswith(":") else "/",
            target,
        )
    native.alias(name = name, actual = actual, **kwargs)
