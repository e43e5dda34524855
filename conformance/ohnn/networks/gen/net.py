"""A network under construction: operations of the OH_NN API, and their values in float64 by NumPy.

Inputs and constants are small integers, weights of convolutions too, so that values are exact multiples of grid in every order of addition, and
are judged as such (operators/gen/pattern.py states patterns and checks). A case is

    name, tensors, inputs, outputs, rel, abs, steps, why, from   as in operators/gen/case.py
    operations   [{op, in, out, set}]; set: [[parameter without OH_NN_, element type, value]], a number being of rank 0
"""

import json
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "operators", "gen"))

from binary import ACT  # noqa: E402
from case import F32, F64, I8, I32, U8, Q, numbers  # noqa: E402
from pattern import Exact, Real, check, elements, ints, reals, rounded  # noqa: E402
from spatial import conv, conv_transpose, pool  # noqa: E402

CASES = []


class V:
    """A value: its tensor, its reals in float64, its quantization."""

    def __init__(self, net, i, real, dtype=F32, q=None):
        self.net, self.i, self.real, self.dtype, self.q = net, i, np.asarray(real, F64), np.dtype(dtype), q

    @property
    def shape(self):
        return self.real.shape


class Net:
    def __init__(self, name, exact=True):
        self.name, self.exact = name, exact
        self.tensors, self.ops, self.ins = [], [], []

    def _tensor(self, shape, dtype, q=None, **more):
        d = {"type": str(np.dtype(dtype)), "dims": [int(n) for n in shape], **more}
        if q:
            d["quant"] = {"scale": [float(s) for s in q.scale], "zero": [int(z) for z in q.zero]}
        self.tensors.append(d)
        return len(self.tensors) - 1

    def _given(self, shape, lo, hi, dtype, q, step, feed):
        make = ints if self.exact or q else reals
        t = make(f"{self.name}{len(self.tensors)}", shape, lo, hi, dtype, **({"step": step} if step != 1 and make is ints else {}))
        value = {"pattern": t.pattern} if t.value.size > 8 else {"data": numbers(t.value)}
        i = self._tensor(shape, dtype, q, **({"feed": {"dims": [int(n) for n in shape], **value}} if feed else value))
        v = V(self, i, q.real(t.value) if q else t.value, dtype, q)
        v.codes = t.value
        return v

    def input(self, shape, lo=-4, hi=4, dtype=F32, q=None, step=1):
        v = self._given(shape, lo, hi, dtype, q, step, True)
        self.ins.append(v.i)
        return v

    def const(self, shape, lo=-3, hi=3, dtype=F32, q=None, step=1):
        return self._given(shape, lo, hi, dtype, q, step, False)

    def value(self, a, dtype=F32, q=None):
        """A constant that is written out."""
        a = np.asarray(a, dtype)
        return V(self, self._tensor(a.shape, dtype, q, data=numbers(a)), q.real(a) if q else a, dtype, q)

    def op(self, name, ins, real, *sets, dtype=None, q=None, out=None):
        """Adds an operation with one result, of reals that the caller computed. With q the result is codes."""
        dtype = np.dtype(dtype or ins[0].dtype)
        real = np.asarray(real, F64)
        if name == "QUANT_DTYPE_CAST" and dtype.kind in "iu":  # the one whose rounding of halves is documented
            real = q.real(rounded(real, q, dtype, "away from zero"))
        elif dtype.kind in "iu" and q:
            code = {rounded(real, q, dtype, w).tobytes() for w in ("away from zero", "to even", "up")}
            assert len(code) == 1, f"{self.name}: {name}: a half"
            real = q.real(rounded(real, q, dtype, "to even"))
        v = V(self, self._tensor(real.shape, dtype, q), real, dtype, q)
        self.ops.append({"op": name, "in": [x.i for x in ins], "out": [v.i], "set": [[f"{name}_{k}", t, d] for k, t, d in sets]})
        return v

    def ops_out(self, name, ins, reals_, *sets):
        """Adds an operation with several results."""
        vs = [V(self, self._tensor(np.shape(r), ins[0].dtype, ins[0].q), r, ins[0].dtype, ins[0].q) for r in reals_]
        self.ops.append({"op": name, "in": [x.i for x in ins], "out": [v.i for v in vs], "set": [[f"{name}_{k}", t, d] for k, t, d in sets]})
        return vs

    # --- operators on floats; those with q on codes, too
    def unary(self, name, x, f, *sets, q=None):
        return self.op(name, [x], f(x.real), *sets, q=q or x.q)

    def relu(self, x, **k):
        return self.unary("RELU", x, lambda v: np.maximum(v, 0), **k)

    def relu6(self, x, **k):
        return self.unary("RELU6", x, lambda v: np.clip(v, 0, 6), **k)

    def neg(self, x):
        return self.unary("NEG", x, np.negative)

    def abs(self, x):
        return self.unary("ABS", x, np.abs)

    def clip(self, x, lo, hi):
        return self.unary("CLIP", x, lambda v: np.clip(v, lo, hi), ("MAX", "float32", [hi]), ("MIN", "float32", [lo]))

    def leaky(self, x):
        return self.unary("LEAKY_RELU", x, lambda v: np.where(v >= 0, v, v / 4), ("NEGATIVE_SLOPE", "float32", [0.25]))

    def binary(self, name, a, b, act=0, q=None):
        f = {"ADD": np.add, "SUB": np.subtract, "MUL": np.multiply, "MAXIMUM": np.maximum, "MINIMUM": np.minimum, "DIV": np.divide}[name]
        key = {"MUL": "ACTIVATION_TYPE"}.get(name, "ACTIVATIONTYPE")
        return self.op(name, [a, b], ACT[act](f(a.real, b.real)), *([(key, "int8", [act])] if act else []), q=q or a.q)

    def add(self, a, b, act=0, q=None):
        return self.binary("ADD", a, b, act, q)

    def conv(self, x, out, k=(3, 3), act=0, w=None, b=None, kind="CONV2D", q=None, **o):
        c = x.shape[3]
        if kind == "DEPTHWISE_CONV2D_NATIVE":
            shape = (c, *k, 1)
        else:
            shape = (out, *k, c // o.get("group", 1))
        qb = None
        if x.q and w is None:
            qw = Q(2.0**-5, 0 if x.dtype == I8 else 128)
            info = np.iinfo(x.dtype)
            w = self.const(shape, -2 + (info.min + 128) // 2, 2 + (info.min + 128) // 2, x.dtype, qw, step=2)
            b = self.const(shape[:1], -20.5, 20.5, I32, step=2)
            b.real = b.real * x.q.scale[0] * qw.scale[0]
        w = w or self.const(shape, -2, 2)
        b = b or self.const(shape[:1], -5, 5)
        kw = {**o, "group": c} if kind == "DEPTHWISE_CONV2D_NATIVE" else o
        y = ACT[act]((conv_transpose if kind == "CONV2D_TRANSPOSE" else conv)(x.real, w.real, b.real, **kw))
        sets = [("STRIDES", "int64", list(o.get("strides", (1, 1)))), ("DILATION", "int64", list(o.get("dil", (1, 1))))]
        sets.append(("PAD_MODE", "int8", [o["mode"]]) if "mode" in o else ("PAD", "int64", list(o.get("pads", (0, 0, 0, 0)))))
        if "group" in o:
            sets.append(("GROUP", "int64", [o["group"]]))
        if act:
            sets.append(("ACTIVATION_TYPE", "int8", [act]))
        return self.op(kind, [x, w, b], y, *sets, q=q)

    def pool(self, kind, x, k, s=(1, 1), **o):
        key = ("PAD_MODE", "int8", [o["mode"]]) if "mode" in o else ("PAD", "int64", list(o.get("pads", (0, 0, 0, 0))))
        return self.op(kind, [x], pool(kind, x.real, k, s, **o), ("KERNEL_SIZE", "int64", list(k)), ("STRIDE", "int64", list(s)), key, q=x.q)

    def pad(self, x, pads, value=0.0, mode=0):
        p = self.value(np.array(pads, I32), I32)
        y = np.pad(x.real, pads, constant_values=value) if mode == 0 else np.pad(x.real, pads, mode=("", "reflect", "symmetric")[mode])
        return self.op("PAD", [x, p], y, *([("CONSTANT_VALUE", "float32", [value])] if value else []), *([("PADDING_MODE", "int32", [mode])] if mode else []), q=x.q)

    def norm(self, x):
        """Batch normalization with a deviation of 1, 2 or 1/2."""
        c = x.shape[-1]
        s, o, m = self.const((c,), -2, 3), self.const((c,), -3, 3), self.const((c,), -3, 3)
        v = self.value(np.array([(1, 4, 0.25)[i % 3] for i in range(c)]) - 0.125)
        return self.op("BATCH_NORM", [x, s, o, m, v], (x.real - m.real) / np.sqrt(v.real + 0.125) * s.real + o.real, ("EPSILON", "float32", [0.125]))

    def bias(self, x):
        b = self.const(x.shape[-1:], -9, 9)
        return self.op("BIAS_ADD", [x, b], x.real + b.real)

    def scale(self, x):
        s, b = self.const(x.shape[-1:], -2, 3), self.const(x.shape[-1:], -9, 9)
        return self.op("SCALE", [x, s, b], x.real * s.real + b.real, ("AXIS", "int64", [-1]))

    def prelu(self, x):
        s = self.const(x.shape[-1:], -2, 3)
        return self.op("PRELU", [x, s], np.where(x.real > 0, x.real, x.real * s.real))

    def concat(self, xs, axis):
        return self.op("CONCAT", xs, np.concatenate([x.real for x in xs], axis), ("AXIS", "int64", [axis]), q=xs[0].q)

    def split(self, x, n, axis):
        return self.ops_out("SPLIT", [x], np.split(x.real, n, axis), ("AXIS", "int64", [axis]), ("OUTPUT_NUM", "int64", [n]))

    def reshape(self, x, shape):
        return self.op("RESHAPE", [x, self.value(np.array(shape, I32), I32)], x.real.reshape(shape), q=x.q)

    def transpose(self, x, perm):
        return self.op("TRANSPOSE", [x, self.value(np.array(perm, I32), I32)], x.real.transpose(perm), q=x.q)

    def slice(self, x, begin, size):
        idx = tuple(slice(b, b + n) for b, n in zip(begin, size))
        return self.op("SLICE", [x, self.value(np.array(begin, I32), I32), self.value(np.array(size, I32), I32)], x.real[idx], q=x.q)

    def matmul(self, a, b, ta=False, tb=False, act=0):
        t = lambda v, yes: v.swapaxes(-1, -2) if yes else v
        return self.op("MATMUL", [a, b], ACT[act](t(a.real, ta) @ t(b.real, tb)), ("TRANSPOSE_A", "bool", [int(ta)]), ("TRANSPOSE_B", "bool", [int(tb)]), *([("ACTIVATION_TYPE", "int8", [act])] if act else []))

    def fc(self, x, n, act=0):
        k = x.shape[-1]
        w, b = self.const((n, k), -2, 2), self.const((n,), -9, 9)
        return self.op("FULL_CONNECTION", [x, w, b], ACT[act](x.real.reshape(-1, k) @ w.real.T + b.real), ("HAS_BIAS", "bool", [1]), *([("ACTIVATIONTYPE", "int8", [act])] if act else []))

    def reduce(self, name, x, axes, keep=False):
        f = {"REDUCE_SUM": np.sum, "REDUCE_MAX": np.max, "REDUCE_MIN": np.min, "REDUCE_MEAN": np.mean}[name]
        return self.op(name, [x, self.value(np.array(axes, I32), I32)], f(x.real, axis=tuple(axes), keepdims=keep), ("KEEP_DIMS", "bool", [int(keep)]))

    def done(self, *outs, rel=1e-5, abs=1e-5, why=None):
        c = {"name": self.name, "tensors": self.tensors, "operations": self.ops, "inputs": self.ins, "outputs": [v.i for v in outs]}
        for v in outs:
            if v.q:
                x = Exact(v.q.quantize(v.real, v.dtype), v.dtype)
            elif v.dtype.kind in "iub":
                x = Exact(v.real, v.dtype)
            elif self.exact:
                grid = next(2.0**-i for i in range(9) if (v.real * 2**i == np.round(v.real * 2**i)).all())
                assert np.abs(v.real).max() < grid * 2**21, (self.name, np.abs(v.real).max())
                x = Exact(v.real, grid=grid)
            else:
                x = Real(v.real)
                c["rel"], c["abs"] = rel, abs
            k = check(x, {"rel": rel, "abs": abs}, whole=0)
            self.tensors[v.i]["expect"] = {"dims": [int(n) for n in v.shape], "check": k}
        if why:
            c["why"] = why
        c["from"] = "numpy"
        assert self.name not in [k["name"] for k in CASES], self.name
        CASES.append(c)


def write(folder):
    os.makedirs(folder, exist_ok=True)
    by = {}
    for c in CASES:
        by.setdefault(c["name"].split("/")[0], []).append(c)
    for f in os.listdir(folder):
        os.remove(os.path.join(folder, f))
    for kind, cs in by.items():
        with open(os.path.join(folder, kind + ".json"), "w") as f:
            f.write("[\n" + ",\n".join(" " + json.dumps(c, separators=(",", ":")) for c in cs) + "\n]\n")
    return len(CASES)
