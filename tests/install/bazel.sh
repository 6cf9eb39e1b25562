#!/usr/bin/env bash
# Builds a Bazel project that uses Kymo in a clean Debian, and records it.
#
#   tests/install/bazel.sh ROOT
#
# ROOT is a system that debootstrap made (README.md). It is changed: it gets the
# packages that building takes. Needs root, for chroot and mounts. What is built
# is the last commit.
set -euo pipefail

root=${1:?usage: bazel.sh ROOT}
[[ -d $root/etc/apt ]] || { echo "$root is no Debian" >&2; exit 2; }
kymo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
sources=$root/tmp/kymo-sources

unmount() {
  for folder in dev/pts dev proc; do
    if mountpoint -q "$root/$folder"; then umount "$root/$folder"; fi
  done
}
trap unmount EXIT
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mount --bind /dev/pts "$root/dev/pts"

rm -rf "$sources"
mkdir -p "$sources/kymo"
git -C "$kymo" archive HEAD | tar -x -C "$sources/kymo"
# As README.md says: the project lies beside Kymo.
cp -r "$sources/kymo/examples/external" "$sources/project"
sed -i 's|path = "../.."|path = "../kymo"|' "$sources"/project/{WORKSPACE,MODULE.bazel}

chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
  LC_ALL=C.UTF-8 bash -euo pipefail <<'END'
cd /tmp/kymo-sources/project
fail() { echo "FAILED: $*" >&2; exit 1; }

../kymo/third_party/debian/install.sh ../kymo/third_party/debian/{bazel,build}.txt
echo "$(. /etc/os-release; echo "$PRETTY_NAME"), $(g++ --version | head -1)"
bazel --version
trap 'bazel shutdown' EXIT  # Else it keeps the mounts.
# A Bazel with modules gets them from Kymo's registry: the system's libraries.
if [[ $(bazel --version) =~ ^bazel\ ([7-9]|[1-9][0-9]) ]]; then
  cat >>.bazelrc <<'RC'
common --registry=file:///tmp/kymo-sources/kymo/third_party/registry
common --lockfile_mode=off
RC
fi
began=$SECONDS
bazel build //... @kymo//tools:profile
echo "built in $((SECONDS - began)) s"
bazel run "--run_under=@kymo//tools:profile --output_dir=$PWD/../out" //:count_words >said 2>&1 ||
  { cat said; fail "recording count_words"; }
grep -q '^ *count_words ' ../out/key_averages.txt ||
  { cat said; fail "no range was recorded"; }
# Bazel 7 packs what a test leaves in TEST_UNDECLARED_OUTPUTS_DIR with these.
apt-get install -y --no-install-recommends file zip >/dev/null
bazel test --test_output=errors //:count_words_perf
bazel run //:sort_words -- /tmp/kymo-sources/trace.json >table
grep -q '^ *sort_words ' table || { cat table; fail "no session was recorded"; }
END
rm -rf "$sources"
echo "passed"
