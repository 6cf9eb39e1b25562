#!/usr/bin/env bash
# The preloaded runtime needs libc, its loader and nothing else.
set -euo pipefail
needed=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
echo "$needed"
for library in $needed; do
  case "$library" in
    libc.so.* | ld-linux*) ;;
    *)
      echo "needs $library" >&2
      exit 1
      ;;
  esac
done
