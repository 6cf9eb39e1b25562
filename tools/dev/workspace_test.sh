#!/usr/bin/env bash
# Runs a script of this folder on the real workspace, which the runfiles lead
# to: workspace_test.sh SCRIPT [ARGUMENT ...].
set -euo pipefail

script=$(readlink -f "$1")
exec python3 -B "$script" --root="$(dirname "$script")/../.." "${@:2}"
