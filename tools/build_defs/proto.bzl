"""C++ for protobuf schemas, by the `protoc` of the library that is linked."""

load("@rules_cc//cc:defs.bzl", "cc_library")

def kymo_proto_library(name, srcs, **kwargs):
    """The C++ of .proto files, as two libraries that share one header.

    `a/b.proto` becomes "a/b.pb.h". Both that include and the imports of the
    schemas start at the root of this workspace, also where another workspace
    builds it as an external repository.

    - NAME has the messages. It links libprotobuf.
    - NAME_numbers has only the header, for code that writes the format itself.
      Such code may use the constants: field numbers (kFooFieldNumber) and
      values of enums. A use of a message does not link.

    Args:
      name: of the library with the messages.
      srcs: .proto files of this package.
      **kwargs: further attributes of the library with the messages.
    """
    stems = [src[:-len(".proto")] for src in srcs]
    headers = [stem + ".pb.h" for stem in stems]
    sources = [stem + ".pb.cc" for stem in stems]
    repository = native.repository_name().lstrip("@")  # "" in this workspace
    root = "external/" + repository if repository else "."
    native.genrule(
        name = name + "_protoc",
        srcs = srcs,
        outs = headers + sources,
        cmd = "$(location //third_party/protobuf:protoc) --proto_path={root} --cpp_out=$(GENDIR)/{root} $(SRCS)".format(root = root),
        message = "Generating C++ of",
        tools = ["//third_party/protobuf:protoc"],
        visibility = ["//visibility:private"],
    )
    cc_library(
        name = name,
        srcs = sources,
        hdrs = headers,
        copts = ["-w"],
        deps = ["//third_party/protobuf"],
        **kwargs
    )
    cc_library(
        name = name + "_numbers",
        hdrs = headers,
        visibility = ["//%s:__subpackages__" % native.package_name()],
    )
