#!/usr/bin/env python3
"""Writes the cases of NNAPI's operations: python gen.py ../cases (see requirements.txt)."""
import sys

import binary
import control
import detection
import elementwise
import movement
import recurrent
import reductions
import spatial
from case import CASES, seeds, write

FAMILIES = [elementwise, binary, movement, spatial, reductions, detection, recurrent, control]

if __name__ == "__main__":
    for number, family in enumerate(FAMILIES):
        seeds.last = 10000 * (number + 1)
        family.make()
    n = write(sys.argv[1])
    print(f"{n} cases of {len(CASES)} operations")
