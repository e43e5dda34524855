#!/usr/bin/env python3
"""Writes backends/cpu/ref/testdata/{lsh_projection,tables/fingerprint64}.json: fingerprints by farmhash itself, and
projections from them.

usage: pip install numpy pyfarmhash; python hashes.py <repository>
"""
import json
import os
import struct
import sys

import farmhash
import numpy as np

from numpy_common import add, f32, rng, tensor, write


def signed(v):
    return v - (1 << 64) if v >> 63 else v


def project(seeds, x, weights, form):
    out = []
    for number, function in enumerate(seeds):
        bits = []
        for seed in function:
            score = 0.0
            for i, row in enumerate(x):
                key = struct.pack("<f", seed) + np.ascontiguousarray(row).tobytes()
                score += (1.0 if weights is None else float(weights[i])) * float(signed(farmhash.fingerprint64(key)))
            bits.append(int(score > 0))
        if form == 0:
            out += bits
            continue
        packed = int("".join(map(str, bits)) or "0", 2) + (number << len(bits) if form == 1 else 0)
        out.append((packed + (1 << 31)) % (1 << 32) - (1 << 31))
    return np.array(out, np.int32)


def projections():
    def case(name, functions, bits, x, weights=True, form=0, scale=None):
        seeds = f32(functions, bits, lo=-3, hi=3)
        w = f32(len(x)) if weights else None
        given = tensor(x, scale, 3) if scale else x
        add("lsh_projection", "lsh_projection", name, {"Form": form}, [seeds, given, w], [project(seeds, x, w, form)])

    whole = lambda t, *d: rng.integers(np.iinfo(t).min, np.iinfo(t).max, d, dtype=t, endpoint=True)
    for form, name in enumerate(("dense", "sparse", "plain")):
        case(name + " of int32", 4, 5, whole(np.int32, 6, 3), form=form)
        case(name + ", no weights", 4, 5, whole(np.int32, 6, 3), False, form)
        case(name + " of floats", 3, 8, f32(5, 7), form=form)
        case(name + " of 32 bits", 3, 32, whole(np.int32, 2, 1), False, form)
        case(name + ", no row", 3, 4, whole(np.int32, 0, 2), form=form)
        case(name + ", no bit", 3, 0, whole(np.int32, 2, 2), form=form)
    case("codes are bytes", 3, 8, whole(np.uint8, 6, 2, 2), scale=0.5)
    case("float16", 3, 8, f32(4, 3).astype(np.float16))
    case("a row of one number", 3, 8, whole(np.int64, 9))
    case("rows of 200 bytes", 3, 8, whole(np.int32, 3, 50))


def fingerprints(folder):
    data = bytes((i * i * 7 + i * 31 + 5) % 251 for i in range(300))
    table = [str(farmhash.fingerprint64(data[:n])) for n in range(len(data) + 1)]
    with open(os.path.join(folder, "fingerprint64.json"), "w") as f:
        json.dump(table, f, separators=(",", ":"))


if __name__ == "__main__":
    projections()
    write()
    target = os.path.join(sys.argv[1], "backends/cpu/ref/testdata/tables")
    os.makedirs(target, exist_ok=True)
    fingerprints(target)
