#!/usr/bin/env bash
# Makes the files of a release, checks them, and says what to do next.
#
#   packaging/release.sh FOLDER
#
# FOLDER is new; it gets the archive, the Debian package, the wheel and their
# SHA-256 sums. The packages are built twice and compared, the second time from
# nothing, which takes some minutes. Nothing is published, and no tag is made.
set -euo pipefail

fail() {
  echo "release.sh: $*" >&2
  exit 1
}

[[ $# == 1 && $1 != -* ]] || { echo "usage: release.sh FOLDER" >&2; exit 2; }
[[ ! -e $1 ]] || fail "$1 exists; name a folder that does not"
out=$(realpath -m "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# What is released is a commit.
changed=$(git status --porcelain --untracked-files=normal)
[[ -z $changed ]] ||
  fail "commit or remove these changes first:"$'\n'"$changed"

# The version has one place. What else says one must agree.
version=$(python3 -B -c 'import sys
sys.path.insert(0, "packaging")
from kymo_version import version_of
print(version_of("profiler/api/version.h"))')
heading=$(grep -m1 '^## ' CHANGELOG.md || true)
[[ $heading == "## $version ("* ]] ||
  fail "profiler/api/version.h has $version, but CHANGELOG.md begins with" \
    "'$heading'; make them agree"
[[ $heading =~ \([0-9]{4}-[0-9]{2}-[0-9]{2}\)$ ]] ||
  fail "CHANGELOG.md says '$heading'; write the day: ## $version (YYYY-MM-DD)"
module=$(sed -n 's/^    version = "\(.*\)",$/\1/p' MODULE.bazel)
[[ $module == "$version" ]] ||
  fail "profiler/api/version.h has $version, but MODULE.bazel has $module;" \
    "make them agree"
tag=v$version
! git rev-parse -q --verify "refs/tags/$tag" >/dev/null ||
  fail "there is a tag $tag already; raise the version in profiler/api/version.h"
command -v lintian >/dev/null ||
  fail "lintian checks the Debian package; run: apt-get install lintian"

scratch=$(mktemp -d "${TMPDIR:-/var/tmp}/kymo-release.XXXXXX")
commit=$(git rev-parse HEAD)
base=$scratch/base
leave() {
  ./bazelw --output_base="$base" shutdown >/dev/null 2>&1 || true
  chmod -R u+w "$scratch"
  rm -rf "$scratch"
}
trap leave EXIT

packages=(//packaging:tar //packaging:deb //packaging:wheel)
# copies FOLDER BIN: the packages from Bazel's folder BIN into a new one.
copies() {
  mkdir "$1"
  cp "$2"/packaging/{tar,deb,wheel}/* "$1"
}
./bazelw build "${packages[@]}"
copies "$scratch/first" "$(./bazelw info bazel-bin)"
./bazelw test //packaging:package_test //tests/install:consumers_test ||
  fail "these tests must pass first"
# Without a cache, which would have the first build's results.
./bazelw --output_base="$base" build --disk_cache= --remote_cache= \
  --symlink_prefix=/ "${packages[@]}"
copies "$scratch/second" "$(./bazelw --output_base="$base" info bazel-bin)"

differ=$(diff -rq "$scratch/first" "$scratch/second") ||
  fail "two builds of one commit differ:"$'\n'"$differ"

# As root, lintian says that it should not be run so.
notes=$(lintian --pedantic --allow-root "$scratch"/first/*.deb 2>&1) || true
[[ -z $notes ]] || fail "lintian says:"$'\n'"$notes"

# The builds took minutes.
[[ -z $(git status --porcelain --untracked-files=normal) &&
  $(git rev-parse HEAD) == "$commit" ]] ||
  fail "the work tree changed meanwhile; begin again"

(cd "$scratch/first" && sha256sum -- * >"$scratch/sums" &&
  mv "$scratch/sums" SHA256SUMS)
mkdir -p "$(dirname "$out")"
cp -r "$scratch/first" "$out.part"
mv "$out.part" "$out"
cat <<END
release.sh: Kymo $version is in $out:

$(cat "$out/SHA256SUMS")

Next:
  1. Try the packages in clean systems: tests/install/README.md.
  2. git tag -a $tag -m "Kymo $version" $commit
  3. Publish the tag and these files.
  4. Raise the version in profiler/api/version.h and MODULE.bazel, and begin a
     heading in CHANGELOG.md: ## NEXT (not released yet)
END
