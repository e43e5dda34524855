"""What each operator takes, restated from the API's manual and the operator notes (docs/ohnn-operators.md says what is computed). The refused cases
are made from this table, and operators.json, which is written from it, is what the tests of the suite count by.

An operator: inputs, number of outputs, parameters.

An input is "name:class:ranks". Classes of element types:
    any      every type                      number   every type but bool
    signed   floats and signed integers      real     floats
    linear   floats and integers of 32 and 64 bits: the operands of sums of products
    cond     bool, or numbers that count as true unless 0
    index    integers, or floats that hold integers
Inputs of the classes number, signed, real, linear and any of one operator have one type among them; a + after the class stands for an input
with a type of its own. ranks: "4", "1-5", "2+"; nothing: every rank. "..." as last input: any number more like the one before it.

A parameter: P(name, dtype, count, lo, hi, default, bad). count says how many elements AddOperation takes:
    one      exactly one, any rank           scalar   rank 0
    first    any number, the first counts    list     any number, the device judges
    four     four, any rank                  pair     two, in rank 1         pairs    four, in rank 2
    pad      1: a pad mode, 4: a pad list
lo and hi: AddOperation refuses values outside. bad: values that the device refuses (see rejects_params.py), default: what its absence means;
REQUIRED: Finish refuses its absence; ADVISED: the device refuses its absence. only: no value but the default has a meaning.
meant: the values of an enumeration that have one.
"""

import json

REQUIRED, ADVISED, NONE = "required", "advised", None


class P:
    def __init__(self, name, dtype, count, default, lo=None, hi=None, bad=(), only=False, meant=None):
        self.name, self.dtype, self.count, self.default, self.lo, self.hi, self.bad, self.only = name, dtype, count, default, lo, hi, list(bad), only
        self.meant = meant
        if meant is None and hi is not None:
            self.meant = [v for v in range(lo, hi + 1) if v not in self.bad]
        if dtype == "bool" and not only:
            self.meant = [0, 1]


def i64(name, default, *bad, count="one"):
    return P(name, "int64", count, default, bad=bad)


def ints(name, default, *bad, count="list"):
    return P(name, "int64", count, default, bad=bad)


def f32(name, default, *bad):
    return P(name, "float32", "one", default, bad=bad)


def flag(name, default=False, *bad, count="one"):
    return P(name, "bool", count, default, bad=bad)


def fuse(name="ACTIVATIONTYPE", count="one"):
    return P(name, "int8", count, 0, 0, 2)


def window(stride, dilation=None):
    """Parameters of a convolution."""
    ps = [ints(stride, [], [0, 1], [1, 0], [-1, 1], [1], [1, 1, 1]), P("PAD", "int64", "pad", [], bad=[[-1, 0, 0, 0], [0, 0, 0, -1]])]
    if dilation:
        ps.append(ints(dilation, [], [0, 1], [1, 0], [1, -1], [1], [1, 1, 1]))
    return ps + [P("PAD_MODE", "int8", "pad", NONE, 0, 2), fuse("ACTIVATION_TYPE")]


def pool():
    return [ints("KERNEL_SIZE", ADVISED, [0, 1], [1, 0], [-1, 1], [1], [1, 1, 1]), ints("STRIDE", [], [0, 1], [1, 0], [1, -1], [1], [1, 1, 1]),
            P("PAD_MODE", "int8", "pad", NONE, 0, 2), P("PAD", "int64", "pad", [], bad=[[-1, 0, 0, 0], [0, 0, 0, -1]]), fuse("ACTIVATION_TYPE"),
            P("ROUND_MODE", "int32", "one", 0, 0, 1), flag("GLOBAL")]


def binary(kind="number", *params):
    return [f"a:{kind}:", f"b:{kind}:"], 1, list(params)


def unary(kind):
    return [f"x:{kind}:"], 1, []


def reduction(kind="number"):
    return [f"x:{kind}+:1+", "axes:index:0-1"], 1, [flag("KEEP_DIMS"), flag("REDUCE_TO_END"), f32("COEFF", 0.0)]


AXIS = ("axis-low", "axis-high")  # -rank-1 and rank of input 0
NEW_AXIS = ("new-axis-low", "new-axis-high")  # -rank-2 and rank+1

OPERATORS = {
    "ADD": binary("any", fuse(count="first")),
    "AVG_POOL": (["x:number:4"], 1, pool()),
    "BATCH_NORM": (["x:real:1+", "scale:real:1", "offset:real:1", "mean:real:1", "variance:real:1"], 1, [f32("EPSILON", 1e-4)]),
    "BATCH_TO_SPACE_ND": (["x:any:4"], 1, [ints("BLOCKSIZE", ADVISED, [0, 1], [1, 0], [-1, 1], [1], [1, 1, 1]), ints("CROPS", [], [[-1, 0], [0, 0]], [[0, 0], [0, -1]], [[9, 0], [0, 0]], count="four")]),
    "BIAS_ADD": (["x:any:2-5", "bias:any:1"], 1, []),
    "CAST": (["x:any+:", "type:any+:"], 1, []),
    "CONCAT": (["x0:any:1+", "x1:any:1+", "..."], 1, [i64("AXIS", 0, *AXIS)]),
    "CONV2D": (["x:linear:4", "w:linear:4", "b:linear:1"], 1, window("STRIDES", "DILATION") + [i64("GROUP", 1, 0, -1, 3)]),
    "CONV2D_TRANSPOSE": (["x:linear:4", "w:linear:4", "b:linear:1"], 1,
                         window("STRIDES", "DILATION") + [ints("OUTPUT_PADDINGS", [], [-1, 0], [0, -1], [1], [9, 0]), i64("GROUP", 1, 0, -1, 3)]),
    "DEPTHWISE_CONV2D_NATIVE": (["x:linear:4", "w:linear:4", "b:linear:1"], 1, window("STRIDES", "DILATION")),
    "DIV": binary("number", fuse()),
    "ELTWISE": binary("any", P("MODE", "int8", "one", 0, 0, 3, bad=[3])),
    "EXPAND_DIMS": (["x:any:", "axis:index:0-1"], 1, []),
    "FILL": (["value:any+:0-1", "shape:index:0-1"], 1, []),
    "FULL_CONNECTION": (["x:linear:1+", "w:linear:2", "b:linear:1", "?"], 1, [i64("AXIS", NONE, *AXIS), fuse(), flag("HAS_BIAS"), flag("USE_AXIS")]),
    "GATHER": (["x:any+:1+", "indices:index:", "axis:index:0-1"], 1, []),
    "HSWISH": unary("real"),
    "LESS_EQUAL": binary("any"),
    "MATMUL": (["a:linear:", "b:linear:"], 1, [flag("TRANSPOSE_A"), flag("TRANSPOSE_B"), fuse("ACTIVATION_TYPE")]),
    "MAXIMUM": binary("any"),
    "MAX_POOL": (["x:number:4"], 1, pool()),
    "MUL": binary("any", fuse("ACTIVATION_TYPE")),
    "ONE_HOT": (["indices:index:", "depth:index:0-1", "on:any:0-1", "off:any:0-1"], 1, [i64("AXIS", -1, *NEW_AXIS, count="first")]),
    "PAD": (["x:any+:1+", "pads:index:"], 1, [f32("CONSTANT_VALUE", 0.0), P("PADDING_MODE", "int32", "one", 0, 0, 3, bad=[3])]),
    "POW": (["x:number+:", "exponent:number+:"], 1, [f32("SCALE", 1.0), f32("SHIFT", 0.0)]),
    "SCALE": (["x:real:1+", "scale:real:", "bias:real:"], 1, [fuse(), i64("AXIS", REQUIRED, *AXIS)]),
    "SHAPE": unary("any"),
    "SIGMOID": unary("real"),
    "SLICE": (["x:any+:1+", "begin:index:0-1", "size:index:0-1"], 1, [ints("AXES", NONE, "axes-low", "axes-high", "axes-twice", "axes-more")]),
    "SOFTMAX": (["x:real:1+"], 1, [i64("AXIS", -1, *AXIS)]),
    "SPACE_TO_BATCH_ND": (["x:any:4"], 1, [ints("BLOCK_SHAPE", ADVISED, [0, 1], [1, 0], [-1, 1], count="pair"), ints("PADDINGS", [], [[-1, 0], [0, 0]], [[0, 0], [0, -1]], count="pairs")]),
    "SPLIT": (["x:any:1+"], -1, [i64("AXIS", 0, *AXIS), i64("OUTPUT_NUM", 0, "outputs+1", "outputs-1", -1), ints("SIZE_SPLITS", [], "sizes-more", "sizes-less", "sizes-negative", "sizes-two-open", "sizes-count")]),
    "SQRT": unary("real"),
    "SQUARED_DIFFERENCE": binary(),
    "SQUEEZE": (["x:any:"], 1, [ints("AXIS", [], "axes-low", "axes-high")]),
    "STACK": (["x0:any:", "x1:any:", "..."], 1, [i64("AXIS", 0, *NEW_AXIS)]),
    "STRIDED_SLICE": (["x:any+:1+", "begin:index:0-1", "end:index:0-1", "strides:index:0-1"], 1,
                      [i64("BEGIN_MASK", 0, count="first"), i64("END_MASK", 0, count="first"), i64("ELLIPSIS_MASK", 0, 3, count="first"),
                       i64("NEW_AXIS_MASK", 0, count="first"), i64("SHRINK_AXIS_MASK", 0, count="first")]),
    "SUB": binary("number", fuse()),
    "TANH": unary("real"),
    "TILE": (["x:any+:", "multiples:index:0-1"], 1, [ints("DIMS", [0], "axes-low", "axes-high")]),
    "TRANSPOSE": (["x:any+:", "permutation:index:1"], 1, []),
    "REDUCE_MEAN": reduction(),
    "RESIZE_BILINEAR": (["x:number:4"], 1, [i64("NEW_HEIGHT", ADVISED, 0, -1), i64("NEW_WIDTH", ADVISED, 0, -1), P("PRESERVE_ASPECT_RATIO", "bool", "one", False, bad=[True], only=True),
                                            P("COORDINATE_TRANSFORM_MODE", "int8", "one", 0, bad=[-1, 3], meant=[0, 1, 2]), i64("EXCLUDE_OUTSIDE", 0)]),
    "RSQRT": unary("real"),
    "RESHAPE": (["x:any+:", "shape:index:0-1"], 1, []),
    "PRELU": (["x:number:", "slope:number:"], 1, []),
    "RELU": unary("number"),
    "RELU6": unary("number"),
    "LAYER_NORM": (["x:real:2+", "gamma:real:", "beta:real:"], 1, [P("BEGIN_NORM_AXIS", "int64", "scalar", 1, 1, bad=["early-0", "early-negative", "early-rank"]), P("EPSILON", "float32", "scalar", 1e-7), P("BEGIN_PARAM_AXIS", "int64", "scalar", 1)]),
    "REDUCE_PROD": reduction(),
    "REDUCE_ALL": reduction("cond"),
    "QUANT_DTYPE_CAST": (["x:any+:"], 1, [i64("SRC_T", REQUIRED, count="first"), i64("DST_T", REQUIRED, count="first"), i64("AXIS", 0, *AXIS, count="first")]),
    "TOP_K": (["x:number+:1+", "k:index:0-1"], 2, [flag("SORTED", True, count="first"), i64("AXIS", -1, *AXIS)]),
    "ARG_MAX": (["x:any:1+"], 1, [i64("AXIS", -1, *AXIS, count="first"), flag("KEEPDIMS", count="first"), i64("TOP_K", 1, 0, -1, 99, count="first"), flag("OUT_MAX_VALUE", count="first")]),
    "UNSQUEEZE": (["x:any:"], 1, [i64("AXIS", ADVISED, *NEW_AXIS)]),
    "GELU": (["x:real:"], 1, [flag("APPROXIMATE")]),
    "UNSTACK": (["x:any:1+"], -1, [i64("AXIS", 0, *AXIS)]),
    "ABS": unary("number"),
    "ERF": unary("real"),
    "EXP": (["x:real:"], 1, [f32("BASE", -1.0, 0.0, -2.0), f32("SCALE", 1.0), f32("SHIFT", 0.0)]),
    "LESS": binary("any"),
    "SELECT": (["cond:cond:", "a:any:", "b:any:"], 1, []),
    "SQUARE": unary("number"),
    "FLATTEN": (["x:any:"], 1, [i64("AXIS", 1, "axis-low", "axis-beyond")]),
    "DEPTH_TO_SPACE": (["x:any:4"], 1, [i64("BLOCK_SIZE", ADVISED, 0, -1, 7), P("MODE", "int32", "first", 0, 0, 1)]),
    "RANGE": (["x:any:"], 1, [i64("START", 0), i64("LIMIT", 0), i64("DELTA", 1, 0)]),
    "INSTANCE_NORM": (["x:real:2+", "scale:real:1", "bias:real:1"], 1, [f32("EPSILON", 0.0)]),
    "CONSTANT_OF_SHAPE": (["shape:index:0-1"], 1, [i64("DATA_TYPE", 0), P("VALUE", "float32", "list", [])]),
    "BROADCAST_TO": (["x:any:"], 1, [ints("SHAPE", ADVISED, "shape-longer", "shape-shorter", "shape-negative")]),
    "EQUAL": binary("any"),
    "GREATER": binary("any"),
    "NOT_EQUAL": binary("any"),
    "GREATER_EQUAL": binary("any"),
    "LEAKY_RELU": (["x:real:"], 1, [f32("NEGATIVE_SLOPE", 0.0)]),
    "LSTM": (["x:real:3", "wIh:real:3", "wHh:real:3", "bias:real:2", "hx:real:3", "cx:real:3"], 3,
             [flag("BIDIRECTIONAL", False, "other"), flag("HAS_BIAS"), i64("INPUT_SIZE", 0, 99, -1), i64("HIDDEN_SIZE", 0, 99, -1), i64("NUM_LAYERS", 0, 2, -1), i64("NUM_DIRECTIONS", 0, 3, -1),
              f32("DROPOUT", 0.0), f32("ZONEOUT_CELL", 0.0, -0.5, 1.5), f32("ZONEOUT_HIDDEN", 0.0, -0.5, 1.5), P("PROJ_SIZE", "int64", "one", 0, bad=[2, -1], only=True)]),
    "CLIP": (["x:number:"], 1, [f32("MAX", 0.0, "below-min"), f32("MIN", 0.0, "above-max")]),
    "ALL": (["x:cond:1+", "axis:index:0-1"], 1, [i64("KEEP_DIMS", 0)]),
    "ASSERT": (["condition:cond:", "data:any+:"], 1, [i64("SUMMARIZE", 0)]),
    "COS": unary("real"),
    "LOG": unary("real"),
    "LOGICAL_AND": binary("any"),
    "LOGICAL_NOT": unary("any"),
    "MOD": binary(),
    "NEG": unary("signed"),
    "RECIPROCAL": unary("real"),
    "SIN": unary("real"),
    "WHERE": (["cond:cond:", "a:any:", "b:any:"], 1, []),
    "SPARSE_TO_DENSE": (["indices:index:0-2", "values:any+:0-1", "shape:index:0-1"], 1, []),
    "LOGICAL_OR": binary("any"),
    "CEIL": unary("number"),
    "CROP": (["x:any+:1+", "ref:any+:"], 1, [i64("AXIS", 0, *AXIS), ints("OFFSET", [], "offset-negative", "offset-beyond", "offset-count")]),
    "DETECTION_POST_PROCESS": (["bbox:real:3", "scores:real:3", "anchors:real:2"], 4,
                               [i64("INPUT_SIZE", 0), P("SCALE", "float32", "list", ADVISED, bad=[[1.0, 1.0, 1.0], [1.0] * 5, [0.0, 1.0, 1.0, 1.0]]), f32("NMS_IOU_THRESHOLD", 0.0),
                                f32("NMS_SCORE_THRESHOLD", 0.0), i64("MAX_DETECTIONS", ADVISED, 0, -1), i64("DETECTIONS_PER_CLASS", 0, -1), i64("MAX_CLASSES_PER_DETECTION", 0, -1),
                                i64("NUM_CLASSES", ADVISED, -1, 99), flag("USE_REGULAR_NMS"), flag("OUT_QUANTIZED")]),
    "FLOOR": unary("number"),
    "L2_NORMALIZE": (["x:real:"], 1, [ints("AXIS", [], "axes-low", "axes-high", "axes-twice"), f32("EPSILON", 1e-6), fuse("ACTIVATION_TYPE")]),
    "LOG_SOFTMAX": (["x:real:1+"], 1, [i64("AXIS", 0, *AXIS)]),
    "LRN": (["x:real:1+"], 1, [i64("DEPTH_RADIUS", 0, -1), f32("BIAS", 0.0), f32("ALPHA", 0.0), f32("BETA", 0.0), P("NORM_REGION", "int32", "one", 0, 0, 0, only=True)]),
    "MINIMUM": binary("any"),
    "RANK": unary("any"),
    "REDUCE_MAX": reduction("any"),
    "REDUCE_MIN": reduction("any"),
    "REDUCE_SUM": reduction(),
    "ROUND": unary("number"),
    "SCATTER_ND": (["indices:index:1+", "updates:any+:", "shape:index:0-1"], 1, []),
    "SPACE_TO_DEPTH": (["x:any:4"], 1, [i64("BLOCK_SIZE", ADVISED, 0, -1, 7)]),
    "SWISH": unary("real"),
    "REDUCE_L2": reduction(),
    "HARD_SIGMOID": unary("real"),
    "GATHER_ND": (["x:any+:1+", "indices:index:1+"], 1, []),
}


class Input:
    def __init__(self, text):
        self.name, kind, ranks = text.split(":")
        self.own = kind.endswith("+")
        self.kind = kind.rstrip("+")
        self.lo, self.hi = 0, None
        if ranks.endswith("+"):
            self.lo = int(ranks[:-1])
        elif "-" in ranks:
            self.lo, self.hi = map(int, ranks.split("-"))
        elif ranks:
            self.lo = self.hi = int(ranks)


class Operator:
    def __init__(self, name):
        self.name = name
        texts, self.outputs, self.params = OPERATORS[name]
        self.more = texts[-1] == "..."  # any number of inputs from here on
        self.fewer = texts[-1] == "?"  # the device, not AddOperation, judges the number of inputs; the last one can be absent
        self.inputs = [Input(t) for t in texts if ":" in t]

    def param(self, name):
        return next(p for p in self.params if p.name == name)


def write(path):
    """Writes what the tests need: per operator its inputs, outputs and parameters with what the absence of each means."""
    rows = []
    for name in OPERATORS:
        o = Operator(name)
        params = [{"name": p.name, "type": p.dtype, "default": p.default, **({"only": True} if p.only else {}), **({"values": p.meant} if p.meant else {})} for p in o.params]
        rows.append(" " + json.dumps({"op": name, "inputs": [i.name for i in o.inputs], "outputs": o.outputs, "params": params}, separators=(",", ":")))
    with open(path, "w") as f:
        f.write("[\n" + ",\n".join(rows) + "\n]\n")
