#!/usr/bin/env python3
"""Adds up the results of `bazel test` runs, from Bazel's own event files.

  tools/dev/test_results.py NAME:EXIT_STATUS:EVENT_FILE ...

EVENT_FILE is what --build_event_json_file wrote. Prints for every run what
failed, and as its last line `N passed, N failed` over all runs. A target that
does not build counts as failed, and so does a run that ended badly without
naming a target. The status is 0 if something passed and nothing failed.
"""

import json
import sys


def read_events(path):
    """The events of the file; a run that was cut short may break the last."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except OSError:
        return []
    events = []
    for line in lines:
        try:
            events.append(json.loads(line))
        except ValueError:
            break
    return events


class Run:
    """What one `bazel test` did: labels passed, and label -> why it failed."""

    def __init__(self, name, exit_status, events):
        self.name = name
        self.passed = set()
        self.flaky = set()
        self.failed = {}
        for event in events:
            self._take(event)
        self.passed -= set(self.failed)
        if exit_status != 0 and not self.failed:
            self.failed["(bazel)"] = (
                f"ended with status {exit_status} and no target to blame;"
                " see its messages above")
        elif exit_status == 0 and not self.passed and not self.failed:
            self.failed["(bazel)"] = "no test ran"

    def _take(self, event):
        name = event["id"]
        if "testSummary" in name and "testSummary" in event:
            label = name["testSummary"]["label"]
            status = event["testSummary"].get("overallStatus", "NO_STATUS")
            if status in ("PASSED", "FLAKY"):
                self.passed.add(label)
                if status == "FLAKY":
                    self.flaky.add(label)
            else:
                self.failed[label] = status
        elif "targetCompleted" in name:
            label = name["targetCompleted"]["label"]
            built = event.get("completed", {}).get("success", False)
            # Not for this platform is no failure.
            skipped = event.get("aborted", {}).get("reason") == "SKIPPED"
            if not built and not skipped:
                self.failed.setdefault(label, "FAILED TO BUILD")

    def describe(self):
        lines = [f"{self.name}: {len(self.passed)} passed,"
                 f" {len(self.failed)} failed"]
        lines += [f"  {label}: {why}"
                  for label, why in sorted(self.failed.items())]
        lines += [f"  {label}: passed, but not at its first attempt"
                  for label in sorted(self.flaky)]
        return "\n".join(lines)


def main(arguments):
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    runs = []
    for argument in arguments:
        name, exit_status, path = argument.split(":", 2)
        runs.append(Run(name, int(exit_status), read_events(path)))
    for run in runs:
        print(run.describe())
    passed = sum(len(run.passed) for run in runs)
    failed = sum(len(run.failed) for run in runs)
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
