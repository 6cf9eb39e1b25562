#!/usr/bin/env bash
# Runs a program on one CPU. How many threads share a work, and so what they
# allocate, is then the same on every machine.
set -euo pipefail

cpus=$(taskset -cp $$)
cpus=${cpus##* }
exec taskset -c "${cpus%%[,-]*}" "$@"
