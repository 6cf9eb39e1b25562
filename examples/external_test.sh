#!/usr/bin/env bash
# Makes a workspace of its own that depends on Kymo, as README.md says, and
# builds and runs the programs of examples/external in it. Needs no network.
#
#   external_test.sh WORKSPACE PROFILE [whole]
#
# WORKSPACE is the file of examples/external in the runfiles, a link to the real
# one, beside which the rest lies; PROFILE is //tools:profile of this workspace.
# Of sort_words only its own source is compiled here, since the library behind
# it takes minutes; with `whole` the program is built and run. So is the budget's
# test, which takes the whole command.
set -euo pipefail

example=$(dirname "$(readlink -f "$1")")
kymo=$(dirname "$(dirname "$example")")
profile=$PWD/$2
whole=${3:-}
scratch=$TEST_TMPDIR/external
bazel=${BAZEL:-bazel}
# Bazel may not find a home in a test, and must not share the user's.
export HOME=$scratch/home
mkdir -p "$HOME"
unset TEST_TMPDIR  # or Bazel takes it for its own

nested_bazel() {
  local command=$1
  shift
  "$bazel" --max_idle_secs=60 \
    --output_user_root="$scratch/user" --output_base="$scratch/base" \
    "$command" --noshow_progress --color=no "$@" </dev/null
}

clean_up() {
  nested_bazel shutdown || true
  # Bazel makes some of its folders read-only.
  chmod -R u+w "$scratch" && rm -rf "$scratch"
}
trap clean_up EXIT

fail() {
  echo "external_test: $*" >&2
  exit 1
}

# readme_block LANGUAGE: the first block of code in README.md that is of this
# language.
readme_block() {
  awk -v fence="\`\`\`$1" '
    inside && /^```/ { exit }
    inside { print }
    $0 == fence { inside = 1 }' "$kymo/README.md"
}

# From nothing: what README.md says, beside a folder `kymo`.
workspace=$scratch/project
mkdir -p "$workspace"
ln -s "$kymo" "$scratch/kymo"
readme_block python >"$workspace/WORKSPACE"
readme_block sh >"$workspace/.bazelrc"
cp "$example"/BUILD.bazel "$example"/*.cc "$example"/*.textproto "$workspace"
# The example's own file says the same, with a path of its own.
diff <(grep -v '^ *path = ' "$workspace/WORKSPACE") \
  <(grep -v '^ *path = \|^#\|^workspace(' "$example/WORKSPACE" | sed 1d) ||
  fail "$example/WORKSPACE is not what README.md says"
grep -qFf "$workspace/.bazelrc" "$example/.bazelrc" ||
  fail "$example/.bazelrc is not what README.md says"

# What is tested is that another workspace can use Kymo; without optimisation
# that takes half the time.
# Debian's Bazel is talkative about its sandbox unless told otherwise.
flags=(--compilation_mode=fastbuild --copt=-O0 --copt=-g0 --force_pic
  --nosandbox_debug --experimental_convenience_symlinks=ignore)

build() {
  nested_bazel build "${flags[@]}" "$@" ||
    fail "'build $*' fails in $workspace"
}

# check_trace FILE NAME ...: each name is a range five times, and the second
# has the input of 20000 words.
check_trace() {
  python3 - "$@" <<'EOF'
import collections, json, sys

file, *names = sys.argv[1:]
ranges = [e for e in json.load(open(file))["traceEvents"]
          if e.get("ph") == "X" and e["name"] in names]
count = collections.Counter(e["name"] for e in ranges)
assert count == {name: 5 for name in names}, count
last = next(e for e in ranges if e["name"] == names[-1])
assert 20000 in last["args"].values(), last
EOF
}

command -v "$bazel" >/dev/null || fail "there is no '$bazel' on PATH: $PATH"
cd "$workspace"

# A second Abseil is said.
sed -i '1i local_repository(name = "com_google_absl", path = "absl")' WORKSPACE
said=$(nested_bazel query //:count_words 2>&1)
[[ $said == *"has an Abseil of its own"* ]] || fail "nothing of Abseil: $said"
sed -i 1d WORKSPACE

# Every label is found, and visible from here.
build --nobuild //... @kymo//tools:kymo @kymo//tools:profile @kymo//tools:report

build //:count_words
bin=$(nested_bazel info "${flags[@]}" bazel-bin)
"$profile" --output_dir="$scratch/out" "$bin/count_words"
check_trace "$scratch/out/trace.json" make_text count_words

# A backend and an exporter of the workspace, built with other flags than the
# command.
build //:libcpu_waits.so //:libname_totals.so
"$profile" --activities="cpu,$bin/libcpu_waits.so" --cpu_waits_every_ms=2 \
  --export="chrome,$bin/libname_totals.so" --name_totals_least_us=1 \
  --output_dir="$scratch/waits" "$bin/count_words"
check_trace "$scratch/waits/trace.json" make_text count_words
python3 - "$scratch/waits/trace.json" <<'EOF'
import json, sys

values = [e["args"] for e in json.load(open(sys.argv[1]))["traceEvents"]
          if e.get("ph") == "C" and e["name"] == "waited for a CPU (ms)"]
assert len(values) >= 2, values
EOF

python3 - "$scratch/waits" <<'EOF'
import csv, json, sys

folder = sys.argv[1]
rows = {row["name"]: row for row in
        csv.DictReader(open(folder + "/name_totals.tsv"), delimiter="\t")}
events = json.load(open(folder + "/trace.json"))["traceEvents"]
for name in ("make_text", "count_words"):
    times = [e["dur"] for e in events
             if e.get("ph") == "X" and e["name"] == name]
    assert int(rows[name]["count"]) == 5, rows
    assert abs(int(rows[name]["total_us"]) - sum(times)) <= 5, (rows, times)
    assert abs(int(rows[name]["longest_us"]) - max(times)) <= 1, (rows, times)
EOF

build --output_groups=compilation_outputs //:sort_words
if [[ $whole == whole ]]; then
  build //:sort_words
  "$bin/sort_words" "$scratch/trace.json" >"$scratch/table.txt"
  cat "$scratch/table.txt"
  for name in make_words sort_words; do
    grep -q "$name" "$scratch/table.txt" || fail "the table lacks $name"
  done
  check_trace "$scratch/trace.json" make_words sort_words

  # The budget that is there holds, its update keeps it, and a wrong one fails.
  perf() { nested_bazel "$1" "${flags[@]}" "//:count_words_perf$2"; }
  budget=count_words.budget.textproto
  perf test "" || fail "count_words_perf fails"
  cp "$budget" "$scratch/budget"
  perf run .update || fail "count_words_perf.update fails"
  diff "$scratch/budget" "$budget" || fail "the update changed the budget"
  sed -i 's/expect: 5/expect: 4/' "$budget"
  if perf test ""; then fail "count_words_perf passes with a wrong budget"; fi
fi
