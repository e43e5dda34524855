"""Writes the cases in compact form (see pattern.py) into folders below cases: python compact.py ../cases."""

import sys

import pairs_movement  # noqa: F401
import pairs_others  # noqa: F401
import pairs_windows  # noqa: F401
import size_elements  # noqa: F401
import size_products  # noqa: F401
import size_rows  # noqa: F401
from codes import CODES
from pairs import PAIRS
from size_windows import SIZE

if __name__ == "__main__":
    for folder in (SIZE, PAIRS, CODES):
        print(f"{folder.write(sys.argv[1])} cases in {folder.name}")
