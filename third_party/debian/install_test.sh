#!/usr/bin/env bash
# install.sh against a package manager of the test's own: what is installed
# already, what a release calls differently, and what cannot be. And bazelw: for
# which commands it installs the packages of tests.
set -euo pipefail

script=$PWD/third_party/debian/install.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
mkdir "$scratch/bin"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# program NAME: a program of that name, whose text is read.
program() {
  { echo '#!/bin/bash'; cat; } >"$scratch/bin/$1"
  chmod +x "$scratch/bin/$1"
}

# This release has everything but `new`; `here` and `old-here` are installed.
program dpkg-query <<'END'
if [[ $1 == -S ]]; then
  [[ $2 == */debian/* ]] && echo "bazel-bootstrap: $2"
  exit
fi
for word in "$@"; do
  case $word in
    here | old-here) echo "installed $word" ;;
    removed) echo "config-files $word" ;;
  esac
done
exit 1
END
program apt-cache <<'END'
[[ $2 != new ]]
END
program apt-get <<'END'
echo "$*" >>"$APT_LOG"
[[ ! -e $APT_LOG.fails || $1 == update ]]
END
program sudo <<'END'
[[ $1 != -n ]] || shift
exec "$@"
END
export PATH=$scratch/bin:$PATH APT_LOG=$scratch/apt
: >"$APT_LOG"

printf '%s\n' '# here' here 'new-here | old-here' >"$scratch/there.txt"
"$script" "$scratch/there.txt" 2>"$scratch/said"
[[ ! -s $APT_LOG && ! -s $scratch/said ]] || fail "installed what is there"

printf '%s\n' here removed 'new | old' 'newer | older' >"$scratch/some.txt"
echo "another  # for some reason" >"$scratch/more.txt"
"$script" "$scratch/some.txt" "$scratch/more.txt" 2>"$scratch/said"
installed=$(sed -n 's/^install -y --no-install-recommends //p' "$APT_LOG")
[[ $installed == "removed old newer another" ]] || fail "installed: $installed"
[[ $(head -1 "$APT_LOG") == update ]] || fail "the names were not updated first"
grep -q "new or old" "$scratch/said" || fail "it does not say what it installs"

touch "$APT_LOG.fails"
if "$script" "$scratch/more.txt" 2>"$scratch/said"; then
  fail "what could not be installed was"
fi
grep -q "could not install" "$scratch/said" || fail "it gives no reason"

# Without root and sudo it says what to do.
program sudo <<'END'
exit 1
END
: >"$APT_LOG"
as_nobody=()
if ((EUID == 0)); then
  as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  cp "$script" "$scratch/install.sh"
  script=$scratch/install.sh
fi
if "${as_nobody[@]}" "$script" "$scratch/some.txt" </dev/null 2>"$scratch/said"; then
  fail "it passed without root"
fi
grep -qx "bazelw: run: apt-get install removed old newer" "$scratch/said" ||
  fail "it says: $(cat "$scratch/said")"
[[ ! -s $APT_LOG ]] || fail "it ran apt without root"

# bazelw takes the lists of tests where a command may build a test.
workspace=$scratch/workspace
mkdir -p "$workspace"/third_party/{debian,python}
cp "$PWD/bazelw" "$workspace"
printf '%s\n' '#!/bin/bash' 'echo "$@" >"${0%/*}/lists"; exit $INSTALL_STATUS' \
  >"$workspace/third_party/debian/install.sh"
printf '%s\n' '#!/bin/bash' >"$workspace/third_party/python/environment.sh"
chmod +x "$workspace"/third_party/*/*.sh

# lists WORD ...: the names of the lists that `bazelw WORD ...` installs.
lists() {
  BAZEL=true "$workspace/bazelw" "$@"
  tr ' ' '\n' <"$workspace/third_party/debian/lists" | sed 's|.*/||' | xargs
}
for words in "test //a" "build //..." "build -- //... -//x" "build //a:b_smoke" \
  "build -c opt -- //a:b_test" "coverage //a" "run //a:b_benchmark -- --x"; do
  [[ $(lists $words) == "build.txt tests.txt" ]] || fail "bazelw $words: no tests.txt"
done
for words in "build //a" "build -- //a:b" "run //a -- test //..." "query //a"; do
  [[ $(lists $words) == build.txt ]] || fail "bazelw $words: $(lists $words)"
done

# A Bazel of the user's own, if it is new enough, makes Debian's needless.
# bazel_of FOLDER TEXT: a Bazel there, whose --version is TEXT.
bazel_of() {
  mkdir -p "$scratch/$1"
  cat >"$scratch/$1/bazel" <<END
#!/bin/bash
if [[ \$1 == --version ]]; then echo "$2"; exit; fi
echo "\$USE_BAZEL_VERSION:\$*" >"$scratch/ran"
END
  chmod +x "$scratch/$1/bazel"
}
# with FOLDER: what `bazelw build //a` installs and runs with its Bazel.
with() {
  (
    unset BAZEL USE_BAZEL_VERSION
    rm -f "$scratch/ran"
    PATH=$scratch/$1:$PATH "$workspace/bazelw" build //a 2>"$scratch/said" || true
    tr ' ' '\n' <"$workspace/third_party/debian/lists" | sed 's|.*/||' | xargs
    sed "s|$workspace/||" "$scratch/ran" 2>/dev/null || true
  )
}
bazel_of own "Bazelisk version: 1
bazel 8.1.0"
bazel_of old "bazel 6.5.0"
bazel_of offline ""
bazel_of debian/4 "bazel no_version"
bazel_of debian/7 "bazel 7.7.1"
expect() {
  [[ $(with "$1") == "$2" ]] || fail "with $1: $(with "$1"); $(cat "$scratch/said")"
}
expect own $'build.txt\n7.7.1:build //a'
expect debian/4 $'bazel.txt build.txt\n:build //a'
expect debian/7 $'bazel.txt build.txt\n:--bazelrc=third_party/registry/debian.bazelrc build //a'
INSTALL_STATUS=1 expect old "bazel.txt build.txt"
grep -q "older than Bazel 7" "$scratch/said" || fail "it does not say why not"
INSTALL_STATUS=1 expect offline "bazel.txt build.txt"
grep -q "offline/bazel does not say its version" "$scratch/said" ||
  fail "it says: $(cat "$scratch/said")"
if BAZEL=/none/bazel "$workspace/bazelw" build //a 2>"$scratch/said"; then
  fail "it ran without a Bazel"
fi
grep -q "BAZEL is /none/bazel, which is no program" "$scratch/said" ||
  fail "it says: $(cat "$scratch/said")"

# The real lists have no name twice, and nothing but names.
lists=("$PWD"/third_party/debian/{bazel,build,tests,aarch64}.txt)
names=$(sed -e 's/#.*//' "${lists[@]}" | tr '|' '\n' | tr -d ' ' | sed '/^$/d')
[[ -z $(sort <<<"$names" | uniq -d) ]] || fail "twice: $(sort <<<"$names" | uniq -d)"
odd=$(grep -vxE '[a-z0-9][a-z0-9.+-]+' <<<"$names" || true)
[[ -z $odd ]] || fail "no package: $odd"
