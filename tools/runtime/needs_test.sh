#!/usr/bin/env bash
# The preloaded runtimes need libc, its loader and nothing else.
set -euo pipefail
for runtime in "$@"; do
  needed=$(readelf -d "$runtime" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
  for library in $needed; do
    case "$library" in
      libc.so.* | ld-linux*) ;;
      *)
        echo "$runtime needs $library" >&2
        exit 1
        ;;
    esac
  done
done
