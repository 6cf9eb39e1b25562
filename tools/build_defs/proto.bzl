"""C++ for protobuf schemas, by the `protoc` that Debian packages."""

load("@rules_cc//cc:defs.bzl", "cc_library")

def kymo_proto_library(name, srcs, **kwargs):
    """Messages of .proto files as a C++ library.

    `a/b.proto` is included as "a/b.pb.h", from the workspace's root, which is
    also where the schemas' own imports start.

    Args:
      name: of the library.
      srcs: .proto files of this package.
      **kwargs: further attributes of the library.
    """
    stems = [src[:-len(".proto")] for src in srcs]
    headers = [stem + ".pb.h" for stem in stems]
    sources = [stem + ".pb.cc" for stem in stems]
    native.genrule(
        name = name + "_protoc",
        srcs = srcs,
        outs = headers + sources,
        cmd = "protoc --proto_path=. --cpp_out=$(GENDIR) $(SRCS)",
        message = "Generating C++ of",
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
