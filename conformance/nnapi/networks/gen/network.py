"""A random network under construction: its operands and operations in NNAPI's terms, and the values they must have.

Numbers are followed on two ways. exact has float64 throughout; of codes and integers, the exact model of the API. near
is what an implementation in the operand's own type has: rounded after each operation and moved by two units in the last
place. A step is only taken where both ways agree so closely that the usual tolerances hold at the end, and where no
number that is rounded to a code lies near the middle between two: every right implementation has the same codes.
"""
import os
import sys

import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../operations/gen"))
from case import DTYPES, F64, FLOATS, QUANTIZED, Operand, half_away, seeds, x  # noqa: E402

MOST = 512  # elements of a tensor
TOLERANCE = {"F32": 1e-5, "F16": 5 * 2.0**-10}
MIDDLE = 5e-4  # of a step: how near the middle between two codes no number may lie
LARGEST = {"F32": 50.0, "F16": 20.0}


class Unfit(Exception):
    """The step does not fit the network as it stands; another one is tried."""


def want(condition):
    if not condition:
        raise Unfit


class Value:
    """An operand: real numbers on both ways, and the codes or integers that are stored."""

    def __init__(self, type, exact, near=None, code=None, scale=0.0, zero=0, operand=None):
        self.type, self.exact, self.near, self.code = type, exact, exact if near is None else near, code
        self.scale, self.zero, self.operand, self.index = float(np.float32(scale)), zero, operand, None

    @property
    def shape(self):
        return self.exact.shape

    def json(self, what):
        """what: "" for the result of an operation, "data" for an output."""
        if self.operand is not None:
            return self.operand.json()
        stored = self.exact if self.type in FLOATS else self.code
        o = Operand(self.type, stored, self.scale, self.zero).json(True)
        if what != "data":
            del o["data"]
        return o


def of(operand):
    """The value of an operand that is part of the network, or its input."""
    return Value(operand.type, operand.real(), scale=operand.scale, zero=operand.zero, operand=operand,
                 code=None if operand.type in FLOATS else operand.value)


class Network:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        seeds.last = 1000 * seed
        self.operands, self.operations, self.inputs = [], [], []
        self.values, self.used = [], set()  # tensors that operations can take, and the indices of those that they took

    # What operations are given.

    def pick(self, *options):
        return options[int(self.rng.integers(len(options)))]

    def chance(self, p):
        return self.rng.random() < p

    def take(self, types, ranks=(1, 2, 3, 4), fits=lambda v: True):
        """A tensor of the network, best one that no operation has taken."""
        found = [v for v in self.values if v.type in types and len(v.shape) in ranks and fits(v)]
        want(found)
        weights = np.array([(5.0 if v.index not in self.used else 1.0) * (1 + k) for k, v in enumerate(found)])
        return found[int(self.rng.choice(len(found), p=weights / weights.sum()))]

    def constant(self, type, dims, lo=-1.0, hi=1.0, scale=None, zero=None):
        return of(x(type, dims, lo, hi, scale, zero))

    def input(self, type, dims):
        scale = (0, 0)
        if type in QUANTIZED:
            scale = (short(self.rng.uniform(0.01, 0.03)), int(self.rng.integers(-20, 20)) + (128 if type == "Q8" else 0))
        lo, hi = (-9, 9) if type == "I32" else (-2, 2)
        v = of(x(type, dims, lo, hi, *scale))
        self.inputs.append(self.add_operand(v))
        self.values.append(v)

    # Results.

    def scale_for(self, type, real):
        """A scale and a zero point for these numbers."""
        info = np.iinfo(DTYPES[type])
        lo, hi = real.min(), real.max()
        scale = short(max(hi - lo, 0.05) / self.rng.uniform(120, 280))
        zero = info.min + self.rng.uniform(0, 40) - lo / scale
        return scale, int(np.clip(np.round(zero), info.min, info.max))

    def result(self, type, exact, near=None, scale=None):
        """The value of an operation's result. scale: (scale, zero), None for one that fits the numbers."""
        exact = np.asarray(exact, F64)
        near = exact if near is None else np.asarray(near, F64)
        want(0 < exact.size <= MOST and np.isfinite(exact).all() and np.isfinite(near).all())
        want(exact.size == 1 or exact.min() != exact.max())
        if type in FLOATS:
            d = DTYPES[type]
            ulps = 2 * np.finfo(d).eps * self.rng.integers(-1, 2, exact.shape)
            near = (near if type == "F16" else near * (1 + ulps)).astype(d).astype(F64)
            off = np.abs(near - exact) / np.maximum(1, np.abs(exact))
            want(np.abs(exact).max() <= LARGEST[type] and off.max() <= TOLERANCE[type] / 2)
            return Value(type, exact, near)
        if type not in QUANTIZED:
            want(np.array_equal(exact, np.round(exact)) and np.array_equal(exact, near) and np.abs(exact).max() < 1 << 20)
            return Value(type, exact, code=exact.astype(DTYPES[type]))
        s, zero = scale or self.scale_for(type, exact)
        s = float(np.float32(s))
        info = np.iinfo(DTYPES[type])
        step = exact / s + zero
        off = 4 * np.abs(near - exact) / s + np.where(near != exact, 1e-5 * np.maximum(1, np.abs(exact)) / s, 0)
        inside = (step > info.min - 1) & (step < info.max + 1)
        want((np.abs(step - np.floor(step) - 0.5) > MIDDLE + off)[inside].all())
        code = np.clip(half_away(step), info.min, info.max).astype(DTYPES[type])
        want(code.size == 1 or code.min() != code.max())
        return Value(type, (code.astype(F64) - zero) * s, code=code, scale=s, zero=zero)

    def add_operand(self, v):
        v.index = len(self.operands)
        self.operands.append(v)
        return v.index

    def add(self, op, ins, outs):
        """Adds an operation. What of ins is no value yet is a constant, or a scalar."""
        want(len(self.operations) < self.limit)
        for k, v in enumerate(ins):
            if isinstance(v, Operand):
                ins[k] = v = of(v)
            if v.index is None:
                self.add_operand(v)
        self.used.update(v.index for v in ins)
        for v in outs:
            self.add_operand(v)
            self.values.append(v)
        self.operations.append({"op": op, "in": [v.index for v in ins], "out": [v.index for v in outs]})

    def emit(self, op, ins, rest, f, type=None, scale=None):
        """Adds an operation of one result: f of the real numbers of ins. rest are the other arguments. scale "same": that
        of the first operand."""
        if scale == "same":
            scale = (ins[0].scale, ins[0].zero)
        y = self.result(type or ins[0].type, f(*(v.exact for v in ins)), f(*(v.near for v in ins)), scale)
        self.add(op, [*ins, *rest], [y])
        return y

    # The network as JSON.

    def refused(self):
        """Whether the API refuses a scale: that of a product of codes must be above the product of its operands' ones."""
        products = [[self.operands[i].scale for i in (*o["in"][:2], o["out"][0])] for o in self.operations
                    if o["op"] == "MUL" and self.operands[o["out"][0]].scale]
        return any(y <= p * q for p, q, y in products)

    def same(self, i):
        """Whether all elements of an operand look the same."""
        v = self.operands[i].exact
        return v.size > 1 and v.max() - v.min() < 1e-3

    def json(self, name):
        """None where an input or too much is left over, the API refuses the network, or an output tells nothing."""
        free = [v.index for v in self.values if v.index not in self.used]
        outputs = [i for i in free if i not in self.inputs]
        inner = [o["out"][0] for o in self.operations if o["out"][0] in self.used]
        if inner and self.chance(0.3):
            outputs.append(self.pick(*inner))  # what other operations read, too
        if set(free) & set(self.inputs) or len(outputs) > 6 or self.refused() or any(map(self.same, outputs)):
            return None
        return {"name": name, "operands": [v.json("data" if v.index in outputs else "") for v in self.operands],
                "operations": self.operations, "in": self.inputs, "out": outputs}


def short(v):
    return float(f"{v:.3g}")
