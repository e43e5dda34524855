"""The command-line tool, as `anynpu` and `python -m anynpu`."""

import os
import sys

from ._library import prefix


def main():
    """Replaces this process by the tool, with the same arguments."""
    tool = os.path.join(prefix(), "bin", "anynpu")
    os.execv(tool, [tool] + sys.argv[1:])


if __name__ == "__main__":
    main()
