"""Covering arrays: the cases of an operator in which every two values of two parameters meet at least once."""

import itertools
import zlib

import numpy as np

from pattern import Folder

PAIRS = Folder("pairs", "pair_")


def all_pairs(name, factors, valid=lambda **c: True):
    """Combinations of the factors {name: values} so that every pair of values of two factors is in one of them, if a valid one has it. Values
    are named by their places, so that they need not be hashable."""
    g = np.random.default_rng(zlib.crc32(name.encode()))
    keys = list(factors)
    value = lambda c: {k: factors[k][i] for k, i in zip(keys, c)}
    todo = {(a, i, b, j) for a, b in itertools.combinations(range(len(keys)), 2) for i in range(len(factors[keys[a]])) for j in range(len(factors[keys[b]]))}
    pairs = lambda c: {(a, c[a], b, c[b]) for a, b in itertools.combinations(range(len(keys)), 2)}
    while todo:
        a, i, b, j = min(todo)
        best, most = None, 0
        for _ in range(300):
            c = [int(g.integers(len(factors[k]))) for k in keys]
            c[a], c[b] = i, j
            if valid(**value(c)):
                n = len(pairs(c) & todo)
                if n > most:
                    best, most = c, n
        if best is None:  # no valid combination has the pair
            todo.discard((a, i, b, j))
            continue
        todo -= pairs(best)
        yield "_".join(map(str, best)), value(best)
