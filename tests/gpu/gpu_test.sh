#!/usr/bin/env bash
# The checks of check.py; without a device it fails, and says so: a test that
# needs one does not pass by doing nothing.
set -uo pipefail
python3 "$1" "$2" "$3" "$4"
status=$?
if [[ $status == 77 ]]; then
  echo "gpu_test: no CUDA device; run it on a machine that has one" >&2
  exit 1
fi
exit $status
