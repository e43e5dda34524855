"""What the scripts share whose models are written in NumPy: made-up values, and the list of cases.

A case is as in spatial.py. A model computes in float64 on real values; quantized results are held to one step, or to
the code itself where a case says "exact".
"""
import json
import os
import sys

import numpy as np

rng = np.random.default_rng(20241117)
cases = {}


def f32(*dims, lo=-1, hi=1):
    return np.round(rng.uniform(lo, hi, dims), 3).astype(np.float32)


def tensor(a, scale=None, zero=0):
    if a is None or isinstance(a, dict):
        return a
    a = np.asarray(a)
    flat = a.reshape(-1)
    values = [float(str(v)) for v in flat] if a.dtype.kind == "f" else [int(v) for v in flat]
    t = {"dtype": a.dtype.name, "dims": list(a.shape), "data": values}
    if scale is not None:
        t.update(scale=[float(np.float32(scale))], zero=[int(zero)], axis=0)
    return t


def codes(real, dtype, scale, zero=0):
    """The codes of real numbers: rounded half away from zero, cut to the type."""
    v = np.asarray(real, np.float64) / np.float64(np.float32(scale)) + zero
    info = np.iinfo(dtype)
    return np.clip(np.trunc(v + np.copysign(0.5, v)), info.min, info.max).astype(dtype)


def real(q, scale, zero=0):
    return (q.astype(np.float64) - zero) * np.float64(np.float32(scale))


def add(file, op, name, attrs, ins, outs, exact=False):
    case = {"name": name, "op": op, "attrs": attrs, "in": [tensor(a) for a in ins], "out": [tensor(a) for a in outs],
            "by": "numpy"}
    if exact:
        case["exact"] = True
    cases.setdefault(file, []).append(case)


def write():
    folder = os.path.join(sys.argv[1], "backends/cpu/ref/testdata")
    for file, listed in cases.items():
        with open(os.path.join(folder, file + ".json"), "w") as f:
            f.write("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in listed) + "\n]\n")
        print(file, len(listed))
