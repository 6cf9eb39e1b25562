#!/usr/bin/env bash
# What a change must pass before it is sent: format, layers, build, test (the
# golden files are part of the tests).
#
#   tools/dev/presubmit.sh [TARGET ...]     # default: //...
set -euo pipefail

if [[ ${1:-} == -h || ${1:-} == --help ]]; then
  sed -n '2,5s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
  exit 0
fi

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
targets=("${@:-//...}")

step() {
  echo "== $*" >&2
  "$@" || {
    echo "presubmit.sh: '$*' fails" >&2
    exit 1
  }
}

step tools/dev/format.sh --check
step tools/dev/check_layers.py
step tools/dev/check_includes.py
step tools/dev/check_deps.py
step tools/dev/check_sources.py
step ./bazelw build "${targets[@]}"
step ./bazelw test "${targets[@]}"
echo "presubmit.sh: all passes" >&2
