#!/usr/bin/env bash
# //tools:compare, from its runfiles: kymo compare.
exec "$0.runfiles/${TEST_WORKSPACE:-kymo}/tools/kymo" compare "$@"
