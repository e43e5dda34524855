"""The largest and the smallest number of 64 bits as parameter or as element of an input that says how to compute, and filters without
quantization."""

from near import ADD, BUILD, RUN, base, bases, near, refuse
from operators import OPERATORS, Operator

EXTREMES = {"largest": 2**63 - 1, "smallest": -(2**63)}
# What the device does not look at, or takes as without a bound: the judged case's result comes out.
UNUSED = {"ASSERT SUMMARIZE", "CONSTANT_OF_SHAPE DATA_TYPE", "DETECTION_POST_PROCESS INPUT_SIZE", "DETECTION_POST_PROCESS DETECTIONS_PER_CLASS largest", "LAYER_NORM BEGIN_PARAM_AXIS",
          "QUANT_DTYPE_CAST SRC_T", "QUANT_DTYPE_CAST DST_T", "RESIZE_BILINEAR EXCLUDE_OUTSIDE", "STRIDED_SLICE input 1 smallest", "STRIDED_SLICE input 2 largest"}
# What has a meaning, but a result of another shape than the one declared, and indices, which are looked at when the model runs.
LATE = {"DETECTION_POST_PROCESS MAX_DETECTIONS largest", "FILL input 1 largest", "GATHER input 1", "GATHER_ND input 1", "ONE_HOT input 1 largest", "RANGE START", "RANGE LIMIT", "RANGE DELTA",
        "SCATTER_ND input 0", "SCATTER_ND input 2 largest", "SPARSE_TO_DENSE input 0", "SPARSE_TO_DENSE input 2 largest", "STRIDED_SLICE BEGIN_MASK", "STRIDED_SLICE END_MASK",
        "STRIDED_SLICE ELLIPSIS_MASK smallest", "STRIDED_SLICE NEW_AXIS_MASK", "STRIDED_SLICE SHRINK_AXIS_MASK", "STRIDED_SLICE input 1 largest", "STRIDED_SLICE input 2 smallest",
        "STRIDED_SLICE input 3", "ALL KEEP_DIMS"}


def extreme(b, word, about, change):
    keys = {f"{b.op} {about}", f"{b.op} {about} {word}"}
    name = f"{about.lower().replace(' ', '_')}_{word}"
    if keys & UNUSED:
        near(b, name, about, tensors=change)
    else:
        stage = ADD if about == "BEGIN_NORM_AXIS" else RUN if keys & LATE else BUILD
        refuse(b, name, about, stage, change, mentions=[])


def parameters(o):
    for p in o.params:
        if p.dtype != "int64":
            continue
        b = base(o.name, lambda b: b.param(p.name) is not None and len(b.tensors[b.param(p.name)]["data"]) > 0)
        if b is None:
            continue
        i = b.param(p.name)
        for word, v in EXTREMES.items():
            extreme(b, word, p.name, {i: {"data": [v] + b.tensors[i]["data"][1:]}})


def inputs(o):
    for i, x in enumerate(o.inputs):
        b = base(o.name, lambda b: i < len(b.ins) and b.input(i).get("data"))
        if x.kind != "index" or b is None:
            continue
        for word, v in EXTREMES.items():
            extreme(b, word, f"input {i}", {b.ins[i]: {"type": "int64", "data": [v] + b.input(i)["data"][1:]}})


def quantization(o):
    """Filters of plain integers beside a quantized image."""
    b = next(bases(o.name, lambda b: "quant" in b.input(0) and "quant" in b.output(0), plain=False), None)
    if b is not None and o.inputs[0].kind == "linear":
        refuse(b, "input_1_integers_without_quantization", "input 1", BUILD, {b.ins[1]: {"quant": None}})


def make():
    for op in OPERATORS:
        o = Operator(op)
        parameters(o)
        inputs(o)
        quantization(o)
