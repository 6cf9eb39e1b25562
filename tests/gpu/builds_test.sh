#!/usr/bin/env bash
# The CUDA program was built, and says what it takes where there is no device.
set -uo pipefail
output=$("$1" matmul 2>&1)
status=$?
if [[ $status == 77 && $output == *"no CUDA device"* ]]; then exit 0; fi
if [[ $status == 0 && $output == *flops* ]]; then exit 0; fi
echo "status $status: $output" >&2
exit 1
