"""The command: python3 -m kymo report trace.json"""

import os
import signal
import sys

from kymo import _library


def main():
    program = os.path.join(_library.FOLDER, "../../bin/kymo")
    if not os.path.exists(program):
        sys.exit(f"there is no {os.path.normpath(program)}; install the whole "
                 "package again")
    # Python ignores these from its start on. The program that is recorded would
    # inherit that.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.execv(program, ["kymo", *sys.argv[1:]])


main()
