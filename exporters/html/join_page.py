"""Joins the page's modules into one script, and makes C++ of the page.

    join_page.py Page page.html style.css FIRST.js ... LAST.js > page_text.cc

Modules use `import` and `export`, so that `tsc` can check them. In the page
they share one scope, in the order given: imports go, and so does the word
`export`. Two modules cannot have the same name at their top level; the browser
would refuse the script, which tests in a browser notice.

The functions of page_text.h that begin with the first argument return it.
page.html has the places STYLE, POLICY, DATA and SCRIPT, as comments. The policy
lets the browser run this script and use this style, and nothing else.
"""

import base64
import hashlib
import re
import sys

DATA = "<!--DATA-->\n"


def joined(modules):
    parts = []
    for path in modules:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        text = re.sub(r"^import [^;]*;\n", "", text, flags=re.M)
        text = re.sub(r"^export (?=const|class|function|async)", "", text,
                      flags=re.M)
        if re.search(r"^(import|export)\b", text, flags=re.M):
            sys.exit(f"{path}: an import or export that this cannot join")
        parts.append(text)
    return '"use strict";\n{\n' + "".join(parts) + "}\n"


def digest(text):
    return "sha256-" + base64.b64encode(
        hashlib.sha256(text.encode()).digest()).decode()


def policy(script, style):
    return ("default-src 'none'; "
            f"script-src '{digest(script)}'; style-src '{digest(style)}'; "
            "base-uri 'none'; form-action 'none'")


def literal(text):
    """C++ of `text`, in pieces that every compiler takes."""
    pieces = [text[i:i + 8000] for i in range(0, len(text), 8000)]
    return "\n".join(f'R"KYMO({piece})KYMO"' for piece in pieces)


def main():
    name, page_path, style_path, *modules = sys.argv[1:]
    with open(page_path, encoding="utf-8") as file:
        page = file.read()
    with open(style_path, encoding="utf-8") as file:
        style = file.read()
    script = joined(modules)
    for text in (script, style):
        if "</" in re.sub(r"</(?!script|style)", "", text, flags=re.I):
            sys.exit("the script or style would end in the middle")
    page = page.replace("<!--STYLE-->", f"<style>{style}</style>")
    page = page.replace("<!--POLICY-->", policy(script, style))
    page = page.replace("<!--SCRIPT-->", f"<script>{script}</script>")
    before, after = page.split(DATA)
    print(f"""#include "exporters/html/page_text.h"

namespace kymo::html {{

std::string_view {name}BeforeData() {{
  static constexpr std::string_view kText =
{literal(before)};
  return kText;
}}

std::string_view {name}AfterData() {{
  static constexpr std::string_view kText =
{literal(after)};
  return kText;
}}

}}  // namespace kymo::html""")


if __name__ == "__main__":
    main()
