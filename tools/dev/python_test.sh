#!/usr/bin/env bash
# Runs a Python test module from the runfiles' root. Bazel's own py_test asks
# for a program named `python`, which Debian does not have.
exec python3 -B -m unittest "$@"
