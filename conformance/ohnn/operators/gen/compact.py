"""Writes the cases in compact form (see pattern.py) into folders below cases: python compact.py ../cases."""

import sys

import size_elements  # noqa: F401
import size_products  # noqa: F401
import size_rows  # noqa: F401
from size_windows import SIZE

if __name__ == "__main__":
    for folder in (SIZE,):
        print(f"{folder.write(sys.argv[1])} cases in {folder.name}")
