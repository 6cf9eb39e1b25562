"""The version of Kymo, for packages and what is in them."""

import re


def version_of(header):
    """"0.1.0" of kymo/version.h."""
    with open(header, encoding="utf-8") as file:
        text = file.read()
    numbers = [re.search(rf"^#define KYMO_VERSION_{part} (\d+)$", text, re.M)
               for part in ("MAJOR", "MINOR", "PATCH")]
    return ".".join(number[1] for number in numbers)
