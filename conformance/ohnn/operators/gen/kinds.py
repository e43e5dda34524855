"""Data of every element type, its extremes included, and cases that judge an operator in one of them, with known and with open dimensions.

Integers are computed in Python's unbounded integers and wrapped to their type, floats in float64, quantized data as reals. check_types.py compares
plain data with ONNX Runtime.
"""

import numpy as np

from case import BOOL, F16, F32, F64, I8, I16, I32, I64, U8, Q, T, case, rng

U16, U32, U64 = np.uint16, np.uint32, np.uint64
SIGNED, UNSIGNED, FLOATS = (I8, I16, I32, I64), (U8, U16, U32, U64), (F16, F32, F64)
INTEGERS = SIGNED + UNSIGNED


class Kind:
    """An element type, plain or quantized."""

    def __init__(self, dtype, quantized=False):
        self.dtype, self.quantized = np.dtype(dtype), quantized
        self.name = f"type_{self.dtype}" + ("_quantized" if quantized else "")
        self.integer = self.dtype.kind in "iu" and not quantized
        self.float = self.dtype.kind == "f"
        self.bool = self.dtype.kind == "b"
        self.real = self.float or quantized


QUANTIZED = [Kind(I8, True), Kind(U8, True)]
REALS = [Kind(d) for d in FLOATS] + QUANTIZED
NUMBERS = [Kind(d) for d in INTEGERS] + REALS
SIGNED_NUMBERS = [Kind(d) for d in SIGNED] + REALS
ALL = [Kind(BOOL)] + NUMBERS
HUGE = {"float16": 6e4, "float32": 3e38, "float64": 1e300}


def integers(g, dtype, shape):
    """The limits of the type and what lies beside them, numbers of its whole range, small numbers."""
    info = np.iinfo(dtype)
    n = int(np.prod(shape))
    edge = [int(info.max), int(info.min), int(info.max) - 1, int(info.min) + 1, int(info.max) // 2 + 1, 0, 1, 3]
    wide = [int(v) for v in g.integers(info.min, info.max, n, dtype, endpoint=True)]
    small = [int(v) for v in g.integers(0 if info.min == 0 else -9, 10, n)]
    rest = [v for pair in zip(wide, small) for v in pair]
    return np.array((edge + rest)[:n], dtype).reshape(shape)


def covering(lo, hi, dtype, share=1.0):
    """A quantization whose range is [lo, hi], or a share of it: what lies beyond saturates."""
    info = np.iinfo(dtype)
    lo, hi = min(lo, 0.0), max(hi, 0.1)
    scale = F32((hi - lo) * share / 255)
    return Q(scale, int(np.clip(round(info.min - lo * share / float(scale)), info.min, info.max)))


def data(kind, name, shape, lo=-4, hi=4, huge=False, q=None):
    """A tensor of the kind; floats and quantized reals lie in [lo, hi]. huge: with one float near the largest of its type."""
    g = rng(f"{name} {kind.name}")
    if kind.bool:
        return T(g.permutation(np.arange(int(np.prod(shape))) % 2 == 0).reshape(shape))
    if kind.integer:
        return T(integers(g, kind.dtype, shape))
    if kind.quantized:
        q = q or covering(lo, hi, kind.dtype)
        x = q.quantize(g.uniform(lo, hi, shape), kind.dtype)
        info = np.iinfo(kind.dtype)
        x.flat[0], x.flat[-1] = (q.quantize(v, kind.dtype) for v in (lo, hi))
        return T(x, q)
    x = g.uniform(lo, hi, shape).astype(kind.dtype)
    if huge:
        x.flat[0] = HUGE[str(kind.dtype)]
    return T(x)


def wide(t):
    """The values of a tensor without limits of range: reals in float64, anything else in Python's integers."""
    if t.q:
        return t.q.real(t.value)
    return t.value.astype(F64 if t.value.dtype.kind == "f" else object)


def wrapped(y, dtype):
    """Integers as they remain in the type: their low bits."""
    info = np.iinfo(dtype)
    n = 1 << info.bits
    y = np.asarray(y, object)
    v = [(int(k) - int(info.min)) % n + int(info.min) for k in y.ravel()]
    return np.array(v, dtype).reshape(y.shape)


def result(kind, y, share=0.9, q=None):
    """The expected tensor of the kind: integers wrap, of bools any number but 0 is true, reals are rounded once, quantized ones saturate."""
    if kind.bool:
        return T(np.asarray(y != 0, BOOL))
    if kind.integer:
        return T(wrapped(y, kind.dtype))
    with np.errstate(all="ignore"):
        if kind.float:
            return T(np.asarray(y, F64).astype(kind.dtype))
        y = np.asarray(y, F64)
        fin = y[np.isfinite(y)]
        q = q or covering(float(fin.min()), float(fin.max()), kind.dtype, share)
        return T(q.quantize(y, kind.dtype), q)


def opened(t, dims):
    return T(t.value, t.q, t.const, [d for d in dims if d < t.value.ndim], t.param)


def judge(op, kind, ins, outs, params=(), dims=(0,), more="", feed=(), **tol):
    """Two cases of an operator: one with known dimensions, one whose inputs leave dims open, unless dims is None, and whose outputs leave all
    open. feed: constants that the open case gives at the run."""
    if kind.float and kind.dtype == F64:
        tol = {"rel": 1e-12, "abs": 1e-12, **tol}
    if not any(o.value.dtype.kind == "f" for o in outs):
        tol = {}
    case(op, kind.name + more, ins, outs, params, **tol)
    if dims is None:
        return
    ins = [T(t.value, t.q) if i in feed else t for i, t in enumerate(ins)]
    ins = [t if t.const else opened(t, dims) for t in ins]
    case(op, kind.name + more + "_open", ins, [opened(o, range(o.value.ndim)) for o in outs], params, **tol)
