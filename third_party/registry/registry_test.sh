#!/usr/bin/env bash
# What has to be said twice is said alike: the version of Kymo, and that of each
# module whose library is the system's.
set -euo pipefail

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# version_in FILE NAME: after `name = "NAME"`, on the same line or the next one.
version_in() {
  tr '\n' ' ' <"$1" |
    sed -nE "s/.*name = \"$2\", *version = \"([^\"]+)\".*/\\1/p"
}

header=profiler/api/version.h
kymo=$(sed -nE 's/^#define KYMO_VERSION_(MAJOR|MINOR|PATCH) ([0-9]+)$/\2/p' \
  "$header" | paste -sd.)
module=$(version_in MODULE.bazel kymo)
[[ $kymo == "$module" ]] || fail "$header has $kymo, MODULE.bazel has $module"

libraries=0
for own in third_party/registry/modules/*/*/MODULE.bazel; do
  version=$(basename "$(dirname "$own")")
  name=$(basename "$(dirname "$(dirname "$own")")")
  [[ $(version_in "$own" "$name") == "$version" ]] || fail "$own has another version"
  wanted=$(version_in MODULE.bazel "$name")
  [[ $wanted != "$version" ]] || libraries=$((libraries + 1))
done
((libraries == 9)) ||
  fail "the registry has $libraries of 9 libraries in the version of MODULE.bazel"
