#!/usr/bin/env bash
# Runs a Python test module from the runfiles' root, with the viewers' packages
# (third_party/python/viewers.txt). Without them it fails and says why.
set -euo pipefail

environment=${KYMO_VIEWERS:-}
if [[ -z $environment ]]; then
  echo "KYMO_VIEWERS names no Python environment: run ./bazelw test" >&2
  exit 1
fi
if [[ ! -x $environment/bin/python ]]; then
  echo "the viewers' packages are not installed in $environment" >&2
  if [[ -r $environment.failed ]]; then cat "$environment.failed" >&2; fi
  exit 1
fi
exec "$environment/bin/python" -B -m unittest "$@"
