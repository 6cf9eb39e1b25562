#!/usr/bin/env bash
# Makes the Python environment of a requirements file, once per user.
#
#   environment.sh path REQUIREMENTS   prints where it is, made or not
#   environment.sh make REQUIREMENTS   makes it, unless it is there
#
# It is below the user's cache folder, named after what is in the file, and
# there is either all of it or nothing. Where it cannot be made, PATH.failed
# says why and the status is still 0: only the tests that need it fail.
set -euo pipefail

usage() {
  echo "usage: environment.sh path|make REQUIREMENTS" >&2
  exit 2
}

[[ $# == 2 && -r $2 ]] || usage
command=$1
requirements=$2

# The system's Python, whatever else is on the user's PATH.
export PATH=/usr/local/bin:/usr/bin:/bin
python=$(command -v python3 || true)

key=$(cat "$requirements" <(readlink -f "$python") | sha256sum | cut -c1-16)
cache=${XDG_CACHE_HOME:-${HOME:-${TMPDIR:-/tmp}/kymo-$(id -u)}/.cache}
path=$cache/kymo/python/$key

# install FOLDER: an environment that holds the requirements and nothing else.
install() {
  "$python" -m venv "$1" &&
    env -u PYTHONPATH -u PYTHONHOME "$1/bin/python" -m pip \
      install --quiet --no-input --disable-pip-version-check --no-deps \
      --only-binary=:all: --retries=2 --requirement="$requirements"
}

make_environment() {
  mkdir -p "$cache/kymo/python"
  # One at a time; whoever waited finds it made.
  exec 9>"$path.lock"
  flock 9
  [[ -d $path ]] && return
  echo "bazelw: installing ${requirements##*/} from PyPI into $path" >&2
  local part=$path.part
  rm -rf "$part" "$path.failed"
  if install "$part" >"$path.log" 2>&1 </dev/null; then
    mv "$part" "$path"
    rm -f "$path.log"
  else
    rm -rf "$part"
    mv "$path.log" "$path.failed"
    echo "bazelw: that did not work; the tests that need it will fail, and" \
      "$path.failed says why" >&2
  fi
}

case $command in
  path) echo "$path" ;;
  make) [[ -d $path ]] || make_environment ;;
  *) usage ;;
esac
