#!/bin/sh
# backend_conformance_faults_test.sh TEST
#
# Gives the backend of backend_conformance_test a fault at a time, and fails if
# the test that looks for it does not.
status=0

check() {  # FAULT TEST
  if KYMO_TEST_FAULT="$1" "$program" --gtest_filter="*.$2/*" >log 2>&1; then
    echo "$2 did not see the fault '$1':"
    cat log
    status=1
  elif ! grep -q "FAILED.*$2" log; then
    echo "$2 did not end with the fault '$1':"
    cat log
    status=1
  fi
}

program=$PWD/$1
cd "$TEST_TMPDIR" || exit 1
check "unstable" DescribesItselfTheSameWayEachTime
check "setting" DeclaresItsSettings
check "stays live" AnyOrderOfCallsIsSafe
check "descriptor" LeavesNothingBehind
check "thread" LeavesNothingBehind
check "file" LeavesNothingBehind
check "unprepared" ASessionWithoutDescriptorsLeavesNothingEnabled
check "fork" AForkDisturbsNeitherParentNorChild
check "no reason" ASecondSessionWorksOrIsRefused
check "uncounted" WhatAFullBufferCannotTakeIsCounted
check "future" AllTimesAreInsideOfTheSession
exit $status
