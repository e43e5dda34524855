#!/usr/bin/env python3
"""Make cases.zip: small ONNX models with inputs and expected outputs.

    python3 -m venv venv && venv/bin/pip install -r requirements.txt && venv/bin/python gen.py

Expected values are those of ONNX Runtime, and of the reference evaluator of the onnx package where ONNX Runtime has no kernel. Where both
compute a case they must agree, otherwise the script stops; cases where the reference evaluator is known to be wrong leave it out. The same versions write the same bytes.
"""
import itertools
import os
import sys
import zipfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

ort.set_default_logger_severity(4)
rng = np.random.Generator(np.random.PCG64(20240518))
cases = {}
options = ort.SessionOptions()
sources = {"both": 0, "onnxruntime": 0, "reference": 0, "formula": 0}


def f32(*shape):
    return rng.uniform(-2, 2, shape).astype(np.float32)


def node(op, ins, outs, **attrs):
    return helper.make_node(op, ins.split(), outs.split(), **attrs)


def run_both(model, feeds):
    try:
        session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        a = session.run(None, feeds)
    except Exception:  # no kernel for these types
        a = None
    try:
        b = ReferenceEvaluator(model).run(None, feeds)
    except Exception:
        b = None
    return a, b


def add(name, nodes, feeds, inits=None, opset=21, dynamic=False, functions=(), skip_reference=False, skip_onnxruntime=False, rtol=1e-4, atol=1e-5,
        outs=(), expected=None, change=None):
    """Adds a case; feeds and inits map names to arrays, the outputs are outs, or what the last node makes. expected are the arrays that a formula
    of the script gives: evaluators that are not left out must agree with them. change is called with the model before it is used."""
    nodes = nodes if isinstance(nodes, list) else [nodes]
    inputs = []
    for k, v in feeds.items():
        shape = [f"{k}_{i}" for i in range(v.ndim)] if dynamic else list(v.shape)
        inputs.append(helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(v.dtype), shape))
    outs = list(outs) or [o for o in nodes[-1].output if o]
    imports = [helper.make_opsetid("", opset)] + [helper.make_opsetid(d, 1) for d in sorted({f.domain for f in functions})]

    def build(types):
        g = helper.make_graph(nodes, name, inputs, [helper.make_tensor_value_info(o, t, None) for o, t in zip(outs, types)],
                              [numpy_helper.from_array(np.asarray(v), k) for k, v in (inits or {}).items()])
        m = helper.make_model(g, opset_imports=imports, ir_version=10, functions=list(functions), producer_name="gen.py")
        if change:
            change(m)
        return m

    blank = build([TensorProto.UNDEFINED] * len(outs))
    for o in blank.graph.output:
        o.ClearField("type")
    try:
        made = ReferenceEvaluator(blank).run(None, feeds) if expected is None else expected
        types = [helper.np_dtype_to_tensor_dtype(np.asarray(x).dtype) for x in made]
    except Exception as e:
        inferred = {v.name: v.type.tensor_type.elem_type for v in onnx.shape_inference.infer_shapes(blank).graph.output}
        types = [inferred[o] for o in outs]
        if TensorProto.UNDEFINED in types:
            sys.exit(f"{name}: {e}")
    model = build(types)
    a, b = run_both(model, feeds)
    if skip_reference:
        b = None
    if skip_onnxruntime:
        a = None
    if a is None and b is None and expected is None:
        sys.exit(f"{name}: neither evaluator computes it")
    known = [r for r in (expected, a, b) if r is not None]
    for other in known[1:]:
        for x, y in zip(known[0], other):
            x, y = np.asarray(x), np.asarray(y)
            if x.dtype != y.dtype or x.shape != y.shape or not np.allclose(x.astype(np.float64), y.astype(np.float64), rtol, atol, equal_nan=True):
                sys.exit(f"{name}: the evaluators disagree:\n{x}\n{y}")
    sources["formula" if expected is not None else "both" if a is not None and b is not None else "onnxruntime" if a is not None else "reference"] += 1
    if name in cases:
        sys.exit(f"{name} twice")
    cases[name] = (model, feeds, dict(zip(outs, known[0])))


def elementwise():
    for op in "Abs Neg Exp Floor Ceil Sigmoid Tanh Relu Sin Cos Erf Sign Softplus Softsign Round HardSwish".split():
        add(f"unary_{op.lower()}", node(op, "x", "y"), {"x": f32(2, 3, 5)}, dynamic=True)
    for op in "Log Sqrt Reciprocal".split():
        add(f"unary_{op.lower()}", node(op, "x", "y"), {"x": np.abs(f32(3, 4)) + np.float32(0.1)})
    for op, attrs in {"Elu": {"alpha": 0.7}, "LeakyRelu": {"alpha": 0.2}, "Selu": {}, "Celu": {"alpha": 1.5}, "HardSigmoid": {"alpha": 0.3, "beta": 0.4},
                      "ThresholdedRelu": {"alpha": 0.5}, "Shrink": {"lambd": 0.6, "bias": 0.1}, "Gelu": {"approximate": "tanh"}}.items():
        add(f"unary_{op.lower()}", node(op, "x", "y", **attrs), {"x": f32(4, 7)})
    shapes = {"same": ((2, 3), (2, 3)), "row": ((2, 3, 4), (4,)), "column": ((2, 3), (2, 1)), "outer": ((3, 1), (1, 4)), "scalar": ((2, 2), ())}
    for op, (how, (s, t)) in itertools.product("Add Sub Mul Div".split(), shapes.items()):
        add(f"binary_{op.lower()}_{how}", node(op, "a b", "y"), {"a": f32(*s), "b": np.asarray(f32(*t) + np.float32(3))}, dynamic=how == "outer")
    for op in "Equal Less GreaterOrEqual".split():
        a = rng.integers(-3, 3, (4, 5)).astype(np.int64)
        add(f"compare_{op.lower()}", node(op, "a b", "y"), {"a": a, "b": rng.integers(-3, 3, (5,)).astype(np.int64)})
    for t in (np.int32, np.int64):
        a, b = rng.integers(-20, 20, (9,)).astype(t), rng.choice([-7, -3, 2, 5], 9).astype(t)
        add(f"mod_{t.__name__}", node("Mod", "a b", "y"), {"a": a, "b": b})
        add(f"fmod_{t.__name__}", node("Mod", "a b", "y", fmod=1), {"a": a, "b": b})
        add(f"div_{t.__name__}", node("Div", "a b", "y"), {"a": np.abs(a), "b": np.abs(b)})
    add("pow_float_int", node("Pow", "a b", "y"), {"a": f32(5), "b": np.array([0, 1, 2, 3, -1], np.int64)})
    add("max_of_three", node("Max", "a b c", "y"), {"a": f32(2, 1), "b": f32(3), "c": f32(1)})
    add("mean_of_three", node("Mean", "a b c", "y"), {"a": f32(2, 3), "b": f32(3), "c": f32(1)})
    add("clip_upper_only", node("Clip", "x  hi".replace("  ", " lo "), "y"), {"x": f32(6)}, {"lo": np.float32(-9), "hi": np.float32(0.5)})
    add("clip_attributes", node("Clip", "x", "y", min=-0.5, max=0.25), {"x": f32(6)}, opset=7)
    add("where_broadcast", node("Where", "c a b", "y"), {"c": np.array([[True], [False]]), "a": f32(3), "b": f32(2, 3)})
    for to, v in {"int32": TensorProto.INT32, "uint8": TensorProto.UINT8, "bool": TensorProto.BOOL, "float16": TensorProto.FLOAT16, "double": TensorProto.DOUBLE}.items():
        add(f"cast_float_{to}", node("Cast", "x", "y", to=v), {"x": np.abs(f32(8)) * 20})


def reductions():
    for op in "ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSumExp ReduceSumSquare".split():
        for keep, axes in ((0, [1]), (1, [0, -1])):
            add(f"{op.lower()}_{keep}", node(op, "x axes", "y", keepdims=keep), {"x": f32(2, 3, 4)}, {"axes": np.array(axes, np.int64)})
    add("reducemean_axes_attribute", node("ReduceMean", "x", "y", axes=[2, 3], keepdims=1), {"x": f32(1, 2, 3, 3)}, opset=11, dynamic=True)
    for axis in (0, 1, -1):
        add(f"argmax_axis{axis}", node("ArgMax", "x", "y", axis=axis, keepdims=0), {"x": f32(3, 4, 2)})
        add(f"softmax_axis{axis}", node("Softmax", "x", "y", axis=axis), {"x": f32(3, 4, 2)})
        add(f"softmax_11_axis{axis}", node("Softmax", "x", "y", axis=axis), {"x": f32(3, 4, 2)}, opset=11, skip_reference=True)
        add(f"cumsum_axis{axis}", node("CumSum", "x axis", "y", exclusive=int(axis == 0), reverse=int(axis == 1)), {"x": f32(3, 4, 2)}, {"axis": np.int64(axis)})
    for largest in (0, 1):
        add(f"topk_{largest}", node("TopK", "x k", "v i", axis=1, largest=largest), {"x": f32(2, 7)}, {"k": np.array([3], np.int64)})
    add("logsoftmax_last", node("LogSoftmax", "x", "y"), {"x": f32(2, 9) * 10})


def movement():
    ints = lambda *v: np.array(v, np.int64)
    add("reshape_zero_minus_one", node("Reshape", "x s", "y"), {"x": f32(2, 3, 4)}, {"s": ints(0, -1)}, dynamic=True)
    add("reshape_allowzero", node("Reshape", "x s", "y", allowzero=1), {"x": f32(0, 3)}, {"s": ints(3, 0)})
    for perm in ([1, 0, 2], [2, 0, 1], [0, 2, 1]):
        add("transpose_" + "".join(map(str, perm)), node("Transpose", "x", "y", perm=perm), {"x": f32(2, 3, 4)})
    add("concat_last", node("Concat", "a b c", "y", axis=-1), {"a": f32(2, 1), "b": f32(2, 3), "c": f32(2, 2)})
    add("split_sizes", node("Split", "x s", "a b c", axis=1), {"x": f32(2, 7)}, {"s": ints(1, 4, 2)})
    add("split_ragged", node("Split", "x", "a b c", axis=0, num_outputs=3), {"x": f32(8)})
    for i, (starts, ends, steps) in enumerate((([1], [3], [1]), ([-1], [-9], [-2]), ([0], [100], [3]))):
        add(f"slice_{i}", node("Slice", "x s e a t", "y"), {"x": f32(8, 2)}, {"s": ints(*starts), "e": ints(*ends), "a": ints(0), "t": ints(*steps)})
    for mode in ("constant", "reflect", "edge", "wrap"):
        add(f"pad_{mode}", node("Pad", "x p", "y", mode=mode), {"x": f32(3, 4)}, {"p": ints(1, 2, 0, 1)})
    add("gather_negative", node("Gather", "x i", "y", axis=1), {"x": f32(2, 5), "i": ints(-1, 0, 3)})
    add("gather_elements", node("GatherElements", "x i", "y", axis=1), {"x": f32(2, 4), "i": np.array([[0, -1], [2, 1]], np.int64)})
    add("gather_nd_batch", node("GatherND", "x i", "y", batch_dims=1), {"x": f32(2, 3, 4), "i": np.array([[1], [2]], np.int64)})
    for red in ("none", "add", "mul", "max", "min"):
        add(f"scatter_elements_{red}", node("ScatterElements", "x i u", "y", axis=1, reduction=red), {"x": f32(2, 4), "i": np.array([[0, 2], [3, 1]], np.int64), "u": f32(2, 2)},
            skip_reference=red == "mul")
        add(f"scatter_nd_{red}", node("ScatterND", "x i u", "y", reduction=red), {"x": f32(5, 2), "i": np.array([[4], [1]], np.int64), "u": f32(2, 2)})
    add("tile_expand", [node("Tile", "x r", "t"), node("Expand", "t s", "y")], {"x": f32(1, 2)}, {"r": ints(3, 2), "s": ints(2, 3, 4)})
    add("squeeze_unsqueeze", [node("Unsqueeze", "x a", "t"), node("Squeeze", "t b", "y")], {"x": f32(1, 3)}, {"a": ints(0, -1), "b": ints(1)})
    for mode in ("DCR", "CRD"):
        add(f"depth_to_space_{mode.lower()}", node("DepthToSpace", "x", "y", blocksize=2, mode=mode), {"x": f32(1, 8, 2, 3)})
    add("one_hot_first", node("OneHot", "i d v", "y", axis=0), {"i": ints(0, 3, -1)}, {"d": np.int64(4), "v": np.array([-1, 2], np.float32)})
    add("trilu_lower", node("Trilu", "x k", "y", upper=0), {"x": f32(2, 3, 4)}, {"k": np.int64(1)})
    add("nonzero", node("NonZero", "x", "y"), {"x": np.array([[1, 0, 2], [0, 0, 3]], np.float32)})
    add("compress_axis", node("Compress", "x c", "y", axis=1), {"x": f32(2, 4), "c": np.array([True, False, True])})
    add("unique_counts", node("Unique", "x", "y i v c"), {"x": np.array([2, 1, 1, 3, 4, 3], np.float32)})
    add("reverse_sequence", node("ReverseSequence", "x l", "y", batch_axis=1, time_axis=0), {"x": f32(4, 3), "l": ints(1, 4, 2)})
    add("shape_arithmetic", [node("Shape", "x", "s"), node("Gather", "s i", "n"), node("Mul", "n n", "m"), node("ConstantOfShape", "m", "y")],
        {"x": f32(3, 2)}, {"i": ints(1)}, dynamic=True)


def spatial():
    for i, (pads, strides, dil, group) in enumerate((([0] * 4, [1, 1], [1, 1], 1), ([1] * 4, [2, 2], [1, 1], 1), ([2, 1, 0, 1], [1, 2], [2, 1], 2), ([1] * 4, [1, 1], [1, 1], 4))):
        add(f"conv_{i}", node("Conv", "x w b", "y", pads=pads, strides=strides, dilations=dil, group=group), {"x": f32(2, 4, 8, 7)},
            {"w": f32(8, 4 // group, 3, 3), "b": f32(8)}, dynamic=i == 1)
        add(f"conv_computed_filter_{i}", node("Conv", "x w", "y", pads=pads, strides=strides, dilations=dil, group=group), {"x": f32(1, 4, 8, 7), "w": f32(4, 4 // group, 3, 3)})
        add(f"conv_transpose_{i}", node("ConvTranspose", "x w b", "y", pads=pads, strides=strides, dilations=dil, group=group), {"x": f32(1, 4, 5, 4)},
            {"w": f32(4, 8 // group, 3, 3), "b": f32(8)})
    for auto in ("SAME_UPPER", "SAME_LOWER", "VALID"):
        add(f"conv_{auto.lower()}", node("Conv", "x w", "y", auto_pad=auto, strides=[2, 2]), {"x": f32(1, 2, 7, 6)}, {"w": f32(3, 2, 3, 2)}, skip_reference=True)
        add(f"maxpool_{auto.lower()}", node("MaxPool", "x", "y", auto_pad=auto, kernel_shape=[3, 2], strides=[2, 2]), {"x": f32(1, 2, 7, 6)}, skip_reference=True)
    add("conv_1d", node("Conv", "x w", "y", pads=[1, 1]), {"x": f32(2, 3, 9)}, {"w": f32(4, 3, 3)})
    add("conv_3d", node("Conv", "x w", "y"), {"x": f32(1, 2, 4, 4, 4)}, {"w": f32(3, 2, 2, 2, 2)})
    for include, ceil in itertools.product((0, 1), (0, 1)):
        add(f"avgpool_include{include}_ceil{ceil}", node("AveragePool", "x", "y", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4, count_include_pad=include, ceil_mode=ceil),
            {"x": f32(1, 2, 8, 8)}, opset=19 if not ceil else 21, skip_reference=bool(ceil))
    add("maxpool_indices", node("MaxPool", "x", "y i", kernel_shape=[2, 2], strides=[2, 2]), {"x": f32(1, 2, 4, 6)})
    add("global_pools", [node("GlobalAveragePool", "x", "a"), node("GlobalMaxPool", "x", "m"), node("Concat", "a m", "y", axis=1)], {"x": f32(2, 3, 5, 4)})
    for mode, coord in (("nearest", "asymmetric"), ("nearest", "half_pixel"), ("linear", "half_pixel"), ("linear", "align_corners"), ("cubic", "half_pixel"), ("linear", "pytorch_half_pixel")):
        extra = {"nearest_mode": "floor"} if mode == "nearest" else {}
        add(f"resize_{mode}_{coord}", node("Resize", "x   n".replace("   ", " e e "), "y", mode=mode, coordinate_transformation_mode=coord, **extra), {"x": f32(1, 2, 4, 5)},
            {"e": np.zeros(0, np.float32), "n": np.array([1, 2, 7, 8], np.int64)}, opset=13, skip_reference=True)
    add("upsample_9", node("Upsample", "x s", "y", mode="nearest"), {"x": f32(1, 1, 2, 3)}, {"s": np.array([1, 1, 2, 3], np.float32)}, opset=9)
    add("grid_sample", node("GridSample", "x g", "y"), {"x": f32(1, 2, 4, 4), "g": f32(1, 3, 2, 2) / 2}, opset=16)
    add("roi_align", node("RoiAlign", "x r b", "y", output_height=2, output_width=2, sampling_ratio=2, spatial_scale=0.5), {"x": f32(1, 2, 6, 6)},
        {"r": np.array([[1, 1, 8, 9]], np.float32), "b": np.array([0], np.int64)}, opset=16)
    add("nms", node("NonMaxSuppression", "b s m i t", "y"), {"b": np.array([[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 2, 1, 3]]], np.float32), "s": np.array([[[0.9, 0.8, 0.7]]], np.float32)},
        {"m": np.array([3], np.int64), "i": np.array([0.5], np.float32), "t": np.array([0.1], np.float32)})


def linear():
    for i, (a, b) in enumerate((((3, 4), (4, 2)), ((4,), (4, 2)), ((2, 3, 4), (4,)), ((2, 1, 3, 4), (5, 4, 2)))):
        add(f"matmul_{i}", node("MatMul", "a b", "y"), {"a": f32(*a), "b": f32(*b)}, dynamic=i == 0)
    for ta, tb in itertools.product((0, 1), (0, 1)):
        add(f"gemm_{ta}{tb}", node("Gemm", "a b c", "y", transA=ta, transB=tb, alpha=0.5, beta=1.5), {"a": f32(*((4, 3) if ta else (3, 4)))},
            {"b": f32(*((2, 4) if tb else (4, 2))), "c": f32(2)})
    for eq, shapes in {"ij,jk->ik": ((2, 3), (3, 4)), "bhid,bhjd->bhij": ((1, 2, 3, 4), (1, 2, 5, 4)), "ii->i": ((3, 3),)}.items():
        names = "abc"[: len(shapes)]
        add("einsum_" + eq.replace(",", "_").replace("->", "_to_"), node("Einsum", " ".join(names), "y", equation=eq), {n: f32(*s) for n, s in zip(names, shapes)})
    add("batch_norm", node("BatchNormalization", "x s b m v", "y", epsilon=1e-3), {"x": f32(2, 3, 4)}, {"s": f32(3), "b": f32(3), "m": f32(3), "v": np.abs(f32(3))})
    add("instance_norm", node("InstanceNormalization", "x s b", "y"), {"x": f32(2, 3, 4, 4)}, {"s": f32(3), "b": f32(3)})
    add("layer_norm", node("LayerNormalization", "x s b", "y", axis=-1), {"x": f32(2, 3, 8)}, {"s": f32(8), "b": f32(8)})
    add("lrn", node("LRN", "x", "y", size=3, alpha=0.01), {"x": f32(1, 6, 3, 3)}, skip_reference=True)
    for op, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        for direction, d in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
            outs = "y h c" if op == "LSTM" else "y h"
            add(f"{op.lower()}_{direction}", node(op, "x w r b", outs, hidden_size=3, direction=direction), {"x": f32(4, 2, 5)},
                {"w": f32(d, gates * 3, 5), "r": f32(d, gates * 3, 3), "b": f32(d, 2 * gates * 3)}, skip_reference=True)


def quantized():
    for t in (np.uint8, np.int8):
        z = t(3)
        add(f"quantize_{t.__name__}", node("QuantizeLinear", "x s z", "y"), {"x": f32(3, 4) * 4}, {"s": np.float32(0.05), "z": z})
        add(f"dequantize_axis_{t.__name__}", node("DequantizeLinear", "x s z", "y", axis=0), {"x": rng.integers(-100, 100, (3, 4)).astype(t)},
            {"s": np.array([0.1, 0.2, 0.3], np.float32), "z": np.array([1, 2, 3], t)})
    add("dynamic_quantize", node("DynamicQuantizeLinear", "x", "y s z"), {"x": f32(6)})
    add("qlinear_conv", node("QLinearConv", "x xs xz w ws wz ys yz", "y", pads=[1] * 4), {"x": rng.integers(0, 255, (1, 2, 5, 5)).astype(np.uint8)},
        {"xs": np.float32(0.02), "xz": np.uint8(128), "w": rng.integers(-127, 127, (3, 2, 3, 3)).astype(np.int8), "ws": np.array([0.01, 0.02, 0.03], np.float32),
         "wz": np.zeros(3, np.int8), "ys": np.float32(0.1), "yz": np.uint8(120)}, skip_reference=True)
    add("matmul_integer", node("MatMulInteger", "a b az bz", "y"), {"a": rng.integers(0, 255, (3, 4)).astype(np.uint8), "b": rng.integers(0, 255, (4, 2)).astype(np.uint8)},
        {"az": np.uint8(7), "bz": np.uint8(9)})
    nodes = [node("QuantizeLinear", "x s z", "q"), node("DequantizeLinear", "q s z", "d"), node("DequantizeLinear", "w ws wz", "wd", axis=0),
             node("Conv", "d wd", "c"), node("QuantizeLinear", "c ys yz", "cq"), node("DequantizeLinear", "cq ys yz", "y")]
    add("qdq_conv", nodes, {"x": f32(1, 2, 6, 6)}, {"s": np.float32(2 / 127), "z": np.uint8(128), "w": rng.integers(-127, 127, (3, 2, 3, 3)).astype(np.int8),
        "ws": np.array([0.004, 0.005, 0.006], np.float32), "wz": np.zeros(3, np.int8), "ys": np.float32(0.05), "yz": np.uint8(127)}, opset=17, rtol=1e-3, atol=0.051)


def control():
    then = helper.make_graph([node("Add", "x x", "t")], "then", [], [helper.make_tensor_value_info("t", TensorProto.FLOAT, None)])
    other = helper.make_graph([node("Neg", "x", "e")], "else", [], [helper.make_tensor_value_info("e", TensorProto.FLOAT, None)])
    for c in (True, False):
        add(f"if_{str(c).lower()}", node("If", "c", "y", then_branch=then, else_branch=other), {"c": np.array(c), "x": f32(3)})
    info = helper.make_tensor_value_info
    body = helper.make_graph([node("Add", "v step", "w"), node("Identity", "c", "d"), node("Mul", "w w", "scan")], "body",
                             [info("i", TensorProto.INT64, []), info("c", TensorProto.BOOL, []), info("v", TensorProto.FLOAT, [2])],
                             [info("d", TensorProto.BOOL, []), info("w", TensorProto.FLOAT, [2]), info("scan", TensorProto.FLOAT, [2])])
    for n in (0, 1, 4):
        add(f"loop_{n}", node("Loop", "n c v", "last all", body=body), {"n": np.array(n, np.int64), "c": np.array(True), "v": f32(2), "step": f32(2)}, skip_reference=True)
    scan = helper.make_graph([node("Add", "s x", "t"), node("Identity", "t", "o")], "scan", [info("s", TensorProto.FLOAT, [2]), info("x", TensorProto.FLOAT, [2])],
                             [info("t", TensorProto.FLOAT, [2]), info("o", TensorProto.FLOAT, [2])])
    add("scan_sum", node("Scan", "s x", "last all", body=scan, num_scan_inputs=1), {"s": f32(2), "x": f32(5, 2)})
    f = helper.make_function("local", "Twist", ["a", "b"], ["r"], [node("Sub", "a b", "t"), helper.make_node("LeakyRelu", ["t"], ["r"])], [helper.make_opsetid("", 21)])
    g = helper.make_function("local", "Twice", ["a"], ["r"], [helper.make_node("Twist", ["a", "a"], ["t"], domain="local"), node("Add", "t a", "r")],
                             [helper.make_opsetid("", 21), helper.make_opsetid("local", 1)])
    add("function", helper.make_node("Twist", ["x", "z"], ["y"], domain="local"), {"x": f32(4), "z": f32(4)}, functions=[f])
    add("function_in_function", helper.make_node("Twice", ["x"], ["y"], domain="local"), {"x": f32(4)}, functions=[f, g])


def sequences():
    """Models whose sequences an importer can take apart: every position is a constant."""
    at = lambda v: np.array(v, np.int64)
    last = lambda v: [node("ConcatFromSequence", f"{v}", "y", axis=0)]
    three = {"a": f32(2, 3), "b": f32(1, 3), "c": f32(4, 3)}
    build = node("SequenceConstruct", "a b c", "s")
    for k, p in enumerate((0, 2, -1, -3)):
        add(f"sequence_at_{k}", [build, node("SequenceAt", "s p", "y")], three, {"p": at(p)}, dynamic=k == 1)
        add(f"sequence_erase_{k}", [build, node("SequenceErase", "s p", "t")] + last("t"), three, {"p": at(p)})
    for k, p in enumerate((0, 1, 3, -1, -3)):
        add(f"sequence_insert_{k}", [build, node("SequenceInsert", "s x p", "t")] + last("t"), {**three, "x": f32(2, 3)}, {"p": at(p)}, skip_reference=p == 3)
    add("sequence_insert_end", [build, node("SequenceInsert", "s x", "t")] + last("t"), {**three, "x": f32(2, 3)})
    add("sequence_erase_end", [build, node("SequenceErase", "s", "t")] + last("t"), three)
    add("sequence_empty", [node("SequenceEmpty", "", "s", dtype=TensorProto.INT64), node("SequenceInsert", "s a", "t"), node("SequenceInsert", "t b z", "u")] + last("u"),
        {"a": at([1, 2]), "b": at([3])}, {"z": at(0)})
    add("sequence_length", [build, node("SequenceErase", "s", "t"), node("SequenceLength", "t", "y")], three)
    add("sequence_identity", [build, node("Identity", "s", "t"), node("SequenceAt", "t p", "y")], three, {"p": np.array(1, np.int32)})
    same = {"a": f32(2, 3), "b": f32(2, 3)}
    pair = node("SequenceConstruct", "a b", "s")
    for axis in (0, 1, -1):
        add(f"concat_from_sequence_axis{axis}", [pair, node("ConcatFromSequence", "s", "y", axis=axis)], same)
    for axis in (0, 2, -1, -3):
        add(f"concat_from_sequence_new_axis{axis}", [pair, node("ConcatFromSequence", "s", "y", axis=axis, new_axis=1)], same)
    for keep, axis in ((0, 0), (1, 1), (0, -1)):
        add(f"split_to_sequence_keep{keep}_axis{axis}", [node("SplitToSequence", "x", "s", axis=axis, keepdims=keep), node("SequenceAt", "s p", "y")],
            {"x": f32(3, 4)}, {"p": at(-1)})
    for name, sizes, p in (("even", 2, 1), ("ragged", 4, -1), ("whole", 9, 0), ("list", [1, 3, 2], 1)):
        add(f"split_to_sequence_{name}", [node("SplitToSequence", "x z", "s", axis=1, keepdims=0), node("SequenceAt", "s p", "y")], {"x": f32(2, 6)},
            {"z": at(sizes), "p": at(p)})
    add("split_then_concat", [node("SplitToSequence", "x", "s", axis=1, keepdims=0), node("SequenceErase", "s p", "t"), node("ConcatFromSequence", "t", "y", axis=1, new_axis=1)],
        {"x": f32(3, 4, 2)}, {"p": at(1)})
    info, some = helper.make_tensor_value_info, lambda v: helper.make_tensor_sequence_value_info(v, TensorProto.FLOAT, None)
    body = helper.make_graph([node("Mul", "i k", "m"), node("Add", "m w", "o")], "body", [info("i", TensorProto.FLOAT, None), info("k", TensorProto.FLOAT, None)],
                             [info("o", TensorProto.FLOAT, None)], [numpy_helper.from_array(f32(3), "w")])
    add("sequence_map_tensor", [build, node("SequenceMap", "s k", "t", body=body)] + last("t"), {**three, "k": f32(1, 3)}, skip_onnxruntime=True)
    add("sequence_map_sequences", [build, node("SequenceMap", "s s", "t", body=body)] + last("t"), three, skip_onnxruntime=True)
    then = helper.make_graph([node("SequenceInsert", "s a", "t")], "then", [], [some("t")])
    other = helper.make_graph([node("SequenceErase", "s", "e")], "else", [], [some("e")])
    for c in (True, False):
        add(f"sequence_if_{str(c).lower()}", [build, node("If", "k", "r", then_branch=then, else_branch=other)] + last("r"), three, {"k": np.array(c)})
    then = helper.make_graph([node("SequenceAt", "s one", "t")], "then", [], [info("t", TensorProto.FLOAT, None)])
    other = helper.make_graph([node("SequenceAt", "s two", "f"), node("Neg", "f", "e")], "else", [], [info("e", TensorProto.FLOAT, None)])
    for c in (True, False):
        add(f"sequence_read_in_if_{str(c).lower()}", [build, node("If", "k", "y", then_branch=then, else_branch=other)], {**three, "k": np.array(c)},
            {"one": at(1), "two": at(2)})
    trip = [info("i", TensorProto.INT64, []), info("g", TensorProto.BOOL, [])]
    more = helper.make_graph([node("Identity", "g", "h"), node("SequenceAt", "s i", "v"), node("Mul", "v v", "q"), node("SequenceInsert", "u q", "w")], "more",
                             trip + [some("u")], [info("h", TensorProto.BOOL, []), some("w")])
    add("sequence_loop", [build, node("SequenceEmpty", "", "n"), node("Loop", "m k n", "r", body=more)] + last("r"), three, {"m": at(3), "k": np.array(True)})
    total = helper.make_graph([node("Identity", "g", "h"), node("SequenceAt", "s i", "v"), node("ReduceSum", "v", "q", keepdims=0), node("Add", "u q", "w")], "total",
                              trip + [info("u", TensorProto.FLOAT, [])], [info("h", TensorProto.BOOL, []), info("w", TensorProto.FLOAT, []), info("q", TensorProto.FLOAT, [])])
    add("sequence_loop_reads", [build, node("Loop", "m k z", "y all", body=total)], three, {"m": at(2), "k": np.array(True), "z": np.float32(0)}, skip_reference=True)
    first = helper.make_graph([node("Identity", "g", "h"), node("SequenceAt", "s one", "v"), node("Add", "u v", "w")], "first",
                              trip + [info("u", TensorProto.FLOAT, [1, 3])], [info("h", TensorProto.BOOL, []), info("w", TensorProto.FLOAT, [1, 3])])
    add("sequence_loop_open", [build, node("Loop", "m k b", "y", body=first)], {**three, "m": at(4)}, {"k": np.array(True), "one": at(1)})
    f = helper.make_function("local", "Rest", ["l"], ["r"], [node("Constant", "", "z", value_int=0), node("SequenceErase", "l z", "r")], [helper.make_opsetid("", 21)])
    add("sequence_function", [build, helper.make_node("Rest", ["s"], ["t"], domain="local"), helper.make_node("Rest", ["t"], ["u"], domain="local")] + last("u"),
        three, functions=[f])


def graphs(count):
    """Random chains with branches: shapes stay [n, 6]."""
    unary = "Relu Sigmoid Tanh Abs Neg Softplus Erf".split()
    binary = "Add Sub Mul Max Min".split()
    for k in range(count):
        values, nodes, inits = ["x", "z"], [], {}
        for i in range(int(rng.integers(4, 10))):
            out, pick = f"v{i}", lambda: str(rng.choice(values[-4:]))
            kind = int(rng.integers(0, 5))
            if kind == 0:
                nodes.append(node(str(rng.choice(unary)), pick(), out))
            elif kind == 1:
                nodes.append(node(str(rng.choice(binary)), f"{pick()} {pick()}", out))
            elif kind == 2:
                inits[f"w{i}"], inits[f"b{i}"] = f32(6, 6) / 4, f32(6)
                nodes.append(node("Gemm", f"{pick()} w{i} b{i}", out, transB=int(rng.integers(0, 2))))
            elif kind == 3:
                inits[f"s{i}"], inits[f"t{i}"] = np.array([3], np.int64), np.array([0], np.int64)
                inits[f"e{i}"], inits[f"a{i}"] = np.array([6], np.int64), np.array([1], np.int64)
                p = pick()
                nodes += [node("Slice", f"{p} t{i} s{i} a{i}", f"l{i}"), node("Slice", f"{p} s{i} e{i} a{i}", f"r{i}"), node("Concat", f"r{i} l{i}", out, axis=1)]
            else:
                nodes.append(node("Softmax", pick(), out, axis=int(rng.integers(0, 2))))
            values.append(out)
        nodes.append(node("Add", f"{values[-1]} {values[-2]}", "y"))
        add(f"graph_{k:02d}", nodes, {"x": f32(3, 6), "z": f32(3, 6)}, inits, opset=int(rng.choice([13, 15, 17, 21])), dynamic=bool(k % 2))


def write(path, method=zipfile.ZIP_DEFLATED, names=None):
    """Writes the cases in the order of names, which are all, or of the alphabet."""
    with zipfile.ZipFile(path, "w") as z:
        for name in names or sorted(cases):
            model, feeds, outs = cases[name]
            files = {"model.onnx": model.SerializeToString(deterministic=True)}
            for kind, tensors in (("input", feeds), ("output", outs)):
                for i, (k, v) in enumerate(tensors.items()):
                    files[f"{kind}_{i}.pb"] = numpy_helper.from_array(np.asarray(v), k).SerializeToString(deterministic=True)
            for f in sorted(files):
                z.writestr(zipfile.ZipInfo(f"{name}/{f}", (2024, 1, 1, 0, 0, 0)), files[f], method, 9)


if __name__ == "__main__":
    elementwise()
    reductions()
    movement()
    spatial()
    linear()
    quantized()
    control()
    graphs(24)
    sequences()
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases.zip")
    write(path)
    print(f"{len(cases)} cases, {os.path.getsize(path)} bytes, expected values: {sources}")
