"""Element types, ranks, shapes and quantization that an operator does not take, and outputs that it does not make."""

import numpy as np

from near import ADD, BUILD, DECLARED, RUN, TYPES, base, bases, body, refuse
from operators import OPERATORS, Operator

# Operators that take operands of two types: mixed.py.
MIXED = {"ADD", "SUB", "MUL", "DIV", "MAXIMUM", "MINIMUM", "MOD", "POW", "SQUARED_DIFFERENCE", "ELTWISE", "EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL",
         "LOGICAL_AND", "LOGICAL_OR"}
UNSIGNED = {t for t in TYPES if t.startswith("uint")}
FLOATS = {"float16", "float32", "float64"}
CLASSES = {"any": set(TYPES), "number": set(TYPES) - {"bool"}, "signed": set(TYPES) - {"bool"} - UNSIGNED, "real": FLOATS,
           "linear": FLOATS | {"int32", "int64", "uint32", "uint64"}, "cond": set(TYPES), "index": set(TYPES) - {"bool"}}
MIX = {"float32": "int32", "int32": "float32"}


def types(o):
    b = base(o.name)
    group = [i for i, x in enumerate(o.inputs) if not x.own and x.kind not in ("cond", "index") and i < len(b.ins)]
    for i, x in enumerate(o.inputs[: len(b.ins)]):
        t = b.input(i)["type"]
        if i in group and i != group[0]:
            if o.name in MIXED:
                continue
            other = MIX.get(t, "float32")
            refuse(b, f"input_{i}_of_another_type", f"input {i}", BUILD, {b.ins[i]: {"type": other}})
            continue
        for refused in TYPES:
            if refused in CLASSES[x.kind]:
                continue
            change = {b.ins[k]: {"type": refused} for k in (group if i in group else [i])}
            if i in group:
                change.update({k: {"type": refused} for k in b.outs if b.tensors[k]["type"] == t})
            refuse(b, f"input_{i}_of_{refused}", f"input {i}", BUILD, change)
        if x.kind == "index" and "data" in b.input(i):
            refuse(b, f"input_{i}_with_a_fraction", f"input {i}", BUILD, {b.ins[i]: {"type": "float32", "data": [v + 0.5 for v in b.input(i)["data"]]}})
    t = b.output(0)
    other = "float32" if t["type"] in ("bool", "int32", "int64") else "int32"
    if o.name not in ("CONSTANT_OF_SHAPE", "RANGE", "QUANT_DTYPE_CAST"):  # the output's type says what to compute
        refuse(b, "output_of_another_type", "output 0", DECLARED, {b.outs[0]: {"type": other}})
    a = b.value(b.outs[0])
    if o.name == "QUANT_DTYPE_CAST" or a.size > 0:
        wrong = np.zeros(tuple(n + 1 for n in a.shape) or (2,))
        refuse(b, "output_of_another_shape", "output 0", DECLARED, {b.outs[0]: body(t, wrong)})


# Inputs whose rank AddOperation judges.
EARLY = {("CONV2D", 1), ("CONV2D_TRANSPOSE", 1), ("DEPTHWISE_CONV2D_NATIVE", 0), ("DEPTHWISE_CONV2D_NATIVE", 1), ("LAYER_NORM", 0)}


def ranks(o):
    b = base(o.name)
    for i, x in enumerate(o.inputs[: len(b.ins)]):
        a = b.value(b.ins[i])
        stage = ADD if (o.name, i) in EARLY else BUILD
        if x.hi is not None:
            high = a.reshape((1,) * (x.hi + 1 - a.ndim) + a.shape)
            refuse(b, f"input_{i}_of_rank_{x.hi + 1}", f"input {i}", stage, {b.ins[i]: body(b.input(i), high)})
        if x.lo > 0:
            low = a.reshape(a.shape[: x.lo - 1] + (-1,))[..., 0] if x.lo == 1 else a.reshape(a.shape[: x.lo - 2] + (-1,))
            if x.lo == 1:
                low = a.reshape(-1)[0]
            mentions = [] if x.lo == 1 or o.name == "LAYER_NORM" else None  # what fails may be the axis, which fits no scalar
            refuse(b, f"input_{i}_of_rank_{x.lo - 1}", f"input {i}", stage, {b.ins[i]: body(b.input(i), low)}, mentions=mentions)


LAST = -1
# (input, dimension) that cannot grow by one while all others stay.
GROW = {
    "BATCH_NORM": [(0, LAST), (1, 0), (2, 0), (3, 0), (4, 0)], "BIAS_ADD": [(0, LAST), (1, 0)], "CONV2D": [(0, 3), (1, 0), (1, 3), (2, 0)],
    "CONV2D_TRANSPOSE": [(0, 3), (2, 0)], "DEPTHWISE_CONV2D_NATIVE": [(0, 3), (1, 0), (1, 3), (2, 0)], "FULL_CONNECTION": [(0, LAST), (1, LAST), (2, 0)], "MATMUL": [(0, LAST), (1, -2)],
    "SCALE": [(0, LAST), (1, 0), (2, 0)], "STACK": [(0, LAST), (1, LAST)], "PRELU": [(0, LAST), (1, 0)], "LAYER_NORM": [(0, LAST), (1, 0), (2, 0)], "SELECT": [(1, LAST), (2, LAST)],
    "WHERE": [(0, LAST), (1, LAST), (2, LAST)], "INSTANCE_NORM": [(1, 0), (2, 0)], "LSTM": [(0, 2), (1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (4, 0), (4, 1), (4, 2), (5, 0), (5, 1), (5, 2)],
    "DETECTION_POST_PROCESS": [(0, 1), (1, 1), (2, 0), (2, 1)], "SPLIT": [(0, 0)], "PAD": [(1, 0)], "TRANSPOSE": [(1, 0)], "SLICE": [(1, 0), (2, 0)], "STRIDED_SLICE": [(1, 0), (2, 0), (3, 0)],
    "SPARSE_TO_DENSE": [(0, 1), (1, 0)], "SCATTER_ND": [(1, LAST)], "ONE_HOT": [(1, 0), (2, 0), (3, 0)], "GATHER": [(2, 0)], "EXPAND_DIMS": [(1, 0)], "TOP_K": [(1, 0)], "CONCAT": [(0, "other"), (1, "other")],
    "UNSTACK": [(0, 0)], "BROADCAST_TO": [(0, LAST)], "RESHAPE": [(0, LAST)], "FILL": [(0, 0)],
}
BROADCAST = {"ADD", "SUB", "MUL", "DIV", "MAXIMUM", "MINIMUM", "MOD", "POW", "SQUARED_DIFFERENCE", "ELTWISE", "EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL", "LOGICAL_AND", "LOGICAL_OR"}
EARLY_SHAPE = {"LAYER_NORM"}


def grown(a, d):
    if a.ndim == 0:
        return np.repeat(a.reshape(1), 2)
    return np.take(a, list(range(a.shape[d])) + [max(a.shape[d] - 1, 0)], axis=d)


def shapes(o):
    op = o.name
    if op in BROADCAST:
        b = base(op, lambda b: b.input(0)["dims"] == b.input(1)["dims"] and b.input(0)["dims"] and b.input(0)["dims"][-1] > 1)
        places = [(0, LAST), (1, LAST)]
    else:
        b, places = base(op), GROW.get(op, [])
        if op == "FULL_CONNECTION":
            b = base(op, lambda b: len(b.ins) == 3 and not b.params)
            b = b or base(op, lambda b: len(b.ins) == 3)
        if op in ("WHERE", "SELECT"):
            b = base(op, lambda b: b.input(0)["dims"] == b.input(1)["dims"] == b.input(2)["dims"])
    for i, d in places:
        if d == "other":  # than the axis
            axis = b.tensors[b.param("AXIS")]["data"][0] if b.param("AXIS") is not None else 0
            d = 1 - axis % b.rank(i)
        t, a = b.input(i), b.value(b.ins[i])
        name = f"input_{i}_longer_in_dimension_{d % max(a.ndim, 1)}"
        new = body(t, grown(a, d))
        refuse(b, name, f"input {i}", ADD if op in EARLY_SHAPE else BUILD, {b.ins[i]: new}, mentions=["operation 0"] if op not in EARLY_SHAPE else [])
        if "feed" in t and op not in EARLY_SHAPE and a.ndim and (op, i) != ("DEPTHWISE_CONV2D_NATIVE", 0):  # whose channels must be known
            dims = list(new["dims"])
            dims[d] = -1
            refuse(b, name + "_at_run_time", f"input {i}", RUN, {b.ins[i]: {**new, "dims": dims}, **{k: {"dims": [-1] * len(b.tensors[k]["dims"])} for k in b.outs}}, mentions=[])


def quantized(o):
    def fits(b):
        return "quant" in b.input(0) and b.input(0)["type"] in ("int8", "uint8")

    b = next(bases(o.name, fits, plain=False), None)
    if b is None:
        return
    places = [(f"input_{i}", f"input {i}", k) for i, k in enumerate(b.ins)] + [(f"output_{i}", f"output {i}", k) for i, k in enumerate(b.outs)]
    for name, about, k in places:
        q = b.tensors[k].get("quant")
        if not q or b.tensors[k]["type"] not in ("int8", "uint8"):
            continue
        low, high = (-128, 127) if b.tensors[k]["type"] == "int8" else (0, 255)
        for suffix, scale, zero in (("_scale_0", 0.0, q["zero"][0]), ("_scale_negative", -0.5, q["zero"][0]), ("_scale_too_small", 1e-60, q["zero"][0]),
                                    ("_zero_point_below", q["scale"][0], low - 1), ("_zero_point_above", q["scale"][0], high + 1)):
            refuse(b, name + suffix, about, BUILD, {k: {"quant": {"scale": [scale] + q["scale"][1:], "zero": [zero] + q["zero"][1:]}}})
        n = max(b.tensors[k]["dims"], default=1) + 1
        refuse(b, name + "_scales_for_no_dimension", about, BUILD, {k: {"quant": {"scale": [0.5] * n, "zero": [0] * n}}})
    x = o.inputs[0]
    if x.kind in ("real", "linear") and o.name not in ("SCALE",):
        refuse(b, "input_0_integers_without_quantization", "input 0", BUILD, {b.ins[0]: {"quant": None}})
    elif len(b.ins) > 1 and "quant" in b.input(1) and not o.inputs[1].own and o.inputs[1].kind in ("number", "any", "signed"):
        refuse(b, "input_1_without_quantization", "input 1", BUILD, {b.ins[1]: {"quant": None}})


def roles(o):
    """Inputs that are no operands, or that nothing gives a value."""
    b = base(o.name)
    for i, k in enumerate(b.ins):
        refuse(b, f"input_{i}_is_a_parameter", f"input {i}", ADD, {k: {"param": "ADD_ACTIVATIONTYPE"}}, mentions=[f"inputIndices.data[{i}]"], operator=False)
        others = any("feed" in b.tensors[x] for x in b.ins if x != k)  # a model needs an input
        if others and (o.name, i) != ("CAST", 1):  # whose type must be there before the operator is added
            left = {**{x: None for x in ("feed", "data") if x in b.tensors[k]}}
            refuse(b, f"input_{i}_without_a_value", f"input {i}", BUILD, {k: left}, mentions=[f"tensor {k}"])
    refuse(b, "output_is_an_input", "output 0", ADD, outs=[b.ins[0]] + b.outs[1:], mentions=["outputIndices"], operator=False)


def make():
    for op in OPERATORS:
        o = Operator(op)
        types(o)
        ranks(o)
        shapes(o)
        quantized(o)
        roles(o)
