#!/usr/bin/env bash
# Random traces keep the rules that viewers ask for.
set -euo pipefail
cd "$(dirname "$0")"
for seed in $(seq 20); do
  ./test_random_trace "$TEST_TMPDIR/out" "$seed"
  python3 chrome_check.py "$TEST_TMPDIR/out/trace.json"
done
