"""The format of an OH_NN conformance case, and the helpers that the case files use.

A case is one JSON object: a model in OH_NN terms, the data fed, and what must come out.

    name       unique within its file; says what the case is about
    op         operator name without OH_NN_OPS_
    tensors    [{type, dims, data?, quant?, param?, feed?, expect?}]  in the order they are added to the model; -1 marks a dynamic dimension
               param: parameter name without OH_NN_; data: constant value; feed: {dims, data}; expect: {dims, data}
    in, out, params   tensor indices of the one operation
    reject     instead of expect: the stage that must refuse ("add", "finish", "build", "run") and the return codes allowed there
    rel, abs   tolerance of floating-point results; steps: tolerance of quantized ones; integers and bool are exact
    why        the argument for a tolerance wider than the usual one
    from       where the expected values come from

pattern.py states the compact form of large tensors. Numbers are written so that they read back as the same value; NaN and infinities are the strings "nan", "inf", "-inf".
Every expected value is computed here with NumPy (float64) or ONNX Runtime, never with the library under test.
"""

import json
import math
import os
import zlib

import numpy as np

from numbers_ohnn import OPS, PARAMS

F16, F32, F64, I8, I16, I32, I64, U8, BOOL = (np.float16, np.float32, np.float64, np.int8, np.int16, np.int32, np.int64, np.uint8, np.bool_)
CASES = {}


def rng(name):
    """A generator whose numbers depend on the case's name only."""
    return np.random.default_rng(zlib.crc32(name.encode()))


class Q:
    """Quantization of a tensor: scales and zero points, one each or one per index of axis (OH_NN: the first dimension of a filter)."""

    def __init__(self, scale, zero=0, axis=0):
        self.scale = np.atleast_1d(np.asarray(scale, F64))
        self.zero = np.broadcast_to(np.atleast_1d(np.asarray(zero, I32)), self.scale.shape)
        self.axis = axis

    def _spread(self, v, rank):
        if len(v) == 1:
            return v[0]
        shape = [1] * rank
        shape[self.axis] = len(v)
        return v.reshape(shape)

    def real(self, q):
        return (q.astype(F64) - self._spread(self.zero, q.ndim)) * self._spread(self.scale.astype(F32).astype(F64), q.ndim)

    def quantize(self, x, dtype):
        info = np.iinfo(dtype)
        v = np.asarray(x, F64) / self._spread(self.scale.astype(F32).astype(F64), np.ndim(x)) + self._spread(self.zero, np.ndim(x))
        v = np.where(np.isnan(v), self._spread(self.zero, np.ndim(x)), v)
        return np.clip(np.trunc(v + np.copysign(0.5, v)), info.min, info.max).astype(dtype)


class T:
    """A tensor of a case. value: the array (already integers when q is given). dyn: dimensions that the model leaves open."""

    def __init__(self, value, q=None, const=False, dyn=(), param=None, scalar=False):
        self.value = np.asarray(value)
        self.q, self.const, self.dyn, self.param, self.scalar = q, const, tuple(dyn), param, scalar

    def real(self):
        return self.q.real(self.value) if self.q else self.value


def const(value, q=None):
    return T(value, q=q, const=True)


def param(name, value, dtype):
    """A parameter tensor: NAME without OH_NN_. A Python scalar gives a tensor of shape {1}."""
    a = np.asarray(value, dtype)
    return T(a.reshape(1) if a.ndim == 0 else a, const=True, param=name)


def scalar_param(name, value, dtype):
    """A parameter tensor of rank 0."""
    return T(np.asarray(value, dtype), const=True, param=name)


def numbers(a):
    a = np.asarray(a)
    if a.dtype.kind == "b":
        return [int(v) for v in a.ravel()]
    if a.dtype.kind in "iu":
        return [int(v) for v in a.ravel()]
    out = []
    for v in a.ravel():
        f = float(v)
        if math.isnan(f):
            out.append("nan")
        elif math.isinf(f):
            out.append("inf" if f > 0 else "-inf")
        elif a.dtype in (F16, F32):
            out.append(float(str(v)))
        else:
            out.append(f)
    return out


def tensor_json(t, expected=False):
    d = {"type": str(t.value.dtype), "dims": [-1 if i in t.dyn else int(n) for i, n in enumerate(t.value.shape)]}
    if t.q:
        d["quant"] = {"scale": [float(s) for s in t.q.scale], "zero": [int(z) for z in t.q.zero]}
    if t.param:
        d["param"] = t.param
    body = {"dims": [int(n) for n in t.value.shape], "data": numbers(t.value)}
    if t.const:
        d["data"] = body["data"]
    elif expected:
        d["expect"] = body
    else:
        d["feed"] = body
    return d


def tolerance(outs):
    if any(o.q for o in outs):
        return {"steps": 1}
    if any(o.value.dtype == F16 for o in outs):
        return {"rel": 1e-3, "abs": 1e-3}
    if any(o.value.dtype.kind == "f" for o in outs):
        return {"rel": 1e-5, "abs": 1e-6}
    return {}


def case(op, name, ins, outs, params=(), source="numpy", why=None, **tol):
    """Adds a case of one operation. outs hold the expected values."""
    ins, outs, params = list(ins), list(outs), list(params)
    ts = ins + params
    c = {"name": name, "op": op, "tensors": [tensor_json(t) for t in ts] + [tensor_json(t, True) for t in outs]}
    c["in"] = list(range(len(ins)))
    c["params"] = list(range(len(ins), len(ts)))
    c["out"] = list(range(len(ts), len(ts) + len(outs)))
    c.update(tolerance(outs))
    c.update(tol)
    if why:
        c["why"] = why
    c["from"] = source
    put(op, c)


def reject(op, name, stage, codes, ins, outs, params=()):
    """Adds a case that must be refused at stage ("add", "finish", "build" or "run")."""
    ins, outs, params = list(ins), list(outs), list(params)
    ts = ins + params
    c = {"name": name, "op": op, "tensors": [tensor_json(t) for t in ts + outs]}
    c["in"] = list(range(len(ins)))
    c["params"] = list(range(len(ins), len(ts)))
    c["out"] = list(range(len(ts), len(ts) + len(outs)))
    c["reject"] = {"stage": stage, "codes": codes}
    c["from"] = "rules of the API"
    put(op, c)


def put(op, c):
    assert op in OPS, op
    for t in c["tensors"]:
        assert t.get("param") is None or t["param"] in PARAMS, t["param"]
    names = [x["name"] for x in CASES.setdefault(op, [])]
    assert c["name"] not in names, (op, c["name"])
    CASES[op].append(c)


def write(folder):
    for op, cases in CASES.items():
        with open(os.path.join(folder, op.lower() + ".json"), "w") as f:
            f.write("[\n" + ",\n".join(" " + json.dumps(c, separators=(",", ":")) for c in cases) + "\n]\n")
    return sum(len(c) for c in CASES.values())
