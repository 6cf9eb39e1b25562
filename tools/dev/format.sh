#!/usr/bin/env bash
# Formats the tracked C++ files, or with --check names those that differ.
#
#   tools/dev/format.sh [--check] [FILE ...]
#
# Without FILEs, all of them. Formatting is version 14's: others differ in
# places, so theirs is not taken.
set -euo pipefail

usage() {
  sed -n '2,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
}

mode=write
files=()
for argument; do
  case $argument in
    --check) mode=check ;;
    -h | --help) usage; exit 0 ;;
    -*) echo "format.sh: unknown flag $argument; see --help" >&2; exit 2 ;;
    *) files+=("$(realpath "$argument")") ;;
  esac
done

formatter=
for candidate in clang-format-14 clang-format; do
  if command -v "$candidate" >/dev/null &&
    "$candidate" --version | grep -q 'version 14\.'; then
    formatter=$candidate
    break
  fi
done
if [[ -z $formatter ]]; then
  echo "format.sh: there is no clang-format 14 on the PATH;" \
    "run: apt-get install clang-format-14" >&2
  exit 3
fi

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if ((${#files[@]} == 0)); then
  # New files count before their first commit; what git ignores does not, and
  # neither does a file that is tracked but deleted.
  while IFS= read -r -d '' file; do
    [[ -f $file ]] && files+=("$file")
  done < <(git ls-files -z --cached --others --exclude-standard -- \
    '*.cc' '*.h' '*.cu' '*.cuh')
  if ((${#files[@]} == 0)); then
    echo "format.sh: git knows no C++ file here; run it in a clone, or name" \
      "the files" >&2
    exit 3
  fi
fi

if [[ $mode == write ]]; then
  "$formatter" -i "${files[@]}"
  exit
fi

different=()
for file in "${files[@]}"; do
  "$formatter" "$file" | cmp -s - "$file" || different+=("$file")
done
echo "format.sh: ${#files[@]} files, ${#different[@]} not formatted" >&2
if ((${#different[@]})); then
  printf '%s\n' "${different[@]}"
  echo "format.sh: run tools/dev/format.sh" >&2
  exit 1
fi
