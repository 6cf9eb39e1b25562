#!/usr/bin/env bash
# What the strict writer wrote, Python's JSON reader reads back unchanged.
set -euo pipefail
cd "$(dirname "$0")"
./json_roundtrip_writer | python3 json_roundtrip_check.py
