"""The format of a case of NNAPI's operations, and what the scripts share that write them.

A case is one JSON object: an operation in NNAPI's terms, what it is given, and what must come out.

    name      unique for the operation; says what the case is about
    op        operation without ANEURALNETWORKS_
    in, out   operands in the order of the operation's arguments: {type, dims, scale?, zero?, channel?, scales?, const?,
              none?, open?, data? or pattern?, model?}. Types are the words of the notes on operations: F32, Q8S, i32.
              const: a tensor that is part of the model; scalars always are. open: the model leaves the dimensions open.
              "i32 3" is short for a scalar, "F32/2 -" for a tensor of two dimensions without a value
    models    models that IF and WHILE refer to, by the name in an operand's "model"
    exact     quantized results have no tolerance: the operation only moves or compares
    tolerance of floats, with its reason in "why", where the usual one does not do: 1e-5 for float32, 5 x 2^-10 for
              float16, relative or absolute; codes may be a step off
    fails     the computation must fail
    from      where expected values come from, if not from a model in NumPy in these scripts

A pattern is one of conformance/vectors/patterns.py. Tensors without elements are given as they are: the runner makes
them with SLICE, because no program can hand one over. Expected values come from float64 or from integers, by the
formulas of the API (NeuralNetworksTypes.h) and never from the library under test.
"""
import json
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "../../../vectors"))
from patterns import elements  # noqa: E402

CASES = {}
F64, I64 = np.float64, np.int64

DTYPES = {"F32": np.float32, "F16": np.float16, "I32": np.int32, "Q8": np.uint8, "Q8S": np.int8, "Q8Y": np.int8,
          "Q8C": np.int8, "Q16A": np.uint16, "Q16Y": np.int16, "B8": np.uint8, "f32": np.float32, "f16": np.float16,
          "i32": np.int32, "bool": np.uint8}
QUANTIZED = ("Q8", "Q8S", "Q8Y", "Q16A", "Q16Y")
FLOATS = ("F32", "F16")
STD = ("F32", "F16", "Q8", "Q8S")
# Scale and zero point of operands that are given none.
USUAL = {"Q8": (0.05, 121), "Q8S": (0.04, -7), "Q8Y": (0.03, 0), "Q16A": (0.125, 0), "Q16Y": (0.0005, 0)}


class Operand:
    """An operand with a value: numbers as they are stored."""

    def __init__(self, type, value, scale=0.0, zero=0, pattern=None, scales=None, channel=None, **flags):
        self.type, self.value = type, np.asarray(value)
        self.scale, self.zero, self.pattern = float(np.float32(scale)), zero, pattern
        self.scales, self.channel = scales, channel
        self.flags = flags

    @property
    def shape(self):
        return self.value.shape

    def real(self):
        """What the numbers mean."""
        v = self.value.astype(F64)
        if self.scales is not None:
            shape = [1] * v.ndim
            shape[self.channel] = -1
            return v * np.asarray(self.scales, np.float32).astype(F64).reshape(shape)
        return (v - self.zero) * self.scale if self.scale else v

    def const(self):
        self.flags["const"] = True
        return self

    def open(self):
        self.flags["open"] = True
        return self

    def json(self, result=False):
        if self.type in ("f32", "f16", "i32", "bool"):
            return f"{self.type} {number(self.value, self.type)}"
        if self.flags.get("none") and not self.scale:
            return f"{self.type}/{self.value.ndim} -"
        d = {"type": self.type}
        if self.type != "model":
            d["dims"] = [int(n) for n in self.shape]
        if self.scale:
            d["scale"] = short(np.float32(self.scale))
        if self.zero:
            d["zero"] = int(self.zero)
        if self.scales is not None:
            d["channel"], d["scales"] = self.channel, [short(np.float32(s)) for s in self.scales]
        d.update(self.flags)
        if self.flags.get("none") or self.type == "model" or "shares" in self.flags or "ignore" in self.flags:
            return d
        if self.pattern:
            d["pattern"] = self.pattern
        else:
            d["data"] = [number(v, self.type, result) for v in self.value.reshape(-1)]
        return d


def short(v):
    return float(str(np.float32(v)))


def number(v, type, result=False):
    """A number as JSON has it. Results are held to a tolerance, so that fewer digits do."""
    if DTYPES[type] in (np.float32, np.float16):
        digits = (7 if type == "F32" else 5) if result else 9
        f = float(f"{float(v):.{digits}g}")
        return int(f) if f == int(f) and abs(f) < 1e9 else f
    return int(v)


class Seeds:
    """Numbers for patterns: each next one from the operation's name and a count."""

    def __init__(self):
        self.last = 0

    def next(self):
        self.last += 1
        return self.last


seeds = Seeds()


def whole(v):
    return int(v) if v == int(v) else v


def x(type, dims, lo=-2.0, hi=2.0, scale=None, zero=None, **flags):
    """An operand with made-up numbers: floats between lo and hi, codes of all such numbers that the type has, integers
    from lo to hi, or booleans."""
    dims = tuple(dims)
    n = int(np.prod(dims, dtype=int))
    if type in FLOATS:
        p = {"seed": seeds.next(), "lo": whole(lo), "hi": whole(hi), "real": True}
        scale = zero = 0
    elif type in QUANTIZED:
        if scale is None:
            scale, zero = USUAL[type]
        zero = zero or 0
        info = np.iinfo(DTYPES[type])
        first, last = np.clip([np.ceil(lo / scale + zero), np.floor(hi / scale + zero)], info.min, info.max)
        p = {"seed": seeds.next(), "lo": int(first), "hi": int(last)}
    else:
        p = {"seed": seeds.next(), "lo": 0 if type == "B8" else int(lo), "hi": 1 if type == "B8" else int(hi)}
        scale, zero = scale or 0, 0
    v = elements(p, n).astype(DTYPES[type]).reshape(dims)
    return Operand(type, v, scale, zero, pattern=p if n > 6 else None, **flags)


def given(type, value, scale=0.0, zero=0, **flags):
    """An operand with these stored numbers."""
    return Operand(type, np.asarray(value, F64 if type in FLOATS else I64).astype(DTYPES[type]), scale, zero, **flags)


def ints(*values, dims=None):
    """A constant vector of integers."""
    v = np.asarray(values, np.int32)
    return Operand("I32", v if dims is None else v.reshape(dims)).const()


def i32(v):
    return Operand("i32", np.asarray(v, np.int32))


def flag(v):
    return Operand("bool", np.asarray(int(v), np.uint8))


def fx(type, v):
    """A floating-point scalar beside tensors of a type."""
    half = type == "F16"
    return Operand("f16" if half else "f32", np.asarray(v, np.float16 if half else np.float32))


def value(scalar):
    """The number that a scalar has."""
    return float(scalar.value)


def none(type, rank=1):
    """An operand without a value."""
    scale, zero = USUAL[type] if type in QUANTIZED else (0, 0)
    return Operand(type, np.zeros((1,) * rank), scale, zero, none=True)


def half_away(v):
    v = np.asarray(v, F64)
    return np.trunc(v + np.copysign(0.5, v))


def codes(type, real, scale, zero=0):
    """Real numbers as codes."""
    info = np.iinfo(DTYPES[type])
    v = np.asarray(real, F64) / float(np.float32(scale)) + zero
    return np.clip(half_away(v), info.min, info.max).astype(DTYPES[type])


def out(type, real, scale=None, zero=None, **flags):
    """An expected result of these real numbers."""
    if type in QUANTIZED:
        if scale is None:
            scale, zero = USUAL[type]
        return Operand(type, codes(type, real, scale, zero or 0), scale, zero or 0, **flags)
    return Operand(type, np.asarray(real, F64 if type in FLOATS else None), **flags)


def like(o, value, **flags):
    """A result whose numbers are stored as those of o are."""
    return Operand(o.type, value, o.scale, o.zero, **flags)


def act(code, real):
    lo, hi = {0: (-np.inf, np.inf), 1: (0, np.inf), 2: (-1, 1), 3: (0, 6)}[code]
    return np.clip(real, lo, hi)


def case(op, name, ins, outs, models=None, **more):
    """Adds a case."""
    c = {"name": name, "op": op, "in": [o.json() for o in ins], "out": [o.json(True) for o in outs]}
    if models:
        c["models"] = models
    c.update(more)
    names = [k["name"] for k in CASES.setdefault(op, [])]
    assert name not in names, (op, name)
    for o in outs:
        assert o.value.dtype.kind != "f" or np.isfinite(o.value).all(), (op, name)
    CASES[op].append(c)


def fails(op, name, ins, outs):
    """Adds a case whose computation fails. outs are dims only."""
    case(op, name, ins, outs, fails=True)


def unknown(type, rank, scale=None, zero=None):
    """An output of a computation that fails."""
    if type in QUANTIZED and scale is None:
        scale, zero = USUAL[type]
    return Operand(type, np.zeros((1,) * rank, DTYPES[type]), scale or 0, zero or 0, open=True)


def write(folder):
    os.makedirs(folder, exist_ok=True)
    for f in os.listdir(folder):
        os.remove(os.path.join(folder, f))
    for op, cases in CASES.items():
        with open(os.path.join(folder, op.lower() + ".json"), "w") as f:
            f.write("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]\n")
    return sum(len(c) for c in CASES.values())
