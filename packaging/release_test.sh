#!/usr/bin/env bash
# release.sh in a workspace whose Bazel and lintian do what each case says.
set -euo pipefail

fail() { echo "FAILED: $*" >&2; exit 1; }

root=$PWD
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export HOME=$scratch/home GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a \
  GIT_COMMITTER_EMAIL=a
mkdir -p "$HOME" "$scratch/bin" "$scratch/tmp"
export TMPDIR=$scratch/tmp PATH=$scratch/bin:$PATH

# Each build writes the same bytes, or the output base's name ($DIFFER).
workspace=$scratch/workspace
mkdir -p "$workspace"/{packaging,profiler/api}
cd "$workspace"
cp "$root"/packaging/{release.sh,kymo_version.py} packaging
cp "$root/profiler/api/version.h" profiler/api
cp "$root/MODULE.bazel" .
cat >bazelw <<'END'
#!/bin/bash
base=$TMPDIR/base
if [[ $1 == --output_base=* ]]; then base=${1#*=}; shift; fi
echo "$*" >>"$CALLS"
case $1 in
  info) echo "$base/bin" ;;
  test) [[ ! ${FAIL_TEST:-} ]] ;;
  build)
    for kind in tar deb wheel; do
      mkdir -p "$base/bin/packaging/$kind"
      echo "bytes ${DIFFER:+$base}" >"$base/bin/packaging/$kind/kymo.$kind"
    done ;;
esac
END
printf '%s\n' '#!/bin/bash' 'echo -n "${NOTES:-}"' >"$scratch/bin/lintian"
chmod +x bazelw "$scratch/bin/lintian"
export CALLS=$scratch/calls
version=$(PYTHONPATH=packaging python3 -B -c 'import kymo_version as v
print(v.version_of("profiler/api/version.h"))')
printf '# Changelog\n\n## %s (2026-01-02)\n\n- x\n\n## 0.0.1 (2025-01-02)\n' \
  "$version" >CHANGELOG.md
git init -q .
git add .
git commit -qm "Begin"

# refuses TEXT: it ends with 1, says TEXT, and leaves nothing.
refuses() {
  : >"$CALLS"
  local status=0
  packaging/release.sh "$scratch/out" >"$scratch/said" 2>&1 || status=$?
  ((status == 1)) || fail "status $status: $(cat "$scratch/said")"
  grep -qF -- "$1" "$scratch/said" || fail "not '$1': $(cat "$scratch/said")"
  [[ ! -e $scratch/out ]] || fail "it made the folder: $1"
  [[ -z $(ls -A "$TMPDIR" | grep -v '^base$') ]] || fail "it leaves $(ls "$TMPDIR")"
}
# with_line FILE SED TEXT: it refuses a commit with this change.
with_line() {
  sed -i "$2" "$1"
  git commit -qam "Change"
  refuses "$3"
  [[ ! -s $CALLS ]] || fail "it built all the same: $3"
  git reset -q --hard HEAD~
}

packaging/release.sh "$scratch/out" >"$scratch/said" || fail "$(cat "$scratch/said")"
(cd "$scratch/out" && sha256sum --quiet --check SHA256SUMS) || fail "wrong sums"
[[ $(ls "$scratch/out" | xargs) == "SHA256SUMS kymo.deb kymo.tar kymo.wheel" ]] ||
  fail "it made $(ls "$scratch/out")"
grep -q "git tag -a v$version" "$scratch/said" || fail "no next step"
grep -q "test .*//packaging:package_test //tests/install:consumers_test" \
  "$CALLS" || fail "no tests: $(cat "$CALLS")"
[[ $(grep -c '^build ' "$CALLS") == 2 ]] || fail "not built twice"
[[ $(grep -c '^build --disk_cache= ' "$CALLS") == 1 ]] || fail "built from a cache"
if packaging/release.sh "$scratch/out" 2>"$scratch/said"; then fail "it replaced"; fi
grep -q "exists" "$scratch/said" || fail "$(cat "$scratch/said")"
rm -r "$scratch/out"

touch new
refuses "?? new"
rm new
with_line CHANGELOG.md "s/^## $version/## 9.9.9/" "begins with '## 9.9.9"
with_line CHANGELOG.md "s/2026-01-02/not released yet/" "(YYYY-MM-DD)"
with_line MODULE.bazel 's/^    version = .*/    version = "9.9.9",/' \
  "MODULE.bazel has 9.9.9"
git tag "v$version"
refuses "there is a tag v$version"
git tag -d "v$version" >/dev/null
FAIL_TEST=1 refuses "must pass first"
DIFFER=1 refuses "kymo.deb differ"
NOTES="W: kymo: x" refuses "W: kymo: x"
status=0
packaging/release.sh 2>/dev/null || status=$?
((status == 2)) || fail "without a folder it ends with $status"
