#!/usr/bin/env python3
"""Measures how exact `kymo gate` and `kymo compare` are. By hand:

    tests/gate/how_exact.py gate     KYMO PLANTED --runs=500 --load=2
    tests/gate/how_exact.py compare  KYMO PLANTED --runs=20

PLANTED is //tests/gate:planted. `gate` counts the false alarms of a budget that
the same program wrote, while --load processes keep the machine busy. Then it
plants each regression. `compare` runs the same program against itself, and
against itself with 5 % more CPU time in one of its fifty operations, --runs
times each.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

PLANTED = ("call", "allocations", "peak", "blocking")
BUSY = "while True: pass"


def run(*words):
    done = subprocess.run([str(word) for word in words], check=False,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          text=True)
    return done.returncode, done.stdout, done.stderr


def gate(options, folder):
    budget = folder / "planted.budget.textproto"

    def hold(kind, *flags):
        return run(options.kymo, "gate", f"--budget={budget}",
                   f"--output_dir={folder}/out", *flags, "--",
                   options.planted, kind)

    status, _, err = hold("none", "--update")
    if status != 0:
        sys.exit(err)
    print(f"budget: {budget.read_text().count('line {')} lines\n{err}", end="")
    # Lines by their number: how often each was over the budget.
    over, advice, failed = collections.Counter(), collections.Counter(), 0
    for _ in range(options.runs):
        status, out, err = hold("none")
        failed += status not in (0, 4)
        if status not in (0, 4):
            print(err, end="")
        for line in out.splitlines():
            for name, counts in (("OVER", over), ("advice", advice)):
                if line.startswith(name):
                    counts[line.split(": ")[0].split()[-1] + line.split(
                        ": ")[0].partition("textproto")[2]] += 1
    print(f"{options.runs} runs of the same program, {failed} not measured")
    print(f"  blocking lines over the budget: {sum(over.values())} {dict(over)}")
    print(f"  runs with advice: {dict(advice)}")
    for kind in PLANTED:
        found = sum(hold(kind)[0] == 4 for _ in range(options.planted_runs))
        print(f"{kind}: found in {found} of {options.planted_runs}")


def changed_rows(text):
    """Table and name of the rows that changed, with how."""
    return {(row["table"], row["name"]): row["verdict"]
            for row in json.loads(text)["rows"]
            if row["verdict"] in ("slower", "faster", "more", "less", "new",
                                  "gone")}


def compare(options, folder):
    wrappers = {}
    for kind in ("none", "cpu"):
        wrappers[kind] = folder / kind
        wrappers[kind].write_text(
            f"#!/bin/sh\nexec {options.planted.resolve()} {kind} {options.rounds}\n")
        wrappers[kind].chmod(0o755)
    found = {"none": collections.Counter(), "cpu": collections.Counter()}
    alarms = collections.Counter()
    for done in range(1, options.runs + 1):
        for head in ("none", "cpu"):
            out = folder / "runs"
            status, _, err = run(options.kymo, "compare", "--runs=10",
                                 f"--output_dir={out}",
                                 wrappers["none"], wrappers[head])
            if status != 0:
                sys.exit(err)
            status, text, err = run(options.kymo, "report", "--diff",
                                    "--format=json",
                                    *sorted((out / "base").glob("*.json")),
                                    *sorted((out / "head").glob("*.json")))
            if status != 0:
                sys.exit(err)
            changed = changed_rows(text)
            for table in ("ranges", "steady"):
                is_found = changed.get((table, "operation 7")) == "slower"
                found[head][table] += is_found
                if is_found and head == "cpu":
                    del changed[table, "operation 7"]
            alarms[head] += bool(changed)
            print(f"{head} {done}: operation 7 slower in {dict(found[head])}, "
                  f"false alarms in {alarms[head]} {changed or ''}", flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=("gate", "compare"))
    parser.add_argument("kymo", type=pathlib.Path)
    parser.add_argument("planted", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--planted_runs", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--load", type=int, default=0)
    options = parser.parse_args()
    load = [subprocess.Popen([sys.executable, "-c", BUSY])
            for _ in range(options.load)]
    try:
        with tempfile.TemporaryDirectory() as folder:
            {"gate": gate, "compare": compare}[options.what](
                options, pathlib.Path(folder))
    finally:
        for process in load:
            process.kill()
            process.wait()


if __name__ == "__main__":
    main()
