#!/usr/bin/env bash
# Builds and runs examples/external as what it is: a workspace of its own that
# depends on Kymo. $1 is its WORKSPACE file in the runfiles, a link to the real
# one, beside which the rest lies. Needs no network.
set -euo pipefail

workspace=$(dirname "$(readlink -f "$1")")
scratch=$TEST_TMPDIR/external
bazel=${BAZEL:-bazel}
# Bazel may not find a home in a test, and must not share the user's.
export HOME=$scratch/home
mkdir -p "$HOME"
unset TEST_TMPDIR  # or Bazel takes it for its own

clean_up() {
  # Bazel makes some of its folders read-only.
  chmod -R u+w "$scratch" && rm -rf "$scratch"
}
trap clean_up EXIT

fail() {
  echo "external_test: $*" >&2
  exit 1
}

command -v "$bazel" >/dev/null || fail "there is no '$bazel' on PATH: $PATH"

cd "$workspace"
# --batch leaves no server behind. What is tested is that another workspace
# can use Kymo: without optimisation that takes half the time.
"$bazel" --batch \
  --output_user_root="$scratch/user" --output_base="$scratch/base" \
  build --compilation_mode=fastbuild --copt=-O0 --copt=-g0 --force_pic \
  --symlink_prefix="$scratch/link-" --noshow_progress --color=no \
  //:sort_words </dev/null || fail "the build of $workspace fails"

"$scratch/link-bin/sort_words" "$scratch/trace.json" >"$scratch/table.txt"

cat "$scratch/table.txt"
for name in make_words sort_words; do
  grep -q "$name" "$scratch/table.txt" || fail "the table lacks $name"
done
python3 - "$scratch/trace.json" <<'EOF'
import collections, json, sys

trace = json.load(open(sys.argv[1]))
count = collections.Counter(
    e["name"] for e in trace["traceEvents"] if e.get("ph") == "X")
assert count["make_words"] == 5, count
assert count["sort_words"] == 5, count
sort = next(e for e in trace["traceEvents"] if e["name"] == "sort_words")
assert 20000 in sort["args"].values(), sort
EOF
