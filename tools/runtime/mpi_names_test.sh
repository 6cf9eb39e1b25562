#!/usr/bin/env bash
# libkymo_mpi.so exports the functions that measure clocks, and has frames of
# them: they end with a return, not with a jump.
set -euo pipefail
for name in AfterInit BeforeFinalize; do
  symbol=$(readelf --dyn-syms --wide "$1" |
           grep -oE "_ZN4kymo3mpi[0-9]+${name}[A-Za-z]*" | sort -u)
  objdump -d --disassemble="$symbol" "$1" | grep -q '\bret' ||
    { echo "$name ends with a jump" >&2; exit 1; }
  if objdump -d --disassemble="$symbol" "$1" |
     grep -E 'jmp .*@plt|jmp .*<_Z' | grep -vF "<$symbol"; then
    echo "$name ends with a jump" >&2
    exit 1
  fi
done
