"""Cases that differ from a judged case in one place: what must be refused, next to what is accepted.

Such a case names the judged one and holds only the difference, so that both are seen to differ in nothing else:

    name, op    as in case.py; reports call the case OP/of/name
    of          name of the judged case of the operator
    about       what the difference is in: "input 1", "output 0", a parameter's name, "inputs", "outputs" or "parameters"
    tensors     {index: fields that replace those of the judged case's tensor}; an index behind the last one adds a tensor. null: the field is absent
    in, out, params   replace the lists if they are there
    reject      stage and codes as in case.py; without it the result must be the judged case's
    mentions    what the message must contain
"""

import json
import os

import numpy as np

from case import CASES, numbers
from numbers_ohnn import OPS

NEAR = {}
ADD, FINISH, BUILD = ("add", [2]), ("finish", [1]), ("build", [1])
DECLARED = ("run", [14])  # declared outputs that do not fit: the model builds, its runs are refused
RUN = ("run", [14])
TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]


class Base:
    """A judged case, as the start of others."""

    def __init__(self, c):
        self.c, self.op, self.name, self.tensors = c, c["op"], c["name"], c["tensors"]
        self.ins, self.outs, self.params = c["in"], c["out"], c["params"]

    def input(self, i):
        return self.tensors[self.ins[i]]

    def output(self, i):
        return self.tensors[self.outs[i]]

    def value(self, i):
        """The array of tensor i, whatever it is for."""
        t = self.tensors[i]
        body = t.get("feed") or t.get("expect") or {"dims": t["dims"], "data": t.get("data", [])}
        kind = np.float64 if t["type"].startswith("float") else np.int64
        return np.array([float(v) for v in body["data"]]).astype(kind).reshape(body["dims"])

    def param(self, name):
        """The index of the tensor of a parameter, None if the case does not give it."""
        return next((i for i in self.params if self.tensors[i]["param"] == f"{self.op}_{name}"), None)

    def rank(self, i):
        return len(self.input(i)["dims"])


def static(c):
    return all(-1 not in c["tensors"][i]["dims"] for i in c["in"])


def telling(c):
    """Whether a case computes something that is neither constant nor a copy."""
    if "reject" in c or any(len(t.get("expect", {}).get("data", [0])) == 0 for t in c["tensors"]):
        return False
    out = c["tensors"][c["out"][0]]["expect"]
    if c["op"] in ("FILL", "CONSTANT_OF_SHAPE", "ASSERT", "RANK"):
        return True
    if len(set(map(str, out["data"]))) < 2 and len(out["data"]) > 1:
        return False
    return not any("feed" in c["tensors"][i] and c["tensors"][i]["feed"] == out for i in c["in"])


def bases(op, want=lambda b: True, plain=True):
    """The judged cases of an operator with static shapes that fit, without quantized tensors if plain, in their order."""
    for c in CASES[op]:
        if telling(c) and static(c) and not (plain and any("quant" in t for t in c["tensors"])):
            b = Base(c)
            if want(b):
                yield b


def base(op, want=lambda b: True):
    """The first such case, without quantized tensors if there is one."""
    return next(bases(op, want), None) or next(bases(op, want, plain=False), None)


def near(b, name, about, stage=None, tensors=None, ins=None, outs=None, params=None, mentions=()):
    """Adds a case. stage: ADD, FINISH, BUILD, RUN or DECLARED; None: the judged case's result must come out."""
    c = {"name": name, "op": b.op, "of": b.name, "about": about}
    if tensors:
        c["tensors"] = {str(i): t for i, t in tensors.items()}
    for key, v in (("in", ins), ("params", params), ("out", outs)):
        if v is not None:
            c[key] = v
    if stage:
        c["reject"] = {"stage": stage[0], "codes": stage[1]}
    if mentions:
        c["mentions"] = list(mentions)
    assert b.op in OPS
    assert name not in [x["name"] for x in NEAR.setdefault(b.op, [])], (b.op, name)
    NEAR[b.op].append(c)


def refuse(b, name, about, stage, tensors=None, mentions=None, operator=True, **lists):
    """Adds a case that must be refused; its message names the operator and, unless mentions says something else, what the case is about."""
    names = ["OH_NN_OPS_" + b.op] if operator else []
    near(b, name, about, stage, tensors, mentions=names + ([about] if mentions is None else mentions), **lists)


def body(t, a):
    """The fields of tensor t with value a: shape and data."""
    a = np.asarray(a)
    value = {"dims": list(a.shape), "data": numbers(a)}
    d = {"dims": value["dims"]}
    for key in ("feed", "expect"):
        if key in t:
            d[key] = value
    if "data" in t:
        d["data"] = value["data"]
    return d


def parameter(name, kind, value):
    a = np.asarray(value)
    return {"type": kind, "dims": list(a.shape), "param": name, "data": numbers(a)}


def write(folder):
    os.makedirs(folder, exist_ok=True)
    for op, cases in NEAR.items():
        with open(os.path.join(folder, op.lower() + ".json"), "w") as f:
            f.write("[\n" + ",\n".join(" " + json.dumps(c, separators=(",", ":")) for c in cases) + "\n]\n")
    return sum(len(c) for c in NEAR.values())
