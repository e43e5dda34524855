"""Values that an operator has no meaning for: of parameters that AddOperation lets through, and of inputs that say how to compute."""

import numpy as np

from case import numbers

from near import ADD, BUILD, RUN, base, body, parameter, refuse
from operators import OPERATORS, Operator

def named(b, v):
    """The values that a name in the table stands for, with the stage that refuses them."""
    r = b.rank(0)
    t = lambda p: b.tensors[b.param(p)]["data"]
    first = b.value(b.ins[0]).shape
    table = {
        "axis-low": lambda: [-r - 1], "axis-high": lambda: [r], "axis-beyond": lambda: [r + 1], "new-axis-low": lambda: [-r - 2], "new-axis-high": lambda: [r + 1],
        "axes-low": lambda: [-r - 1] + t(AXES[b.op])[1:], "axes-high": lambda: [r] + t(AXES[b.op])[1:], "axes-twice": lambda: t(AXES[b.op])[:1] * 2, "axes-more": lambda: t(AXES[b.op]) + [r - 1],
        "outputs+1": lambda: [len(b.outs) + 1], "outputs-1": lambda: [len(b.outs) - 1], "sizes-more": lambda: [t("SIZE_SPLITS")[0] + 1] + t("SIZE_SPLITS")[1:],
        "sizes-less": lambda: [max(t("SIZE_SPLITS")[0] - 1, 0)] + t("SIZE_SPLITS")[1:], "sizes-negative": lambda: [-2] + t("SIZE_SPLITS")[1:], "sizes-two-open": lambda: [-1, -1] + t("SIZE_SPLITS")[2:],
        "sizes-count": lambda: t("SIZE_SPLITS")[:-1], "shape-longer": lambda: t("SHAPE")[:-1] + [first[-1] + 1], "shape-shorter": lambda: t("SHAPE")[-r + 1:] if r > 1 else [],
        "shape-negative": lambda: [-2] + t("SHAPE")[1:], "other": lambda: [1 - t("BIDIRECTIONAL")[0]], "below-min": lambda: [t("MIN")[0] - 1], "above-max": lambda: [t("MAX")[0] + 1],
        "offset-negative": lambda: [-1] + t("OFFSET")[1:], "offset-beyond": lambda: [99] + t("OFFSET")[1:], "offset-count": lambda: t("OFFSET") * 3,
        "early-0": lambda: [0], "early-negative": lambda: [-1], "early-rank": lambda: [r],
    }
    return table[v]()


# Values that are wrong only beside the shapes, which the message is about.
BY_SHAPE = {"BLOCK_SIZE 7": "divisible", "NUM_CLASSES 99": "input 1"}
AXES = {"SLICE": "AXES", "SQUEEZE": "AXIS", "TILE": "DIMS", "L2_NORMALIZE": "AXIS"}


def fits(op, p):
    """Which judged cases suit a parameter's refused values."""
    def want(b):
        if b.param(p.name) is None:
            return False
        if op == "TILE":  # entries that are as many as the multiples, else they mean nothing
            return len(b.tensors[b.param(p.name)]["data"]) == b.value(b.ins[1]).size
        if op == "SPLIT" and p.name == "SIZE_SPLITS":
            return len(b.tensors[b.param(p.name)]["data"]) > 1 and -1 not in b.tensors[b.param(p.name)]["data"]
        if op == "BROADCAST_TO":
            return b.rank(0) > 1 and b.input(0)["dims"][-1] > 1
        if op == "QUANT_DTYPE_CAST":
            return any(len(t.get("quant", {}).get("scale", [])) > 1 for t in b.tensors)
        if op == "CLIP":
            return b.param("MIN") is not None and b.param("MAX") is not None
        if op == "CROP" and p.name == "OFFSET":
            return len(b.tensors[b.param("OFFSET")]["data"]) > 0 and b.rank(0) > 1
        return True
    return want


def parameters(o):
    for p in o.params:
        if not p.bad:
            continue
        b = base(o.name, fits(o.name, p))
        for k, v in enumerate(p.bad):
            at = b
            if o.name == "DETECTION_POST_PROCESS" and p.name == "DETECTIONS_PER_CLASS":
                at = base(o.name, lambda b: b.tensors[b.param("USE_REGULAR_NMS")]["data"] == [1])
            if at is None or at.param(p.name) is None:  # no judged case gives it: it is added to one
                at = base(o.name)
                i, t, params = len(at.tensors), None, at.params + [len(at.tensors)]
            else:
                i, params = at.param(p.name), None
                t = at.tensors[i]
            data = np.asarray(named(at, v) if isinstance(v, str) else v if isinstance(v, list) else [v])
            stage = ADD if isinstance(v, str) and v.startswith("early") else RUN if isinstance(v, str) and v in ("below-min", "above-max") else BUILD
            name = f"{p.name.lower()}_{v}".replace("-", "_") if isinstance(v, str) else f"{p.name.lower()}_no_meaning_{k}"
            if isinstance(v, (int, float)):
                name = f"{p.name.lower()}_is_{str(v).replace('-', 'minus_')}"
            dims = list(data.shape)
            if t and t["dims"] == []:
                dims = []
            change = {"dims": dims, "data": numbers(data)}
            if t is None:
                change = {**parameter(f"{o.name}_{p.name}", p.dtype, [0]), **change}
            refuse(at, name, p.name, stage, {i: change}, params=params, mentions=[BY_SHAPE.get(f"{p.name} {v}", p.name)])


def full_connection():
    b = base("FULL_CONNECTION", lambda b: b.param("USE_AXIS") is not None and b.param("AXIS") is not None)
    refuse(b, "axis_while_use_axis_is_false", "USE_AXIS", ADD, {b.param("USE_AXIS"): {"data": [0]}}, mentions=["AXIS", "USE_AXIS"])
    b = base("FULL_CONNECTION", lambda b: len(b.ins) == 2 and not b.params)
    i = len(b.tensors)
    refuse(b, "has_bias_without_bias", "HAS_BIAS", BUILD, {i: parameter("FULL_CONNECTION_HAS_BIAS", "bool", [1])}, params=[i], mentions=["HAS_BIAS"])


# Inputs that say how to compute: (input, values, what it is called). Values may be a function of the judged case.
def replaced(k, v):
    def new(_, a):
        a = a.copy()
        a.reshape(-1)[k] = v
        return a
    return new


def axis(i, more=0):
    """An axis of input 0 that is too small and one that is too large."""
    return [(i, lambda b, a: replaced(0, -b.rank(0) - 1 - more)(b, a), "below"), (i, lambda b, a: replaced(0, b.rank(0) + more)(b, a), "above")]


INDEX = {
    "EXPAND_DIMS": axis(1, 1), "GATHER": axis(2) + [(1, lambda b, a: replaced(0, 99)(b, a), "above"), (1, lambda b, a: replaced(0, -1)(b, a), "below")],
    **{f"REDUCE_{k}": axis(1) for k in ("MEAN", "SUM", "PROD", "MAX", "MIN", "L2", "ALL")}, "ALL": axis(1),
    "TRANSPOSE": axis(1) + [(1, lambda b, a: replaced(0, int(a.ravel()[1]))(b, a), "twice")],
    "RESHAPE": [(1, lambda b, a: np.array([-1, -1]), "two_open"), (1, lambda b, a: np.array([-2, 3]), "negative"), (1, lambda b, a: np.array([7, 11]), "of_another_count"), (1, lambda b, a: np.array([-1, 7]), "indivisible")],
    "FILL": [(1, replaced(0, -1), "negative")], "CONSTANT_OF_SHAPE": [(0, replaced(0, -1), "negative")],
    "PAD": [(1, replaced(0, -99), "crops_everything")],
    "SLICE": [(1, replaced(0, -1), "negative"), (1, replaced(0, 99), "beyond"), (2, replaced(0, 99), "beyond"), (2, replaced(0, -2), "negative")],
    "STRIDED_SLICE": [(3, replaced(0, 0), "zero")],
    "TILE": [(1, replaced(0, -1), "negative")], "TOP_K": [(1, replaced(0, 99), "above"), (1, replaced(0, -1), "negative")],
    "ONE_HOT": [(1, replaced(0, -1), "negative")],
    "SCATTER_ND": [(0, replaced(0, 99), "above"), (0, replaced(0, -1), "below"), (2, replaced(0, -1), "negative")],
    "SPARSE_TO_DENSE": [(0, replaced(0, 99), "above"), (0, replaced(0, -1), "below"), (2, replaced(0, -1), "negative")],
    "GATHER_ND": [(1, replaced(0, 99), "above"), (1, replaced(0, -1), "below")],
    "CROP": [(1, replaced(-1, 99), "beyond")],
    "CAST": [(1, replaced(0, -1), "below"), (1, replaced(0, 13), "above")],
}
# Values of data, which are looked at only when the model runs, whether constant or not.
DATA = {("GATHER", 1), ("SCATTER_ND", 0), ("SPARSE_TO_DENSE", 0), ("GATHER_ND", 1)}


def inputs(o):
    for i, make, word in INDEX.get(o.name, []):
        b = base(o.name)
        if o.name == "SLICE":
            b = base(o.name, lambda b: not b.params)
        if o.name == "CROP":
            b = base(o.name, lambda b: "data" in b.input(1))
        t, a = b.input(i), b.value(b.ins[i])
        new = body(t, make(b, a))
        stage = ADD if o.name == "CAST" else RUN if (o.name, i) in DATA or "feed" in t else BUILD
        refuse(b, f"input_{i}_{word}", f"input {i}", stage, {b.ins[i]: new}, mentions=[] if stage == RUN else ["input"] if o.name in ("FILL",) else [])
        if "data" in t and o.name != "CAST":
            fed = {"data": None, "feed": {"dims": new["dims"], "data": new["data"]}, "dims": new["dims"]}
            outs = {k: {"dims": [-1] * len(b.tensors[k]["dims"])} for k in b.outs}
            refuse(b, f"input_{i}_{word}_at_run_time", f"input {i}", RUN, {b.ins[i]: fed, **outs}, mentions=[])


def only_while_running():
    """An input whose value is wanted before the operator is added."""
    b = base("CAST")
    refuse(b, "type_known_only_at_run_time", "input 1", ADD, {b.ins[1]: {"data": None, "feed": {"dims": b.input(1)["dims"], "data": b.input(1)["data"]}}})


def make():
    for op in OPERATORS:
        o = Operator(op)
        parameters(o)
        inputs(o)
    full_connection()
    only_while_running()
