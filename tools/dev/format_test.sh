#!/usr/bin/env bash
# format.sh with a formatter that makes one space of several.
set -euo pipefail

fail() { echo "FAILED: $*" >&2; exit 1; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export HOME=$scratch/home GIT_CONFIG_NOSYSTEM=1 PATH=$scratch/bin:$PATH
mkdir -p "$HOME" "$scratch/bin" "$scratch/workspace/tools/dev"
cat >"$scratch/bin/clang-format-14" <<'END'
#!/bin/bash
case $1 in
  --version) echo "clang-format version 14.0.6" ;;
  -i) shift; sed -i 's/  */ /g' "$@" ;;
  *) sed 's/  */ /g' "$1" ;;
esac
END
chmod +x "$scratch/bin/clang-format-14"
cp tools/dev/format.sh "$scratch/workspace/tools/dev"
cd "$scratch/workspace"
echo "int x;" >good.cc
echo "int   x;" >bad.h

# expect STATUS TEXT FLAG ...: it ends so, and says TEXT.
expect() {
  local wanted=$1 text=$2 status=0
  shift 2
  tools/dev/format.sh "$@" >"$scratch/said" 2>&1 || status=$?
  ((status == wanted)) || fail "status $status: $(cat "$scratch/said")"
  grep -qF -- "$text" "$scratch/said" || fail "not '$text': $(cat "$scratch/said")"
}

# Where git knows no file, none has been checked.
expect 3 "git knows no C++ file here" --check
expect 1 "bad.h" --check good.cc bad.h
git init -q .
expect 1 "2 files, 1 not formatted" --check
tools/dev/format.sh || fail "it cannot format"
expect 0 "2 files, 0 not formatted" --check
[[ $(<bad.h) == "int x;" ]] || fail "bad.h is '$(<bad.h)'"
expect 2 "unknown flag --chek" --chek
