#!/usr/bin/env bash
# What kymo_profile_test runs, from the runfiles' root:
#
#   profile_test.sh test|update KYMO BINARY BUDGET SHARDS [ARGUMENT...]
set -euo pipefail
# Newer Bazels put files of other workspaces beside this one's only.
place() {
  if [[ ! -e $1 && $1 == external/* ]]; then
    echo "$(dirname "$PWD")/${1#external/}"
  else
    echo "$PWD/$1"
  fi
}
mode=$1 kymo=$(place "$2") binary=$(place "$3") budget=$4 shards=$5
shift 5
expand() {  # the arguments, with the folder that only a run knows
  arguments=()
  for argument; do
    arguments+=("${argument//\$TEST_TMPDIR/$TEST_TMPDIR}")
  done
}

# Bazel 4 gives `env` to tests alone, and `bazel run` gives no TEST_TMPDIR.
if [[ $mode == update ]]; then
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  export TEST_TMPDIR=$scratch TEST_SRCDIR=${TEST_SRCDIR:-$(dirname "$PWD")}
  export TEST_WORKSPACE=${TEST_WORKSPACE:-$(basename "$PWD")}
  target=${BUILD_WORKSPACE_DIRECTORY:?run it with bazel run}/$budget
  # It says where the user stood; the program's files are here.
  unset BUILD_WORKING_DIRECTORY BUILD_WORKSPACE_DIRECTORY
  update() {
    "$kymo" gate --update --budget="$target" --output_dir="$scratch/kymo" \
      "${words[@]}" -- "$binary" "$@"
  }
  expand "$@"
  set -- "${arguments[@]}"
  words=()
  if ((shards <= 1)); then
    update "$@"
  else
    for ((shard = 0; shard < shards; ++shard)); do
      words=("--shard=$shard")
      export TEST_SHARD_INDEX=$shard TEST_TOTAL_SHARDS=$shards
      export TEST_SHARD_STATUS_FILE=$scratch/shards
      update "$@"
    done
  fi
  exit 0
fi

words=("--output_dir=${TEST_UNDECLARED_OUTPUTS_DIR:-$TEST_TMPDIR}/kymo")
[[ -z ${XML_OUTPUT_FILE:-} ]] || words+=("--xml=$XML_OUTPUT_FILE")
((${TEST_TOTAL_SHARDS:-0} <= 1)) || words+=("--shard=$TEST_SHARD_INDEX")
[[ -z ${TESTBRIDGE_TEST_ONLY:-} ]] || words+=("--filtered")
# Bazel wants to know that the test can be sharded; what the binary does with
# its share is the binary's business.
[[ -z ${TEST_SHARD_STATUS_FILE:-} ]] || touch "$TEST_SHARD_STATUS_FILE"
expand "$@"
status=0
"$kymo" gate --budget="$budget" "${words[@]}" -- "$binary" "${arguments[@]}" || status=$?
# Its holes would fill the archive of the outputs.
raw=${words[0]#--output_dir=}/kymo.raw
[[ ! -f $raw ]] || gzip -1 -f "$raw"
exit $status
