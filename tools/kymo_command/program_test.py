"""The program `kymo`: which command its first word is, and its manuals."""

import os
import pathlib
import subprocess
import tempfile
import unittest


def run(variable, *words):
    """Status, standard output and standard error of a program."""
    done = subprocess.run([os.path.abspath(os.environ[variable]), *words],
                          stdin=subprocess.DEVNULL, capture_output=True,
                          check=False, text=True)
    return done.returncode, done.stdout, done.stderr


def kymo(*words):
    return run("KYMO", *words)


class ProgramTest(unittest.TestCase):

    def test_version_is_that_of_both_commands(self):
        version = kymo("--version")
        self.assertRegex(version[1], r"^kymo [0-9.]+\n$")
        self.assertEqual(version, (0, version[1], ""))
        self.assertEqual(kymo("profile", "--version"), version)
        self.assertEqual(kymo("report", "--version"), version)
        self.assertEqual(kymo("-v"), version)
        self.assertEqual(kymo("version"), version)

    def test_each_command_has_its_manual(self):
        status, page, err = kymo("--help")
        self.assertEqual((status, err), (0, ""))
        self.assertTrue(page.startswith("NAME\n    kymo - "), page)
        for part in ("\nSYNOPSIS\n", "    --version\n", "\nCOMMANDS\n"):
            self.assertIn(part, page)
        self.assertEqual(kymo("-h"), (0, page, ""))
        for command in ("profile", "report", "gate", "compare"):
            status, page, _ = kymo(command, "--help")
            self.assertEqual(status, 0)
            self.assertTrue(
                page.startswith(f"NAME\n    kymo {command} - "), page)

    def test_help_is_the_manual_of_a_command(self):
        for words in ([], ["help"], ["version"], ["--help"]):
            self.assertEqual(kymo("help", *words), kymo("--help"))
        for command in ("profile", "report", "gate", "compare"):
            self.assertEqual(kymo("help", command), kymo(command, "--help"))
        self.assertEqual(kymo("help", "report", "all"),
                         kymo("report", "--help=all"))
        self.assertEqual(
            kymo("help", "weather"),
            (2, "", "kymo: there is no command 'weather'; it is one of: "
                    "profile, report, gate, compare\n"))

    def test_flags_alone_are_those_of_profile(self):
        self.assertEqual(kymo("--list"), kymo("profile", "--list"))
        for words in (["--quiet"], ["--"], ["-x"], ["--no-such-flag", "true"]):
            status, out, err = kymo(*words)
            self.assertEqual((status, out), (2, ""))
            self.assertEqual((status, out, err), kymo("profile", *words))

    def test_other_first_words_are_usage_errors(self):
        self.assertEqual(
            kymo(),
            (2, "", "kymo: no command; to record a program: "
                    "kymo -- PROGRAM (see kymo --help)\n"))
        for word in ("weather", "profiles", "Report", ""):
            self.assertEqual(
                kymo(word, "--version"),
                (2, "", f"kymo: there is no command '{word}'; to record a "
                        f"program of that name: kymo -- {word} "
                        "(see kymo --help)\n"))


class ManualsTest(unittest.TestCase):

    def test_all_files_are_written(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(run("KYMO_WRITE_MANUALS", folder), (0, "", ""))
            texts = {path.name: path.read_text(encoding="utf-8")
                     for path in pathlib.Path(folder).iterdir()}
        self.assertEqual(sorted(texts), ["_kymo", "kymo-compare.1",
                                         "kymo-gate.1", "kymo-profile.1",
                                         "kymo-report.1", "kymo.1",
                                         "kymo.bash", "kymo.fish"])
        for name in ("kymo", "kymo-profile", "kymo-report", "kymo-gate",
                     "kymo-compare"):
            title = name.upper().replace("-", "\\-")
            self.assertIn(f'.TH {title} 1 "" "kymo ', texts[name + ".1"])
        # Flags of plugins are those of the command that takes them.
        self.assertIn("sampling_hz", texts["kymo-profile.1"])
        self.assertNotIn("sampling_hz", texts["kymo-report.1"])
        self.assertIn("nvprof_", texts["kymo-report.1"])
        self.assertIn("--sampling_hz", texts["kymo.bash"])
        self.assertIn("--sampling_hz=[", texts["_kymo"])
        self.assertIn(" -l sampling_hz -r ", texts["kymo.fish"])

    def test_bash_completes_flags_of_all_commands(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(run("KYMO_WRITE_MANUALS", folder), (0, "", ""))

            def complete(*words):
                command = ('source "$1/kymo.bash"; shift; COMP_WORDS=("$@"); '
                           'COMP_CWORD=$(($# - 1)); _kymo; '
                           'printf "%s\\n" "${COMPREPLY[@]}"')
                done = subprocess.run(
                    ["bash", "-c", command, "bash", folder, "kymo", *words],
                    capture_output=True, encoding="utf-8", check=True,
                    cwd=folder)
                self.assertEqual(done.stderr, "")
                return done.stdout.split()

            self.assertEqual(complete("gate", "--bud"), ["--budget="])
            self.assertEqual(complete("compare", "--run"), ["--runs="])
            self.assertEqual(complete("report", "a.raw", "--che"), ["--check"])
            self.assertEqual(complete("help", "rep"), ["report"])
            self.assertEqual(complete("ver"), ["version"])
            # Words that a flag takes.
            for words in (["--format", "=", "cs"], ["--format", "cs"]):
                self.assertEqual(complete("report", *words), ["csv"])
            self.assertEqual(complete("report", "--format", "="),
                             ["text", "csv", "json", "markdown"])
            self.assertEqual(complete("--sampling_unwind", "=", "dw"),
                             ["dwarf"])
            self.assertEqual(complete("--stacks_formats", "=", "folded,pp"),
                             ["folded,pprof"])
            self.assertEqual(complete("--output_dir", "=", "--"), [])
            # Behind -- stands a program with flags of its own, and behind the
            # flags of the others stand files.
            self.assertIn("false", complete("gate", "--", "fals"))
            self.assertEqual(complete("gate", "--", "false", "--bud"), [])
            self.assertEqual(complete("gate", "fals"), [])
            self.assertEqual(complete("compare", "base", "--run"), [])
            self.assertEqual(complete("compare", "--runs", "3", "fals"), [])

    def test_what_cannot_be_written_is_said(self):
        self.assertEqual(
            run("KYMO_WRITE_MANUALS", "/no/folder"),
            (1, "", "could not write /no/folder/kymo.1\n"))
        for words in ([], ["a", "b"]):
            self.assertEqual(run("KYMO_WRITE_MANUALS", *words),
                             (2, "", "usage: write_manuals FOLDER\n"))


if __name__ == "__main__":
    unittest.main()
