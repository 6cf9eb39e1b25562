#!/usr/bin/env python3
"""Counts how many mistakes in a folder its tests see; mutate.sh explains it.

universalmutator makes the mistakes, by the rules of mutate.rules; here they
are drawn, tried and counted.
"""

import argparse
import collections
import contextlib
import difflib
import hashlib
import io
import os
import pathlib
import random
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# Whether the tests saw it, from Bazel's exit status.
# https://bazel.build/run/scripts#exit-codes
OUTCOMES = {0: "SURVIVED", 1: "does not compile", 3: "caught"}

# Where the tests stand of files that no test of their folder builds. Of other
# folders the folders below are tried, then the one above.
TESTED_BY = {
    "backends/itt/target": ["backends/itt", "tests/nvtx"],
    "backends/memory/target": ["backends/memory", "tests/reliability"],
    "backends/nvtx/target": ["backends/nvtx", "tests/nvtx"],
    "backends/stream": ["backends/cpu", "backends/nvtx", "tests/nvtx"],
    "profiler/api": ["profiler/library", "profiler/callbacks"],
    "tools/profile_command": ["tests/e2e"],
    "tools/report_command": ["tools/kymo_command", "tests/e2e"],
}

Mutant = collections.namedtuple("Mutant", "file line before after")


def is_tested_code(name):
    """Whether mistakes go into the file: not into tests and benchmarks."""
    stem, extension = os.path.splitext(os.path.basename(name))
    return (extension in (".cc", ".h") and not stem.startswith("test_") and
            not stem.endswith(("_test", "_benchmark")))


def mutants_of(file, lines):
    """All mistakes that the rules can make in the lines of a file."""
    # pylint: disable=import-outside-toplevel
    from universalmutator import mutator
    with contextlib.redirect_stdout(io.StringIO()) as said:
        made = mutator.mutants_regexp(lines, [str(HERE / "mutate.rules")],
                                      ignorePatterns=[], ignoreStringOnly=True)
    if "WARNING" in said.getvalue() or "SKIPPING" in said.getvalue():
        raise SystemExit(f"mutate.py: {file}: {said.getvalue()}")
    return [Mutant(file, number, lines[number - 1], after)
            for number, after, *_ in made]


def read_without_effect(text):
    """The set of (file, line, line with the mistake) that are not drawn."""
    known = set()
    for row in text.splitlines():
        if row.strip() and not row.startswith("#"):
            fields = [field.strip() for field in row.split(" | ")]
            if len(fields) != 4 or not all(fields):
                raise SystemExit("mutate.py: mutants_without_effect.txt: "
                                 f"not `FILE | line | line | why`: {row}")
            known.add(tuple(fields[:3]))
    return known


def draw(mutants, without_effect, sample, seed):
    """In random order, so that a larger sample begins with the smaller one.

    Yields more than `sample`, since some do not compile.
    """
    candidates = [m for m in sorted(mutants)
                  if (m.file, m.before.strip(), m.after.strip())
                  not in without_effect]
    random.Random(seed).shuffle(candidates)
    return candidates[:4 * sample]


def copy_workspace(target):
    """Makes the copy like the workspace, touching only files that differ."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    names = [name for name in os.fsdecode(listed).split("\0") if name]
    if (ROOT / "user.bazelrc").exists():
        names.append("user.bazelrc")
    wanted = {name for name in names if os.path.lexists(ROOT / name)}
    for folder, folders, files in os.walk(target):
        folders[:] = [f for f in folders if not f.startswith("bazel-")]
        for file in files:
            path = os.path.join(folder, file)
            if os.path.relpath(path, target) not in wanted:
                os.unlink(path)
    for name in wanted:
        source, copy = ROOT / name, target / name
        content = source.read_bytes()
        if not copy.exists() or copy.read_bytes() != content:
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, copy)


def bazel(tree, *arguments):
    return subprocess.run([os.environ.get("BAZEL", "bazel"), *arguments],
                          cwd=tree, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, errors="replace", check=False)


def run_tests(tree, tests):
    # A mistake that makes a test run forever is caught after a minute. The disk
    # cache gives back what was built and tested without a mistake.
    return bazel(tree, "test", "--noshow_progress", "--color=no", "--curses=no",
                 "--test_output=summary", "--nokeep_going",
                 "--notest_keep_going", "--build_tests_only",
                 f"--disk_cache={tree}.disk", "--test_timeout=60", *tests)


def outcome_of(status, output):
    """What became of a mistake; None if Bazel could not say.

    Tests whose results are all known had nothing to run: the compiler made the
    same code of the mistake.
    """
    if status == 0 and "Executed 0 out of " in output:
        return "same code"
    return OUTCOMES.get(status)


def query(tree, expression):
    found = bazel(tree, "query", "--noshow_progress", expression)
    if found.returncode:
        raise SystemExit(f"mutate.py: {found.stderr}")
    return found.stdout.split()


class NearestTests:
    """The tests for a file: those of its folder that build it.

    Smoke tests of benchmarks are left out: they take seconds and check nothing
    but that the benchmark runs.
    """

    def __init__(self, run_query):
        self._query = run_query
        self._known = {}

    def of(self, file):
        folder = os.path.dirname(file)
        elsewhere = [f"//{n}:all" for n in TESTED_BY.get(folder, [])]
        for packages in ([f"//{folder}:all"], elsewhere, [f"//{folder}/..."],
                         [f"//{os.path.dirname(folder)}:all"]):
            tests = [t for package in packages
                     for t in self._builders(package).get(file, [])]
            if tests:
                return tests
        return []

    def _builders(self, package):
        """By source file: the tests of a package that build it."""
        if package not in self._known:
            builders = collections.defaultdict(list)
            for test in self._query(
                    f'attr(tags, "^((?!manual|benchmark).)*$", '
                    f'tests({package}))'):
                for label in self._query(f'kind("source file", deps({test}) '
                                         'except deps(//third_party/...))'):
                    builders[label.removeprefix("//").replace(":", "/")
                             ].append(test)
            self._known[package] = builders
        return self._known[package]


def try_mutant(tree, mutant, lines, tests):
    """What became of it. A mistake in a file that no test builds survives."""
    if not tests:
        return "SURVIVED"
    changed = list(lines)
    changed[mutant.line - 1] = mutant.after
    path = tree / mutant.file
    path.write_text("".join(changed), encoding="utf-8")
    try:
        ran = run_tests(tree, tests)
    finally:
        path.write_text("".join(lines), encoding="utf-8")
    outcome = outcome_of(ran.returncode, ran.stdout + ran.stderr)
    if outcome is None:
        raise SystemExit(f"mutate.py: bazel ended with status {ran.returncode}")
    return outcome


def difference(mutant, lines):
    changed = list(lines)
    changed[mutant.line - 1] = mutant.after
    return "".join(difflib.unified_diff(lines, changed, mutant.file,
                                        mutant.file, n=2))


def parse(arguments):
    parser = argparse.ArgumentParser(prog="mutate.sh", allow_abbrev=False)
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--sample", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tests", default="")
    options = parser.parse_args(arguments)
    options.folders = [os.path.relpath(folder.rstrip("/"), ROOT)
                       if os.path.isabs(folder) else folder.rstrip("/")
                       for folder in options.folders]
    for folder in options.folders:
        if not (ROOT / folder.removesuffix("/...")).is_dir():
            parser.error(f"{folder} is no folder of the workspace")
    if options.sample < 1:
        parser.error("--sample is at least 1")
    return options


def files_of(folder):
    """The files of a folder; with `/...` behind it, also of those below."""
    top = ROOT / folder.removesuffix("/...")
    below = top.rglob("*") if folder.endswith("/...") else top.iterdir()
    return [path for path in sorted(below)
            if path.is_file() and is_tested_code(path.name)]


def main(arguments):
    options = parse(arguments)
    files = {str(path.relative_to(ROOT)):
             path.read_text(encoding="utf-8").splitlines(keepends=True)
             for folder in options.folders for path in files_of(folder)}
    mutants = [m for name, lines in files.items()
               for m in mutants_of(name, lines)]
    without_effect = read_without_effect(
        (HERE / "mutants_without_effect.txt").read_text(encoding="utf-8"))
    drawn = draw(mutants, without_effect, options.sample, options.seed)
    print(f"{len(mutants)} mistakes can be made in {len(files)} files",
          flush=True)

    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    name = hashlib.sha256(str(ROOT).encode()).hexdigest()[:16]
    tree = pathlib.Path(cache) / "kymo" / "mutate" / name
    tree.mkdir(parents=True, exist_ok=True)
    copy_workspace(tree)
    nearest = NearestTests(lambda expression: query(tree, expression))
    passed = set()
    counts = collections.Counter()
    survivors = []
    for mutant in drawn:
        if counts["caught"] + counts["SURVIVED"] == options.sample:
            break
        tests = (options.tests.split(",") if options.tests
                 else nearest.of(mutant.file))
        if not passed.issuperset(tests):
            clean = run_tests(tree, tests)
            if clean.returncode:
                raise SystemExit("mutate.py: the tests fail without any "
                                 f"mistake:\n{clean.stdout}{clean.stderr}")
            passed.update(tests)
        outcome = try_mutant(tree, mutant, files[mutant.file], tests)
        counts[outcome] += 1
        if outcome == "SURVIVED":
            survivors.append(mutant)
        print(f"{outcome:16}  {mutant.file}:{mutant.line}: "
              f"{mutant.before.strip()}  ==>  {mutant.after.strip()}",
              flush=True)

    for mutant in survivors:
        print("\n" + difference(mutant, files[mutant.file]), end="")
    count = counts["caught"] + counts["SURVIVED"]
    share = 100 * counts["caught"] / count if count else 0
    print(f"\n{counts['caught']} of {count} caught ({share:.0f} %); "
          f"{counts['does not compile']} did not compile, "
          f"{counts['same code']} gave the same code")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
