#!/usr/bin/env bash
# environment.sh: all of an environment or a reason, and nothing twice.
set -euo pipefail

script=$PWD/third_party/python/environment.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export XDG_CACHE_HOME=$scratch/cache HOME=$scratch/home
# What cannot be found in no index needs no network to fail.
export PIP_NO_INDEX=1

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

echo "# no package" >"$scratch/empty.txt"
path=$("$script" path "$scratch/empty.txt")
[[ $path == "$scratch"/cache/kymo/python/* ]] || fail "it is $path"
[[ ! -e $path ]] || fail "asking for the path made something"

"$script" make "$scratch/empty.txt" 2>"$scratch/said"
grep -q empty.txt "$scratch/said" || fail "it does not say what it does"
"$path/bin/python" -c 'import sys; assert sys.prefix != sys.base_prefix'
[[ ! -e $path.failed ]] || fail "it has both an environment and a reason"

# A second time costs and says nothing.
touch "$path/mark"
"$script" make "$scratch/empty.txt" 2>"$scratch/said"
[[ -e $path/mark && ! -s $scratch/said ]] || fail "it was made again"

echo "no-such-package==1.0" >"$scratch/missing.txt"
missing=$("$script" path "$scratch/missing.txt")
[[ $missing != "$path" ]] || fail "two lists of packages share a place"
"$script" make "$scratch/missing.txt" 2>/dev/null || fail "it stops its caller"
[[ ! -e $missing && ! -e $missing.part ]] || fail "half of it is there"
grep -q no-such-package "$missing.failed" || fail "the reason is not kept"

# The test runner gives that reason.
runner=$PWD/tests/e2e/consumers/viewer_test.sh
if KYMO_VIEWERS=$missing "$runner" any 2>"$scratch/said"; then
  fail "a test without its packages passed"
fi
grep -q no-such-package "$scratch/said" || fail "the test gives no reason"

# Without a home the temporary folder will do.
without_home=$(env -u HOME -u XDG_CACHE_HOME TMPDIR="$scratch" \
  "$script" path "$scratch/empty.txt")
[[ $without_home == "$scratch"/* ]] || fail "without a home it is $without_home"

if "$script" make 2>/dev/null; then fail "no file of packages is none"; fi
if "$script" take "$scratch/empty.txt" 2>/dev/null; then fail "take is one"; fi
