#!/usr/bin/env bash
# //tools:compare, from its runfiles: kymo compare. In them, the folder of this
# repository has the name that the workspace has or gives it.
for kymo in "$0.runfiles"/*/tools/kymo; do
  [[ ! -x $kymo ]] || exec "$kymo" compare "$@"
done
echo "$0: no kymo in $0.runfiles; build //tools:compare" >&2
exit 1
