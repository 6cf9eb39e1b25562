#!/usr/bin/env bash
# Go's pprof reads our profiles and finds the sums of the folded stacks.
set -euo pipefail
cd "$(dirname "$0")"
export HOME=$TEST_TMPDIR PPROF_TMPDIR=$TEST_TMPDIR
./test_sample_stacks "$TEST_TMPDIR/out"
python3 pprof_check.py "$TEST_TMPDIR/out"
