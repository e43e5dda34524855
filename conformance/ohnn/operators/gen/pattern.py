"""Tensors whose elements follow from a seed, and checks that stand for large expected values: the compact form of a case.

    pattern   {seed, lo, hi, step?, real?} in the place of data. Element i is made of h, the output i of SplitMix64 from the state seed x 2^32:
              (lo + (h >> 33) mod (hi - lo + 1)) x step, or with real lo + (hi - lo) x (h >> 40) / 2^24 in float64, rounded to the element type
    check     {hash?, grid?, within?, hashes?, block?, sums?, slack?, sample?} in the place of an expected value's data
              hash    the first 16 digits of the SHA-256 of the elements' bytes: the result is exact
              grid    floats may be off by up to within from a multiple of it, which is what counts: algorithms like Winograd's round on the way
    hashes  the same for each way of rounding halves that the API leaves open, by its name
              sums    of each block of elements the sum of (1 + k/block) x element; slack: how far it may be off
              sample  [{at, value}], elements judged one by one
    sizes     {n: [check of each output]}: a case for each n, which stands for 0 in all dimensions; its name ends with _n

Data of exact cases are small integers, or such times a power of two, so that every order of addition gives the same float32.
"""

import hashlib
import json
import os
import sys
import zlib

import numpy as np

from case import F32, F64, T, numbers, tolerance
from numbers_ohnn import OPS, PARAMS

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../vectors"))
from patterns import elements, splitmix64  # noqa: E402

AFTER, BEFORE, EVEN, UP = WAYS = ("away from zero", "away from zero before the zero point is added", "to even", "up")


class P(T):
    """A tensor of the numbers lo to hi (times step), or of reals between them, that follow from the name."""

    def __init__(self, name, shape, lo, hi, dtype=F32, step=1, real=False, q=None, const=False, dyn=()):
        self.pattern = {"seed": zlib.crc32(name.encode()), "lo": lo, "hi": hi}
        if step != 1:
            self.pattern["step"] = step
        if real:
            self.pattern["real"] = True
        v = elements(self.pattern, int(np.prod(shape)))
        super().__init__(v.astype(dtype).reshape(shape), q=q, const=const, dyn=dyn)


def ints(name, shape, lo=-3, hi=3, dtype=F32, **more):
    return P(name, shape, lo, hi, dtype, **more)


def reals(name, shape, lo=-1, hi=1, dtype=F32, **more):
    return P(name, shape, lo, hi, dtype, real=True, **more)


class Real:
    """Expected values that a tolerance goes with: their float64 values, or codes that may be a step off."""

    def __init__(self, value, dtype=F32, q=None, dyn=()):
        self.value, self.exact, self.q, self.dyn, self.ways = np.asarray(value, F64).astype(dtype), False, q, dyn, None
        self.near = np.asarray(value, F64) if np.dtype(dtype).kind == "f" else self.value


class Exact:
    """Expected values without any tolerance, or multiples of grid."""

    def __init__(self, value, dtype=F32, q=None, dyn=(), grid=None):
        self.grid = grid
        v = np.asarray(value)
        self.value, self.exact, self.q, self.dyn, self.ways = v.astype(dtype), True, q, dyn, None
        assert (self.value.astype(v.dtype) == v).all(), "not exact"


def rounded(v, q, dtype, way):
    """The codes of the reals v, with halves rounded in one of WAYS."""
    info, zero, r = np.iinfo(dtype), q._spread(q.zero, np.ndim(v)), v / q._spread(q.scale, np.ndim(v))
    away = lambda x: np.trunc(x + np.copysign(0.5, x))
    code = {AFTER: lambda: away(r + zero), BEFORE: lambda: away(r) + zero, EVEN: lambda: np.rint(r + zero), UP: lambda: np.floor(r + zero + 0.5)}[way]()
    return np.clip(code, info.min, info.max).astype(dtype)


class Codes(Exact):
    """Codes of the reals v, exact but for the way in which halves are rounded."""

    def __init__(self, v, q, dtype, dyn=()):
        super().__init__(rounded(v, q, dtype, WAYS[0]), dtype, q, dyn)
        self.ways = {w: rounded(v, q, dtype, w) for w in WAYS}
        if all((x == self.value).all() for x in self.ways.values()):
            self.ways = None


def digits(a):
    a = np.asarray(a)
    if a.dtype.kind == "f":
        a = a + a.dtype.type(0)  # no -0
    return hashlib.sha256(np.ascontiguousarray(a).tobytes()).hexdigest()[:16]


def check(x, tol, whole=24, telling=True, terse=False):
    """The compact form of an expected value, None if its elements had better be written out."""
    n = x.value.size
    if n <= whole and not (x.exact and (x.ways or x.grid)):
        return None
    c = {}
    flat = x.value.astype(F64).ravel()
    assert n == 1 or not telling or flat.min() != flat.max(), "a constant result tells nothing"
    if x.exact:
        if x.ways:
            c["hashes"] = {w: digits(v) for w, v in x.ways.items()}
        else:
            c["hash"] = digits(x.value)
        if x.grid:
            c["grid"], c["within"] = x.grid, x.grid / 64
        block = -(-n // min(8 if n > 400 else 4, n))
        slack = np.zeros(n)
    else:
        block = 32 if n <= 4096 else 256 if n < 20000 else 2048
        slack = np.full(n, 1.0) if x.value.dtype.kind in "iu" else tol.get("abs", 1e-6) + tol.get("rel", 1e-5) * np.abs(flat)
        at = [n // 2] if terse else [0, n // 2, n - 1] if n <= 400 else sorted({0, n - 1, n // 2} | {int(h % np.uint64(n)) for h in splitmix64(n, 5)})
        c["sample"] = [{"at": i, "value": numbers(x.value.ravel()[i:i + 1])[0]} for i in at]
        flat = x.near.ravel().astype(F64)
    weight = 1 + np.arange(n) % block / block
    edges = np.arange(0, n, block)
    c["block"], sums = block, np.add.reduceat(flat * weight, edges)
    if x.ways or terse and x.exact:
        del c["block"]
        return c
    worst = float(np.add.reduceat(slack * weight, edges).max())
    c["sums"] = [float(f"{s:.{9 if x.exact else 7}g}") for s in sums] if not x.exact else [exact_number(s) for s in sums]
    if worst:
        c["slack"] = float(f"{worst + 1e-6 * float(np.abs(sums).max()):.2g}")
    return c


def exact_number(s):
    return int(s) if s == int(s) else float(s)


def tensor_json(t):
    """An input, constant or parameter."""
    d = {"type": str(t.value.dtype), "dims": [-1 if i in t.dyn else int(n) for i, n in enumerate(t.value.shape)]}
    if t.q:
        d["quant"] = quant_json(t.q)
    if t.param:
        d["param"] = t.param
    value = {"pattern": t.pattern} if isinstance(t, P) and t.value.size > 8 else {"data": numbers(t.value)}
    if t.const:
        return {**d, **value}
    return {**d, "feed": {"dims": [int(n) for n in t.value.shape], **value}}


def quant_json(q):
    return {"scale": [float(s) for s in q.scale], "zero": [int(z) for z in q.zero]}


def expect_json(x, tol):
    d = {"type": str(x.value.dtype), "dims": [-1 if i in x.dyn else int(n) for i, n in enumerate(x.value.shape)]}
    if x.q:
        d["quant"] = quant_json(x.q)
    c = check(x, tol)
    return {**d, "expect": {"dims": [int(n) for n in x.value.shape], **({"check": c} if c else {"data": numbers(x.value)})}}


class Folder:
    """Cases of a folder below cases, by operator."""

    def __init__(self, name, prefix):
        self.name, self.prefix, self.cases = name, prefix, {}

    def case(self, op, name, ins, outs, params=(), source="numpy", why=None, **tol):
        """Adds a case of one operation. outs are Exact, Real or Codes."""
        ins, outs, params = list(ins), list(outs), list(params)
        tol = {**({} if all(o.exact for o in outs) else tolerance(outs)), **tol}
        for o in outs:  # nothing comes out by itself
            for i in ins:
                assert i.value.shape != o.value.shape or i.value.size < 2 or not np.array_equal(i.value, o.value), (op, name)
        ts = ins + params
        c = {"name": self.prefix + name, "op": op, "tensors": [tensor_json(t) for t in ts] + [expect_json(o, tol) for o in outs]}
        c["in"], c["params"], c["out"] = list(range(len(ins))), list(range(len(ins), len(ts))), list(range(len(ts), len(ts) + len(outs)))
        c.update(tol)
        if why:
            c["why"] = why
        c["from"] = source
        self.put(op, c)

    def put(self, op, c):
        assert op in OPS, op
        for t in c["tensors"]:
            assert t.get("param") is None or t["param"] in PARAMS, t["param"]
        assert c["name"] not in [x["name"] for x in self.cases.setdefault(op, [])], (op, c["name"])
        self.cases[op].append(c)

    def sizes(self, op, name, counts, make, **tol):
        """Adds a case for each size n of counts; make(n) gives its inputs, outputs and parameters."""
        c = None
        for n in counts:
            ins, outs, params = make(n)
            tol = {**({} if all(o.exact for o in outs) else tolerance(outs)), **tol}
            if c is None:
                ts = ins + params
                c = {"name": self.prefix + name, "op": op, "tensors": [sized(tensor_json(t), n) for t in ts]}
                for o in outs:
                    t = sized(expect_json(o, tol), n)
                    t["expect"] = {"dims": t["expect"]["dims"]}
                    c["tensors"].append(t)
                c["in"], c["params"], c["out"] = list(range(len(ins))), list(range(len(ins), len(ts))), list(range(len(ts), len(ts) + len(outs)))
                c.update(tol)
                c["from"], c["sizes"] = "numpy", {}
            c["sizes"][str(n)] = [check(o, tol, whole=0, telling=n > 16, terse=n < 99) for o in outs]
        self.put(op, c)

    def write(self, cases):
        folder = os.path.join(cases, self.name)
        os.makedirs(folder, exist_ok=True)
        for f in os.listdir(folder):
            os.remove(os.path.join(folder, f))
        for op, cs in self.cases.items():
            with open(os.path.join(folder, op.lower() + ".json"), "w") as f:
                f.write("[\n" + ",\n".join(" " + json.dumps(c, separators=(",", ":")) for c in cs) + "\n]\n")
        return sum(len(c.get("sizes", [0])) for cs in self.cases.values() for c in cs)


def sized(t, n):
    """The tensor with 0 in the place of size n."""
    zero = lambda dims: [0 if d == n else d for d in dims]
    t["dims"] = zero(t["dims"])
    for k in ("feed", "expect"):
        if k in t:
            t[k]["dims"] = zero(t[k]["dims"])
    return t
