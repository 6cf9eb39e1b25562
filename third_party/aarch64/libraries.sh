#!/usr/bin/env bash
# Gets the libraries that Kymo and its tests need for AArch64, once per user.
#
#   libraries.sh path     prints where they are, there or not
#   libraries.sh make     gets them, unless they are there
#
# They are Debian's packages for arm64: those of ../debian/*.txt that have
# headers, and what these depend on. apt-get downloads them by lists of its own,
# so this needs no root and the system stays as it is. They cannot be installed
# beside those of the system: two of them (libisal-dev, libsimdjson-dev) are for
# one architecture at a time. The C and C++ libraries are those of Debian's
# cross compiler.
set -euo pipefail

folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/../debian" && pwd)
cache=${XDG_CACHE_HOME:-${HOME:-${TMPDIR:-/tmp}/kymo-$(id -u)}/.cache}
release=$(. /etc/os-release && echo "$ID-${VERSION_ID:-testing}")
path=$cache/kymo/aarch64/$release

case ${1:-} in
  path) echo "$path"; exit ;;
  make) [[ ! -d $path ]] || exit 0 ;;
  *) echo "usage: libraries.sh path|make" >&2; exit 2 ;;
esac

part=$path.part
rm -rf "$part"
mkdir -p "$part"/apt/{lists/partial,archives/partial}
trap 'rm -rf "$part"' EXIT
: >"$part/apt/status"
apt() {
  apt-get -o APT::Architecture=arm64 -o APT::Architectures=arm64 \
    -o APT::Sandbox::User="$(id -un)" -o Dir::State="$part/apt" \
    -o Dir::State::lists="$part/apt/lists" \
    -o Dir::State::status="$part/apt/status" -o Dir::Cache="$part/apt" \
    -o Dir::Cache::archives="$part/apt/archives" "$@"
}
mapfile -t packages < <(grep -hE '^(lib|zlib).*-dev$' "$folder"/{build,tests}.txt)
{ apt -qq update && apt -qq -y --no-install-recommends --download-only install \
  "${packages[@]}"; } >"$path.log" 2>&1 </dev/null || {
  cat "$path.log" >&2
  echo "libraries.sh: could not download the packages; the log stands above" >&2
  exit 1
}
for package in "$part"/apt/archives/*.deb; do
  case ${package##*/} in
    gcc-* | libc6* | libgcc-* | libstdc++* | linux-libc-dev*) ;;  # the compiler's
    *) dpkg-deb --fsys-tarfile "$package" |
      tar -x --directory="$part" --exclude='./usr/share' ;;
  esac
done
rm -r "$part/apt"
# Where Debian 12 has some of the libraries themselves.
if [[ -d $part/lib ]]; then cp -a "$part/lib/." "$part/usr/lib/"; fi
rm -f "$path.log"
mv "$part" "$path"
