#!/bin/sh
echo "bazel coverage is not set up in this workspace; use gcov or llvm-cov" >&2
exit 1
