#!/usr/bin/env bash
# Rewrites the golden files from what the code makes now, then tests against
# them. Read the difference like code before you commit it.
#
#   tools/dev/update_goldens.sh [TEST ...]
#
# Without TESTs, every test that has a *.golden.* file among its inputs. A test
# learns from KYMO_UPDATE_GOLDENS, the workspace's folder, that it is to write.
set -euo pipefail

if [[ ${1:-} == -h || ${1:-} == --help ]]; then
  sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
  exit 0
fi

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
root=$PWD

tests=("$@")
if ((${#tests[@]} == 0)); then
  found=$(./bazelw query --noshow_progress \
    'attr(data, "[.]golden[.]", tests(//...))')
  mapfile -t tests < <(printf '%s' "$found")
fi
if ((${#tests[@]} == 0)); then
  echo "update_goldens.sh: no test has a *.golden.* file" >&2
  exit 1
fi

# Outside of the sandbox, or the workspace could not be written. Status 3 is a
# test that fails: it may well do so while its file is replaced.
status=0
./bazelw test "${tests[@]}" --test_env=KYMO_UPDATE_GOLDENS="$root" \
  --strategy=TestRunner=local --nocache_test_results \
  --test_output=summary || status=$?
if ((status != 0 && status != 3)); then exit "$status"; fi

./bazelw test "${tests[@]}"
git status --short -- '*.golden.*'
