"""What documents say of the packages, and which documents these hold."""

import pathlib
import re
import subprocess
import unittest

import make_package

DEB, = pathlib.Path("packaging/deb").iterdir()
TREE = pathlib.Path("packaging/tree").resolve()
VERSION = make_package.version_of("profiler/api/version.h")
OS_RELEASE = pathlib.Path("/etc/os-release").read_text(encoding="utf-8")


class DocumentsTest(unittest.TestCase):

    def test_has_every_guide_that_its_files_name(self):
        guides = TREE / "share/doc/kymo/docs"
        named = {}
        for path in TREE.rglob("*"):
            if path.is_file() and not path.is_symlink():
                for name in re.findall(rb"docs/([\w-]+\.md)",
                                       path.read_bytes()):
                    named.setdefault(name.decode(), path)
        self.assertIn("on_demand.md", named)  # of a message
        self.assertIn("overhead.md", named)  # of a header
        for name, path in named.items():
            self.assertTrue((guides / name).exists(), f"{name}, in {path}")
        for guide in guides.iterdir():
            text = guide.read_text(encoding="utf-8")
            for name in re.findall(r"\]\((?!https?://)([\w./-]+\.\w+)\b", text):
                self.assertTrue((guides / name).exists(), f"{name}, in {guide}")
        text = (guides / "page.md").read_text(encoding="utf-8")
        self.assertIn("\n[Picture: ", text)
        self.assertIn(" [README.md of Kymo's sources]", text)

    @unittest.skipUnless('\nVERSION_ID="12"\n' in OS_RELEASE,
                         "another Debian's packages need other libraries")
    def test_documents_say_what_packages_of_debian_12_need(self):
        fields = subprocess.run(["dpkg-deb", "-f", DEB, "Depends"],
                                check=True, capture_output=True,
                                encoding="utf-8").stdout
        for document in "README.md", "packaging/README.md":
            text = " ".join(pathlib.Path(document).read_text(
                encoding="utf-8").split())
            glibc, gcc = re.search(r"glibc ([\d.]+\d)(?: and later,)? (?:and|with) "
                                   r"the C\+\+ library of GCC (\d+)",
                                   text).groups()
            self.assertEqual(fields.strip(), f"libc6 (>= {glibc}), libgcc-s1, "
                             f"libstdc++6 (>= {gcc})", document)

    def test_newest_version_of_the_changelog_is_that_of_the_header(self):
        text = (TREE / "share/doc/kymo/CHANGELOG.md").read_text(
            encoding="utf-8")
        self.assertEqual(re.search(r"^## ([\d.]+)", text, re.M)[1], VERSION)


if __name__ == "__main__":
    unittest.main()
