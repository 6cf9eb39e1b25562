#!/usr/bin/env bash
# The CUDA programs were built, and say what they take where there is no device.
set -uo pipefail

# check WORDS... : a result on its output, or that there is no device.
check() {
  local output status
  output=$("$@" 2>&1)
  status=$?
  if [[ $status == 77 && $output == *"no CUDA device"* ]]; then return; fi
  if [[ $status == 0 && $output == *kernels* ]]; then return; fi
  echo "$*: status $status: $output" >&2
  exit 1
}

check "$1" matmul
check "$2" "$TEST_TMPDIR"
