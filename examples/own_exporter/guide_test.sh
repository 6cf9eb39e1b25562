#!/usr/bin/env bash
# The exporter of docs/add-an-exporter.md, loaded by its path.
set -euo pipefail

fail() {
  echo "guide_test: $*" >&2
  exit 1
}

out=$TEST_TMPDIR/out
profile() { "$KYMO_PROFILE" --quiet --output_dir="$out" "$@"; }

profile --export="./$KYMO_LIBRARY,chrome" --csv_separator=';' \
  "$KYMO_TARGET" >/dev/null
[[ -s $out/trace.json ]] || fail "no trace.json beside the library's file"
python3 - "$out" <<'EOF'
import collections, csv, json, sys

folder = sys.argv[1]
rows = list(csv.reader(open(folder + "/events.csv"), delimiter=";"))
assert all(len(row) == 4 for row in rows), rows[:3]
events = json.load(open(folder + "/trace.json"))["traceEvents"]
recorded = ("cpu_op", "user_annotation", "cpu_instant_event")
names = [e["name"] for e in events if e.get("cat") in recorded]
assert names, "nothing was recorded"
assert collections.Counter(r[1] for r in rows) == collections.Counter(names)
EOF

# What is wrong is said before the target starts.
expect_error() {
  local expected=$1
  shift
  if profile "$@" touch "$TEST_TMPDIR/ran" 2>"$TEST_TMPDIR/error"; then
    fail "$* was accepted"
  fi
  grep -q -- "$expected" "$TEST_TMPDIR/error" ||
    fail "$*: $(<"$TEST_TMPDIR/error")"
  [[ ! -e $TEST_TMPDIR/ran ]] || fail "$*: the target ran"
}
expect_error "cannot load the exporter library" --export=./nothing.so
expect_error "is not an exporter library of this Kymo" --export=/lib/x86_64-linux-gnu/libz.so.1
expect_error "already registered" --export="./$KYMO_LIBRARY,./$KYMO_LIBRARY"
expect_error "there is no flag --csv_separator" --csv_separator=';'
expect_error "there is no exporter 'csv'" --export=csv
