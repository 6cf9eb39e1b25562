#!/usr/bin/env bash
# A random trace keeps the rules that viewers ask for.
set -euo pipefail
cd "$(dirname "$0")"
./random_trace_writer "$TEST_TMPDIR/out"
python3 chrome_check.py "$TEST_TMPDIR/out/trace.json"
