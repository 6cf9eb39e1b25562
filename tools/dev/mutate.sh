#!/usr/bin/env bash
# Puts mistakes into the code of a folder, one at a time, and counts how many
# of them the folder's tests see.
#
#   tools/dev/mutate.sh FOLDER ... [--sample=N] [--seed=S] [--tests=TARGET,...]
#
#   FOLDER    profiler/text, or profiler/... with the folders below
#   --sample  mistakes to try, drawn from all that can be made     [20]
#   --seed    draws the same ones again                            [1]
#   --tests   tests to run instead of the folder's own
#
# It prints each mistake with what became of it, then those that no test saw,
# as differences. What it can do is in mutate.rules; mistakes that change
# nothing stand in mutants_without_effect.txt, with the reason, and are not
# drawn. Those that do not compile, or give the same code, are not counted. It
# works in a copy of the workspace, which it keeps for the next time, and takes
# 5 to 30 seconds a mistake: run it by hand.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if (($# == 0)) || [[ $1 == -h || $1 == --help ]]; then
  sed -n '2,18s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
  exit 0
fi

environment=$here/../../third_party/python/environment.sh
requirements=$here/../../third_party/python/mutation.txt
"$environment" make "$requirements"
path=$("$environment" path "$requirements")
if [[ ! -x $path/bin/python ]]; then
  cat "$path.failed" >&2
  echo "mutate.sh: could not install universalmutator; the reason stands above" >&2
  exit 1
fi
exec "$path/bin/python" -B "$here/mutate.py" "$@"
