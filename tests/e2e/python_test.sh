#!/usr/bin/env bash
# Runs the Python test whose path in the runfiles is $1.
exec python3 -B "$@"
