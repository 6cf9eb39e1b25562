#!/usr/bin/env bash
# The page's script draws and answers the mouse.
set -euo pipefail
cd "$(dirname "$0")"
./test_sample_page "$TEST_TMPDIR/out"
if ! command -v node >/dev/null; then
  echo "SKIPPED: node is not installed; the script was not run" >&2
  exit 0
fi
node page_check.js "$TEST_TMPDIR/out/memory_timeline.html"
