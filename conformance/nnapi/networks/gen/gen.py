#!/usr/bin/env python3
"""Writes random networks in NNAPI's terms with inputs and expected outputs: python gen.py 300 ../random.jsonl.gz (see
requirements.txt of the operations).

A line is one network: {name, operands, operations: [{op, in, out}], in, out}. Operands are those of the operations'
cases (../../operations/gen/case.py). Inputs have values, constants and scalars too; outputs have what is expected.
"""
import gzip
import json
import sys

from network import Network, Unfit
from steps import STEPS

IMAGES = [(1, 6, 5, 3), (1, 4, 4, 8), (2, 5, 4, 2), (1, 8, 6, 4), (1, 3, 3, 16), (1, 7, 3, 6)]
OTHERS = [(3, 8), (4, 5), (1, 12), (2, 3, 4), (1, 5, 6)]
MIXES = [("F32",), ("F32",), ("F32", "I32"), ("F16",), ("F16", "F32"), ("Q8",), ("Q8S",), ("Q8", "F32"), ("Q8S", "F32"),
         ("I32", "F32"), ("Q8", "Q8S", "F32")]
MOST = 30  # operations


def build(seed):
    n = Network(seed)
    n.limit = int(n.rng.integers(6, MOST + 1))
    types = n.pick(*MIXES)
    for k in range(int(n.rng.integers(1, 4))):
        n.input(types[k % len(types)], n.pick(*IMAGES) if k == 0 or n.chance(0.4) else n.pick(*OTHERS))
    for _ in range(40 * n.limit):
        if len(n.operations) == n.limit:
            break
        try:
            n.pick(*STEPS)(n)
        except Unfit:
            pass
    return n if len(n.operations) == n.limit else None


def make(count):
    out, seed = [], 0
    while len(out) < count:
        seed += 1
        n = build(seed)
        network = n and n.json(f"random{len(out) + 1:03d}")
        if network:
            out.append(network)
    return out


if __name__ == "__main__":
    networks = make(int(sys.argv[1]))
    text = "".join(json.dumps(n, separators=(",", ":")) + "\n" for n in networks)
    with open(sys.argv[2], "wb") as f, gzip.GzipFile("", "wb", 9, f, mtime=0) as z:
        z.write(text.encode())
    ops = {o["op"] for n in networks for o in n["operations"]}
    print(f"{len(networks)} networks, {sum(len(n['operations']) for n in networks)} operations of {len(ops)} kinds")
