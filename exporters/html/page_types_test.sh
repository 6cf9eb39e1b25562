#!/usr/bin/env bash
# The page's modules agree with the types in their comments, and their names do
# not collide in the one script that they become. Takes the modules of each
# script in its order, with -- between two scripts.
set -euo pipefail
cd "$(dirname "$0")"
for tool in tsc node; do
  command -v $tool >/dev/null || {
    echo "$tool is missing: apt-get install node-typescript nodejs" >&2
    exit 1
  }
done
tsc -p page
script=$TEST_TMPDIR/page.js
modules=()
for argument in "$@" --; do
  if [[ $argument != -- ]]; then
    modules+=("$argument")
    continue
  fi
  python3 -c 'import sys, join_page; print(join_page.joined(sys.argv[1:]))' \
    "${modules[@]}" >"$script"
  node --check "$script"
  modules=()
done
