#!/usr/bin/env bash
# Checks the includes of the real workspace, which the runfiles lead to.
set -euo pipefail

script=$(readlink -f "$1")
exec python3 "$script" --root="$(dirname "$script")/../.."
