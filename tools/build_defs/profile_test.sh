#!/usr/bin/env bash
# What kymo_profile_test runs, from the runfiles' root:
#
#   profile_test.sh test|update KYMO BINARY BUDGET SHARDS ENV [ARGUMENT...]
#
# ENV names, after commas, the variables that the rule gives the binary.
#
# The binary gets the same words, folders and TEST_* variables in a test and in
# an update: what it allocates depends on their length.
set -euo pipefail
mode=$1 kymo=$2 binary=$3 budget=$4 shards=$5 env=$6
shift 6

outputs=${TEST_UNDECLARED_OUTPUTS_DIR:-}
xml=${XML_OUTPUT_FILE:-}
filter=${TESTBRIDGE_TEST_ONLY:-}
shard=${TEST_SHARD_INDEX:-0} total=${TEST_TOTAL_SHARDS:-0}
# Bazel wants to know that the test can be sharded; what the binary does with
# its share is the binary's business.
[[ -z ${TEST_SHARD_STATUS_FILE:-} ]] || touch "$TEST_SHARD_STATUS_FILE"
if [[ $mode == update ]]; then
  target=${BUILD_WORKSPACE_DIRECTORY:?run it with bazel run}/$budget
fi

# The runfiles once more, as links, in a folder whose name is always as long.
scratch=$(mktemp -d /tmp/kymo.XXXXXXXXXX)
trap 'rm -rf "$scratch"' EXIT
workspace=$(basename "$PWD")
mkdir -p "$scratch/run/$workspace" "$scratch/tmp" "$scratch/out"
shopt -s dotglob nullglob
for entry in "$(dirname "$PWD")"/*; do
  [[ $entry == "$PWD" ]] || ln -s "$entry" "$scratch/run/"
done
for entry in "$PWD"/*; do
  ln -s "$entry" "$scratch/run/$workspace/"
done
shopt -u dotglob nullglob
[[ -z $outputs ]] || { rmdir "$scratch/out" && ln -s "$outputs" "$scratch/out"; }

# Newer Bazels put files of other workspaces beside this one's only.
place() {
  local path=$scratch/run/$workspace/$1
  if [[ ! -e $path && $1 == external/* ]]; then
    path=$scratch/run/${1#external/}
  fi
  echo "$path"
}
kymo=$(place "$kymo") binary=$(place "$binary")

for name in $(compgen -e | grep -E '^(TEST|TESTBRIDGE|GTEST|BAZEL|BUILD|RUNFILES|XML)_|_RUNFILES$'); do
  [[ $env, == *",$name,"* ]] || unset "$name"
done
unset RUNTEST_PRESERVE_CWD COVERAGE_DIR OLDPWD
export TEST_TMPDIR=$scratch/tmp TEST_UNDECLARED_OUTPUTS_DIR=$scratch/out
export TEST_SRCDIR=$scratch/run TEST_WORKSPACE=$workspace
export RUNFILES_DIR=$scratch/run
[[ -z $filter ]] || export TESTBRIDGE_TEST_ONLY=$filter
set_shard() {
  export TEST_SHARD_INDEX=$1 TEST_TOTAL_SHARDS=$2
  export TEST_SHARD_STATUS_FILE=$scratch/shards
}
arguments=()
for argument; do
  arguments+=("${argument//\$TEST_TMPDIR/$TEST_TMPDIR}")
done
cd "$scratch/run/$workspace"

if [[ $mode == update ]]; then
  update() {
    "$kymo" gate --update --budget="$target" --output_dir="$scratch/kymo" "$@" \
      -- "$binary" "${arguments[@]}" < /dev/null
  }
  if ((shards <= 1)); then
    update
  else
    for ((shard = 0; shard < shards; ++shard)); do
      set_shard "$shard" "$shards"
      update "--shard=$shard"
    done
  fi
  exit 0
fi

words=()
[[ -z $xml ]] || words+=("--xml=$xml")
[[ -z $filter ]] || words+=("--filtered")
if ((total > 1)); then
  set_shard "$shard" "$total"
  words+=("--shard=$shard")
fi
status=0
"$kymo" gate --budget="$budget" --output_dir="${outputs:-$scratch}/kymo" \
  "${words[@]}" -- "$binary" "${arguments[@]}" < /dev/null || status=$?
# Its holes would fill the archive of the outputs.
raw=${outputs:-$scratch}/kymo/kymo.raw
[[ ! -f $raw ]] || gzip -1 -f "$raw"
exit $status
