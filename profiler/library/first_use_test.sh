#!/usr/bin/env bash
# A thread that first uses a function's static variable locks it. A child that
# another thread forks meanwhile keeps it locked, and a session of its own would
# wait for ever. So what sessions use is made before main(), by each thread for
# itself, by each caller anew, or by whoever comes first while nobody waits.
#
# Exceptions: the first three are made before main(). CallbackThread is of one
# thread, which cannot fork meanwhile. Tools of NVTX and ITT are loaded once, and
# have locks of their own. AllowOnDemand() lets only one thread in. A Profile
# without results shows NoEvents(). The last two are used for other processes.
set -euo pipefail
known='StepTracker::Process|Process[(][)]::registered|FlopsRegistry::Process'
known+='|CallbackThread::Get|GetNvtxClient|GetIttClient|itt::.*TheGlobal'
known+='|AllowOnDemand|NoEvents|FirstAnchor|TheReader'
symbols=$(nm -C "$1")
grep -q 'kymo::Profile::Start' <<< "$symbols" || {
  echo "$1 has no symbols of sessions" >&2
  exit 1
}
found=$(sed -n 's/.*guard variable for kymo::/kymo::/p' <<< "$symbols" |
  grep -Ev "$known" || true)
if [[ -n $found ]]; then
  echo "a forked child may wait for these for ever:" >&2
  echo "$found" >&2
  exit 1
fi
