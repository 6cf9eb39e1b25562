#!/usr/bin/env bash
# Installs each package in a clean Debian, uses it, and removes it again.
#
#   tests/install/packages.sh ROOT
#
# ROOT is a system that debootstrap made (README.md). It is changed: apt-get
# installs xz-utils, python3-venv, g++, cmake and pkg-config there. Needs root, for chroot and mounts,
# and what this builds before:
#
#   ./bazelw build //packaging:tar //packaging:deb //packaging:wheel \
#     //tests/e2e:target
set -euo pipefail

root=${1:?usage: packages.sh ROOT}
[[ -d $root/etc/apt ]] || { echo "$root is no Debian" >&2; exit 2; }
bin=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/bazel-bin
parcel=$root/tmp/kymo-packages

unmount() {
  for folder in dev/pts dev proc; do
    if mountpoint -q "$root/$folder"; then umount "$root/$folder"; fi
  done
}
trap unmount EXIT
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mount --bind /dev/pts "$root/dev/pts"

rm -rf "$parcel"
mkdir -p "$parcel"
cp "$bin"/packaging/{deb,tar,wheel}/* "$bin/tests/e2e/target" "$parcel"
cp -r "$(dirname "${BASH_SOURCE[0]}")/consumers" "$parcel"

# What follows runs in there, without anything of this environment.
chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
  LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive bash -euo pipefail <<'END'
cd /tmp/kymo-packages
fail() { echo "FAILED: $*" >&2; exit 1; }
log() { "$@" >log.txt 2>&1 || { cat log.txt; fail "$*"; }; }

log apt-get update
log apt-get install -y --no-install-recommends xz-utils python3-venv \
  g++ cmake make pkg-config
echo "$(. /etc/os-release; echo "$PRETTY_NAME"), $(ldd --version | head -1)"
seq 300000 >numbers

# files: all that an installation could leave behind. In /run, kymo keeps the
# names of the kernel's functions until the next boot.
files() {
  find / -xdev \( -path /proc -o -path /run -o -path /tmp -o -path /var/lib/dpkg \
    -o -path /var/cache -o -path /var/log -o -path /var/lib/apt \) -prune \
    -o -print | sort
}

# uses KYMO: records and reads.
uses() {
  rm -rf out
  [[ $("$1" --version) == "kymo "* ]] || fail "$1 --version"
  "$1" --output_dir=out -- xz -9 -k --stdout numbers >/dev/null 2>said ||
    { cat said; fail "$1 -- xz"; }
  grep -q 'lzma\|liblzma' out/stacks.folded || fail "no stack has xz's functions"
  [[ $("$1" help report) == NAME* ]] || fail "$1 help report"
  "$1" report out/trace.json >table 2>said || { cat said; fail "$1 report"; }
  rm -r out
  "$1" profile --profile_memory --output_dir=out ./target operations 50 \
    2>said || { cat said; fail "$1 profile"; }
  ! grep -q 'ld\.so' said || { cat said; fail "the loader complains"; }
  grep -q 'aten::mm' out/key_averages.txt || fail "no range was recorded"
  "$1" report --check out/trace.json >/dev/null || fail "$1 report --check"
  ldd "$(readlink -f "$(type -P "$1")")" >libraries || fail "ldd"
  grep -q '=>' libraries || fail "ldd lists no library"
  ! grep 'not found' libraries || fail "a library is missing"
}

# gone BEFORE NAME: nothing is there that was not there before.
gone() {
  files >after
  diff "$1" after >left || { cat left; fail "$2 leaves files behind"; }
}

# builds KYMO PREFIX: builds the consumers against what is below PREFIX (empty:
# where CMake and pkg-config look by themselves), runs and records them.
builds() {
  rm -rf built
  local where=()
  if [[ -n $2 ]]; then
    where=("-DCMAKE_PREFIX_PATH=$2")
    local -x PKG_CONFIG_PATH=$2/lib/pkgconfig
  fi
  log cmake -S consumers -B built/c "${where[@]}"
  log cmake --build built/c
  records "$1" step library -- built/c/program
  log gcc -shared -fPIC consumers/library.c -o built/libpart.so \
    $(pkg-config --cflags --libs kymo-annotate)
  log gcc consumers/program.c -o built/program -Lbuilt -lpart \
    "-Wl,-rpath,$PWD/built" $(pkg-config --cflags --libs kymo-annotate)
  records "$1" step library -- built/program
  log cmake -S consumers/session -B built/session "${where[@]}"
  log cmake --build built/session
  log built/session/session built/trace.json
  records "$1" step work -- built/session/session built/trace.json
  log g++ -std=c++20 consumers/session/*.cc -o built/again \
    $(pkg-config --cflags --libs kymo)
  log built/again built/trace.json
  rm -r built
}

# records KYMO NAME... -- TARGET...: the table has ranges of these names.
records() {
  local kymo=$1 names=()
  shift
  while [[ $1 != -- ]]; do names+=("$1"); shift; done
  rm -rf out
  log "$kymo" --activities=cpu --output_dir=out "$@"
  local name
  for name in "${names[@]}"; do
    grep -q "^ *$name " out/key_averages.txt || fail "no range $name: $*"
  done
  rm -r out
}

files >before
log apt-get install -y --no-install-recommends ./kymo_*.deb
uses kymo
for file in man/man1/kymo.1.gz doc/kymo/docs/report.md; do
  [[ -s /usr/share/$file || -e /etc/dpkg/dpkg.cfg.d/docker ]] || fail "no $file"
done
log dpkg --verify kymo
builds kymo ""
log apt-get purge -y kymo
gone before "the Debian package"
echo "deb: installed, used, removed"

mkdir -p "/opt/my tools"
tar -C "/opt/my tools" -xzf kymo-*.tar.gz
uses /opt/my\ tools/kymo-*/bin/kymo
mv "/opt/my tools" /opt/tools  # pkg-config's words end at spaces
builds /opt/tools/kymo-*/bin/kymo "$(echo /opt/tools/kymo-*)"
rm -r /opt/tools
unlink /var/tmp/kymo-0/*  # to the runtime; it is said that it stays
rmdir /var/tmp/kymo-0
gone before "the archive"
echo "tar: unpacked into a path with a space, used, removed"

python3 -m venv venv
# Python compiles modules of pip's as pip runs, and pip leaves folders, which
# must be empty.
in_venv() { find venv -name __pycache__ -prune -o ! -type d -print | sort; }
in_venv >before_pip
log venv/bin/pip install --no-index ./kymo-*.whl
uses venv/bin/kymo
builds venv/bin/kymo "$PWD/venv"
log venv/bin/pip install --no-index --target=/opt/target ./kymo-*.whl
uses /opt/target/bin/kymo
log env PYTHONPATH=/opt/target python3 -c 'import kymo'
rm -r /opt/target
log venv/bin/pip uninstall -y kymo
in_venv >after_pip
diff before_pip after_pip >left || { cat left; fail "pip leaves files behind"; }
rm -r venv
gone before "the wheel"
echo "wheel: installed, used, removed"

log apt-get install -y --no-install-recommends libabsl-dev
mkdir /opt/tools
tar -C /opt/tools -xzf kymo-*.tar.gz
log env PKG_CONFIG_PATH="$(echo /opt/tools/kymo-*/lib/pkgconfig)" bash -c \
  'g++ -std=c++20 consumers/abseils/*.cc -o abseils \
    $(pkg-config --cflags --libs kymo) \
    $(pkg-config --libs absl_status absl_strings)'
./abseils >said
[[ $(<said) == *active*"INVALID_ARGUMENT: other 0" ]] ||
  { cat said; fail "a program with two Abseils"; }
echo "tar: used beside the system's own Abseil," \
  "$(dpkg-query -W -f '${Version}' libabsl-dev)"
END
rm -rf "$parcel"
echo "passed"
