#!/usr/bin/env bash
# Installs the Debian packages of one or more lists, unless they are there.
#
#   install.sh LIST ...
#
# A line of a list is a package, or several names of one, `new | old`: any of
# them will do, and the first that this release has is installed. Installing
# takes root or sudo; where it cannot be, this names what is missing and ends
# with 1. Where packages are not dpkg's, it does nothing: the user has brought
# the libraries some other way, and the build says what is missing.
set -euo pipefail

(($#)) || { echo "usage: install.sh LIST ..." >&2; exit 2; }
command -v dpkg-query >/dev/null || exit 0

mapfile -t lines < <(sed -e 's/#.*//' -e 's/[[:space:]]//g' -e '/^$/d' "$@")
mapfile -t all < <(printf '%s\n' "${lines[@]}" | tr '|' '\n')
# Its status is 1 where it knows none of a package.
installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' \
  "${all[@]}" 2>/dev/null || true)

is_installed() {
  [[ $'\n'$installed$'\n' == *$'\n'"installed $1"$'\n'* ]]
}

missing=()
for line in "${lines[@]}"; do
  for name in ${line//|/ }; do
    is_installed "$name" && continue 2
  done
  missing+=("$line")
done
((${#missing[@]})) || exit 0

# names LINE ...: of each line the first name that this release has. If it has
# none of them, prints the last one, so that apt's error names the package.
names() {
  local line name
  for line in "$@"; do
    for name in ${line//|/ }; do
      if apt-cache show "$name" >/dev/null 2>&1; then break; fi
    done
    echo "$name"
  done
}

as_root=()
if ((EUID != 0)); then
  if ! sudo -n true 2>/dev/null && ! { [[ -t 0 ]] && command -v sudo >/dev/null; }; then
    mapfile -t packages < <(names "${missing[@]}")
    echo "bazelw: these Debian packages are missing, and installing them" \
      "needs root: ${packages[*]}" >&2
    echo "bazelw: run: apt-get install ${packages[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Which names there are is known after the update.
install_missing() {
  "${as_root[@]}" apt-get update || return
  mapfile -t packages < <(names "${missing[@]}")
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends "${packages[@]}"
}

echo "bazelw: installing ${missing[*]//|/ or }" >&2
if ! install_missing >"$log" 2>&1 </dev/null; then
  cat "$log" >&2
  echo "bazelw: could not install the packages; the log stands above" >&2
  exit 1
fi
