#!/usr/bin/env bash
# What the strict writer wrote, Python's JSON reader reads back unchanged.
set -euo pipefail
cd "$(dirname "$0")"
./test_json_writer | python3 json_roundtrip_check.py
