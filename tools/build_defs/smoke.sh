#!/usr/bin/env bash
# Runs a benchmark for a moment, so that it does not rot: smoke.sh PROGRAM.
exec "$1" --benchmark_min_time=0.001
