"""Writes all OH_NN conformance cases and the table of operators: python gen.py ../cases (see requirements.txt)."""

import os
import sys

import binary  # noqa: F401
import defaults  # noqa: F401
import elementwise  # noqa: F401
import indexing  # noqa: F401
import mixed  # noqa: F401
import movement  # noqa: F401
import network  # noqa: F401
import parameters  # noqa: F401
import reduction  # noqa: F401
import spatial  # noqa: F401
import types_elementwise  # noqa: F401
import types_movement  # noqa: F401
import types_network  # noqa: F401
import edges  # noqa: F401
import near
import operators
import rejects_add
import rejects_extremes
import rejects_pairs
import rejects_types
import rejects_values
import runtime
from case import CASES, write
from numbers_ohnn import OPS

if __name__ == "__main__":
    n = write(sys.argv[1])
    missing = sorted(set(OPS) - set(CASES))
    print(f"{n} cases for {len(CASES)} of {len(OPS)} operators", *missing)
    for rejects in (rejects_add, rejects_types, rejects_values, rejects_extremes, rejects_pairs, runtime):
        rejects.make()
    print(f"{near.write(os.path.join(sys.argv[1], 'near'))} cases beside them")
    operators.write(os.path.join(sys.argv[1], "..", "operators.json"))
