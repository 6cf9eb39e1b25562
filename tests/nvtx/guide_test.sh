#!/usr/bin/env bash
# The programs of docs/nvtx-itt.md, as the page says to run them.
set -euo pipefail

fail() {
  echo "guide_test: $*" >&2
  exit 1
}

out=$TEST_TMPDIR/out
tool=$PWD/$KYMO_NVTX_TOOL

"$KYMO_PROFILE" --quiet --output_dir="$out" "$KYMO_CLIENT"
grep -q '^ *step ' "$out/key_averages.txt" || fail "client.c: no step"
grep -q '"nvtx_range"' "$out/trace.json" || fail "client.c: no nvtx_range"

"$KYMO_OWN_RANGES" >"$out/table.txt"
grep -q '^ *step ' "$out/table.txt" || fail "own_ranges.cc: no step"

NVTX_LOG=$out/log NVTX_INJECTION64_PATH=$tool "$KYMO_EMITTER"
expected=$'push aten::add, seq = 5, op_id = 1\npop'
[[ $(<"$out/log.emitter") == "$expected" ]] ||
  fail "emitter.cc said: $(<"$out/log.emitter")"
