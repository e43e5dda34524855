#!/usr/bin/env python3
"""Make opsets.zip.0.gz: models of opsets 24 to 28, with what these opsets brought and with operators that they left as they were, and of
opsets 1 to 6.

    python3 -m venv venv && venv/bin/pip install -r requirements.txt && venv/bin/python gen.py

Evaluators, rules and format are those of ../forms. The same versions write the same bytes.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "forms"))

import numpy as np
from onnx import TensorProto, helper

import forms
from forms import add, f32, ints, node, refused

NEWEST = 28


def half(v):
    return v.astype(np.float16)


def unchanged():
    """Operators whose definition stayed, in each opset."""
    for opset in range(24, NEWEST + 1):
        image, rows = {"x": f32(1, 3, 6, 5)}, {"x": f32(3, 7)}
        c = {"w": f32(4, 3, 3, 3), "b": f32(4), "m": f32(7, 2), "g": f32(7), "axes": ints(1), "shape": ints(7, 3)}
        for tag, nodes, x in (
            ("conv", [node("Conv", "x w b", "t", pads=[1] * 4), node("Relu", "t")], image),
            ("pool", node("MaxPool", "x", kernel_shape=[2, 2]), image),
            ("matmul", [node("MatMul", "x m", "t"), node("Softmax", "t")], rows),
            ("norm", node("RMSNormalization", "x g"), rows),
            ("sum", node("ReduceSum", "x axes"), rows),
            ("reshape", [node("Reshape", "x shape", "t"), node("Transpose", "t")], rows),
            ("topk", node("TopK", "x one", "y -", largest=1), rows),
            ("cast", node("Cast", "x", to=TensorProto.INT32), rows),
        ):
            add(f"unchanged_{tag}_{opset}", nodes, x, {**c, "one": ints(1)}, opset=opset)


def depth():
    x = f32(2, 3, 4, 6)
    for tag, v in (("float", x), ("byte", np.arange(144, dtype=np.uint8).reshape(2, 3, 4, 6)), ("half", half(x))):
        for block in (1, 2):
            for mode in ("DCR", "CRD", None):
                attrs = {"blocksize": block, **({"mode": mode} if mode else {})}
                add(f"space_to_depth_{tag}_{block}_{mode}", node("SpaceToDepth", "x", **attrs), {"x": v}, opset=28)
    for mode in ("DCR", "CRD"):
        back = [node("SpaceToDepth", "x", "t", blocksize=2, mode=mode), node("DepthToSpace", "t", blocksize=2, mode=mode)]
        add(f"space_to_depth_and_back_{mode}", back, {"x": x}, opset=28, want=x)


def windows():
    """Attention with windows before and after the own key, alone and with all that restricts keys as well."""
    q, k, v = f32(2, 4, 5, 8), f32(2, 2, 6, 8), f32(2, 2, 6, 3)
    c = {"flags": np.arange(30).reshape(5, 6) % 4 != 1, "bias": f32(5, 6), "n": ints(6, 4)}
    past = {"pk": f32(2, 2, 3, 8), "pv": f32(2, 2, 3, 3)}
    for left, right in ((-1, -1), (0, 0), (2, -1), (-1, 1), (2, 1), (1, 0), (9, 9)):
        w = {"left_window_size": left, "right_window_size": right}
        tag = f"attention_window_{left}_{right}".replace("-", "m")
        for causal in (0, 1):
            add(f"{tag}_causal_{causal}", node("Attention", "q k v", is_causal=causal, **w), {"q": q, "k": k, "v": v}, opset=25)
        for name in ("flags", "bias"):
            add(f"{tag}_{name}", node("Attention", f"q k v {name}", **w), {"q": q, "k": k, "v": v}, c, opset=25)
        add(f"{tag}_past", node("Attention", "q k v - pk pv", **w), {"q": q, "k": k, "v": v, **past}, opset=25)
        for causal in (0, 1):
            add(f"{tag}_lengths_{causal}", node("Attention", "q k v - - - n", is_causal=causal, **w), {"q": q, "k": k, "v": v, "n": c["n"]}, opset=25)
    for opset in (24, 25):
        add(f"attention_lengths_{opset}", node("Attention", "q k v - - - n"), {"q": q, "k": k, "v": v, "n": c["n"]}, opset=opset)
    packed = {"q": f32(2, 5, 32), "k": f32(2, 6, 16), "v": f32(2, 6, 6)}
    add("attention_window_packed", node("Attention", "q k v", q_num_heads=4, kv_num_heads=2, left_window_size=1, right_window_size=2), packed, opset=25)
    refused("attention_window_m2", [node("Attention", "q k v", left_window_size=-2)], {"q": q, "k": k, "v": v}, {}, opset=25)
    refused("attention_window_24", [node("Attention", "q k v", left_window_size=1)], {"q": q, "k": k, "v": v}, {}, opset=24)


def scatter():
    for tag, shape, length, axis in (("middle", (2, 3, 6, 4), 2, None), ("axis_1", (3, 5, 2), 3, 1), ("last", (2, 2, 7), 4, -1), ("whole", (2, 4, 3), 4, 1), ("one", (2, 4, 3), 1, -2)):
        at = (axis if axis is not None else -2) % len(shape)
        update = f32(*(length if i == at else n for i, n in enumerate(shape)))
        attrs = {} if axis is None else {"axis": axis}
        top = shape[at] - length
        where = np.array([top, 0, min(top, 1)][: shape[0]], np.int64)
        feeds = {"past": f32(*shape), "update": update}
        add(f"tensor_scatter_{tag}", node("TensorScatter", "past update", **attrs), feeds, opset=24)
        add(f"tensor_scatter_{tag}_from", node("TensorScatter", "past update where", **attrs), {**feeds, "where": where}, opset=24)
        add(f"tensor_scatter_{tag}_circular", node("TensorScatter", "past update where", mode="circular", **attrs), {**feeds, "where": where + shape[at] - 1}, opset=24)
        add(f"tensor_scatter_{tag}_half", node("TensorScatter", "past update where", **attrs), {"past": half(feeds["past"]), "update": half(update), "where": where}, opset=24)
    feeds = {"past": f32(2, 4, 3), "update": f32(2, 1, 3)}
    for tag, attrs in (("axis_0", {"axis": 0}), ("axis_3", {"axis": 3}), ("axis_m3", {"axis": -3}), ("mode", {"mode": "spiral"})):
        refused(f"tensor_scatter_{tag}", [node("TensorScatter", "past update", **attrs)], feeds, {}, opset=24)
    refused("tensor_scatter_23", [node("TensorScatter", "past update", update=1)], feeds, {}, opset=23)


def gates():
    for tag, shape in (("row", (5,)), ("rows", (2, 3, 4)), ("none", (2, 0))):
        feeds = {"a": f32(*shape) * 3, "b": f32(*shape)}
        for alpha in (None, 0.5, -1.25, 0.0):
            attrs = {} if alpha is None else {"alpha": alpha}
            want = feeds["a"] / (1 + np.exp(-(1 if alpha is None else alpha) * feeds["a"])) * feeds["b"]
            add(f"swiglu_{tag}_{alpha}".replace("-", "m"), node("SwiGLU", "a b", **attrs), feeds, opset=28, want=want.astype(np.float32))
            add(f"swish_{tag}_{alpha}".replace("-", "m"), node("Swish", "a", **attrs), feeds, opset=24)
    feeds = {"a": half(f32(3, 4)), "b": half(f32(3, 4))}
    wide = feeds["a"].astype(np.float64)
    want = half(half(wide / (1 + np.exp(-wide))).astype(np.float64) * feeds["b"])
    add("swiglu_half", node("SwiGLU", "a b"), feeds, opset=28, want=want, rtol=4e-3, atol=1e-3)
    refused("swiglu_broadcast", [node("SwiGLU", "a b")], {"a": f32(3, 4), "b": f32(4)}, {}, opset=28)
    refused("swiglu_broadcast_1", [node("SwiGLU", "a b")], {"a": f32(3, 4), "b": f32(1, 4)}, {}, opset=28)


def bits():
    kinds = {
        8: (np.int8, np.uint8), 16: (np.int16, np.uint16, np.float16), 32: (np.int32, np.uint32, np.float32), 64: (np.int64, np.uint64, np.float64),
    }
    for width, types in kinds.items():
        raw = np.random.default_rng(width).integers(0, 256, 6 * width // 8, np.uint8)
        for a in types:
            for b in types:
                add(f"bit_cast_{np.dtype(a)}_{np.dtype(b)}", node("BitCast", "x", to=helper.np_dtype_to_tensor_dtype(np.dtype(b))), {"x": raw.view(a).reshape(2, 3)}, opset=26, want=raw.view(b).reshape(2, 3))
    flags = np.array([True, False, True])
    add("bit_cast_bool_uint8", node("BitCast", "x", to=TensorProto.UINT8), {"x": flags}, opset=26, want=flags.astype(np.uint8))
    add("bit_cast_uint8_bool", node("BitCast", "x", to=TensorProto.BOOL), {"x": flags.astype(np.uint8)}, opset=26, want=flags)
    add("bit_cast_scalar", node("BitCast", "x", to=TensorProto.INT32), {"x": np.float32(-1.5)}, opset=26)
    for tag, to in (("narrower", TensorProto.INT16), ("wider", TensorProto.DOUBLE), ("string", TensorProto.STRING), ("none", 0)):
        refused(f"bit_cast_{tag}", [node("BitCast", "x", to=to)], {"x": f32(3)}, {}, opset=26)


def convolutions():
    for length, k in ((6, 4), (1, 4), (2, 4), (5, 1), (7, 2)):
        feeds = {"x": f32(2, 3, length), "w": f32(3, 1, k), "b": f32(3), "past": f32(2, 3, k - 1)}
        for ins in ("x w", "x w b", "x w - past", "x w b past"):
            for act in (None, "none", "silu", "swish"):
                attrs = {} if act is None else {"activation": act}
                tag = f"causal_conv_{length}_{k}_{ins[3:].strip().replace(' ', '_').replace('-', 'no')}_{act}"
                add(tag, node("CausalConvWithState", ins, "y state", **attrs), feeds, {"w": feeds["w"]}, opset=27, outs="y state")
    add("causal_conv_computed_filter", [node("Neg", "w", "v"), node("CausalConvWithState", "x v", "y state")], {"x": f32(1, 2, 5), "w": f32(2, 1, 3)}, opset=27, outs="y")
    narrow = {"x": half(f32(1, 2, 5)), "w": half(f32(2, 1, 3)), "b": half(f32(2))}
    add("causal_conv_half", node("CausalConvWithState", "x w b", "y state", activation="silu"), narrow, opset=27, outs="y state", rtol=4e-3, atol=2e-3)
    refused("causal_conv_activation", [node("CausalConvWithState", "x w", activation="relu")], {"x": f32(1, 2, 5), "w": f32(2, 1, 3)}, {}, opset=27)


def recurrences():
    """LinearAttention by each rule, with heads shared by queries, decays per head and per element, and a state."""
    for rule in ("linear", "gated", "delta", "gated_delta"):
        for heads, shared in ((2, 2), (4, 2), (3, 1)):
            for tokens in (1, 5):
                for wide in ((0, 1) if "gated" in rule else (0,)):
                    z = {"q": f32(2, tokens, heads * 4), "k": f32(2, tokens, shared * 4) / 4, "v": f32(2, tokens, shared * 3), "s": f32(2, shared, 4, 3)}
                    ins = ["q", "k", "v", "s", "-", "-"]
                    if "gated" in rule:
                        z["g"], ins[4] = -abs(f32(2, tokens, shared * (4 if wide else 1))), "g"
                    if "delta" in rule:
                        z["r"], ins[5] = abs(f32(2, tokens, 1 if wide else shared)) / 2, "r"
                    attrs = {"q_num_heads": heads, "kv_num_heads": shared, "update_rule": rule}
                    tag = f"linear_attention_{rule}_{heads}_{shared}_{tokens}_{wide}"
                    add(tag, node("LinearAttention", " ".join(ins), "y state", **attrs), z, opset=27, outs="y state")
                    ins[3] = "-"
                    add(tag + "_fresh", node("LinearAttention", " ".join(ins), "y state", scale=0.75, **attrs), z, opset=27, outs="y state")
    z = {"q": half(f32(1, 3, 8)), "k": half(f32(1, 3, 8) / 4), "v": half(f32(1, 3, 6)), "s": f32(1, 2, 4, 3)}
    attrs = {"q_num_heads": 2, "kv_num_heads": 2, "update_rule": "linear"}
    add("linear_attention_half", node("LinearAttention", "q k v s", "y state", **attrs), z, opset=27, outs="y state", rtol=4e-3, atol=2e-3)
    z = {"q": f32(1, 3, 8), "k": f32(1, 3, 8), "v": f32(1, 3, 6), "g": f32(1, 3, 2), "h": f32(1, 3, 3)}
    for tag, ins, change in (
        ("rule", "q k v", {"update_rule": "quadratic"}), ("no_decay", "q k v", {"update_rule": "gated"}), ("decay", "q k v - g", {}), ("no_rate", "q k v - g", {"update_rule": "gated_delta"}),
        ("rate", "q k v - - g", {}), ("heads", "q k v", {"q_num_heads": 3}), ("no_heads", "q k v", {"kv_num_heads": 0}), ("decays", "q k v - h", {"update_rule": "gated"}),
        ("rates", "q k v - - h", {"update_rule": "delta"}), ("width", "q h v", {}),
    ):
        refused(f"linear_attention_{tag}", [node("LinearAttention", ins, **{**attrs, **change})], z, {}, opset=27)


def wider():
    """Types that operators took on."""
    a, b = f32(3, 4), np.array([[1.5, -0.75, 2.0, -2.0]], np.float32)
    add("mod_float", node("Mod", "a b"), {"a": a, "b": b}, opset=28, want=a - np.floor(a / b) * b)
    add("mod_float_zeros", node("Mod", "a b"), {"a": np.float32([0, -0.0, np.inf, 1, 1, -1, 2]), "b": np.float32([-2, 2, 2, 0, np.inf, np.inf, -np.inf])}, opset=28,
        want=np.float32([-0.0, 0, np.nan, np.nan, 1, np.inf, -np.inf]))
    for dtype in (np.int8, np.int16, np.int32, np.int64):
        width = np.dtype(dtype).itemsize * 8
        x = np.array([-128, -3, 3, 127, 1], dtype)
        for direction in ("LEFT", "RIGHT"):
            for n in (0, 1, 5, width - 1):
                want = x << dtype(n) if direction == "LEFT" else x >> dtype(n)
                add(f"bit_shift_{np.dtype(dtype)}_{direction.lower()}_{n}", node("BitShift", "x n", direction=direction), {"x": x, "n": np.array([n], dtype)}, opset=28, want=want)
            for n in (width, -1):
                want = np.zeros_like(x) if direction == "LEFT" else np.where(x < 0, -1, 0).astype(dtype)
                add(f"bit_shift_{np.dtype(dtype)}_{direction.lower()}_beyond_{n}".replace("-", "m"), node("BitShift", "x n", direction=direction), {"x": x, "n": np.array([n], dtype)}, opset=28,
                    want=want, runtime=False, reference=False)
    add("celu_half", node("Celu", "x", alpha=0.5), {"x": half(a)}, opset=28, rtol=2e-3, atol=1e-3)
    add("celu_double", node("Celu", "x", alpha=0.5), {"x": a.astype(np.float64)}, opset=28)
    for stash in (None, 1):
        attrs = {} if stash is None else {"stash_type": stash}
        add(f"range_half_{stash}", node("Range", "a b c", **attrs), {"a": np.float16(0.5), "b": np.float16(4), "c": np.float16(0.75)}, opset=27, want=np.arange(0.5, 4, 0.75).astype(np.float16))
    refused("range_stash", [node("Range", "a b c", stash_type=10)], {"a": np.float16(0.5), "b": np.float16(4), "c": np.float16(0.75)}, {}, opset=27)


def flexible():
    """FlexAttention, whose scores and weights go through bodies that may read what is around them."""

    def body(made, *nodes, dtype=TensorProto.FLOAT, ins=("s",)):
        info = lambda k: helper.make_tensor_value_info(k, dtype, None)
        return helper.make_graph(list(nodes), made, [info(k) for k in ins], [info(made)])

    def flex(ins="q k v", **attrs):
        return node("FlexAttention", ins, domain="ai.onnx.preview", **attrs)

    def formula(z, scale=None, score=lambda s: s, weight=lambda p: p):
        wide = {n: v.astype(np.float64) for n, v in z.items()}
        k, v = (np.repeat(wide[n], z["q"].shape[1] // z["k"].shape[1], 1) for n in "kv")
        s = score(wide["q"] @ np.swapaxes(k, 2, 3) * (scale or z["q"].shape[3] ** -0.5))
        e = np.exp(s - s.max(-1, keepdims=True))
        return (weight(e / e.sum(-1, keepdims=True)) @ v).astype(z["v"].dtype)

    for tag, heads, shared in (("plain", 2, 2), ("shared", 4, 2), ("one", 3, 1)):
        z = {"q": f32(2, heads, 4, 8), "k": f32(2, shared, 5, 8), "v": f32(2, shared, 5, 3)}
        bias = f32(heads, 4, 5)
        add(f"flex_{tag}", flex(), z, opset=26, want=formula(z), runtime=False)
        add(f"flex_{tag}_scale", flex(scale=0.25), z, opset=26, want=formula(z, 0.25), runtime=False)
        capped = body("o", node("Div", "s two", "a"), node("Tanh", "a", "b"), node("Mul", "b two", "o"))
        add(f"flex_{tag}_capped", flex(score_mod=capped), z, {"two": np.float32(2)}, opset=26, want=formula(z, score=lambda s: 2 * np.tanh(s / 2)), runtime=False, reference=False)
        biased = body("o", node("Add", "s bias", "o"))
        add(f"flex_{tag}_biased", flex(score_mod=biased), {**z, "bias": bias}, opset=26, want=formula(z, score=lambda s: s + bias), runtime=False, reference=False)
        halved = body("o", node("Mul", "s half", "o"))
        add(f"flex_{tag}_weights", flex(prob_mod=halved), z, {"half": np.float32(0.5)}, opset=26, want=formula(z, weight=lambda p: p / 2), runtime=False, reference=False)
        both = [node("Exp", "bias", "e"), flex(score_mod=body("o", node("Sub", "s e", "o")), prob_mod=body("o", node("Mul", "s e", "o")))]
        add(f"flex_{tag}_both", both, {**z, "bias": bias}, opset=26, want=formula(z, score=lambda s: s - np.exp(bias), weight=lambda p: p * np.exp(bias)), runtime=False, reference=False)
        add(f"flex_{tag}_passed", flex(score_mod=body("s")), z, opset=26, want=formula(z), runtime=False, reference=False)
        narrow = {n: half(v) for n, v in z.items()}
        add(f"flex_{tag}_half", flex(), narrow, opset=26, want=formula(narrow), runtime=False, rtol=4e-3, atol=2e-3)
        wide = {n: v.astype(np.float64) for n, v in z.items()}
        add(f"flex_{tag}_double", flex(), wide, opset=26, want=formula(wide), runtime=False)
    for tag, attrs, ins in (
        ("two_inputs", {"score_mod": body("o", node("Add", "s t", "o"), ins=("s", "t"))}, "q k v"), ("smaller", {"score_mod": body("o", node("ReduceSum", "s", "o"))}, "q k v"),
        ("other_type", {"score_mod": body("o", node("Cast", "s", "o", to=TensorProto.DOUBLE))}, "q k v"), ("mode", {"is_causal": 1}, "q k v"), ("precision", {"softmax_precision": 7}, "q k v"),
        ("heads", {}, "q w w"), ("rank", {}, "r r r"), ("inputs", {}, "q k"),
    ):
        refused(f"flex_{tag}", [flex(ins, **attrs)], {**z, "w": f32(2, 2, 5, 8), "r": f32(2, 4, 8)}, {}, opset=26)


def oldest():
    """Definitions of opsets 1 to 6, which no evaluator computes."""
    x = {"x": f32(2, 3, 4)}
    positive = {"x": abs(x["x"]) + 0.25}
    sigmoid = lambda v: 1 / (1 + np.exp(-v))
    unary = {
        "Abs": np.abs, "Ceil": np.ceil, "Exp": np.exp, "Floor": np.floor, "Log": np.log, "Neg": np.negative, "Reciprocal": lambda v: 1 / v,
        "Relu": lambda v: np.maximum(v, 0), "Sigmoid": sigmoid, "Sqrt": np.sqrt, "Tanh": np.tanh, "Elu": lambda v: np.where(v < 0, np.exp(v) - 1, v),
        "LeakyRelu": lambda v: np.where(v < 0, v * 0.01, v), "HardSigmoid": lambda v: np.clip(0.2 * v + 0.5, 0, 1), "Clip": lambda v: v,
        "Selu": lambda v: 1.0507 * np.where(v > 0, v, 1.6732 * (np.exp(v) - 1)),
    }

    def old(name, nodes, feeds, want, opset, **kw):
        want = np.asarray(want)
        add(f"oldest_{name}_{opset}", nodes, feeds, opset=opset, want=want.astype(bool if want.dtype == bool else np.float32), runtime=False, reference=False, **kw)

    for opset in (1, 5):
        for op, f in unary.items():
            z = positive if op in ("Log", "Sqrt", "Reciprocal") else x
            old(op.lower(), node(op, "x", consumed_inputs=[0]), z, f(z["x"]), opset)
        old("clip_ends", node("Clip", "x", min=-0.5, max=1.0), x, np.clip(x["x"], -0.5, 1), opset)
        three = {"a": f32(2, 3), "b": f32(2, 3), "c": f32(2, 3)}
        total = three["a"] + three["b"] + three["c"]
        for op, want in (("Sum", total), ("Mean", total / 3), ("Max", np.maximum(np.maximum(*[three[k] for k in "ab"]), three["c"])), ("Min", np.minimum(np.minimum(*[three[k] for k in "ab"]), three["c"]))):
            old(op.lower(), node(op, "a b c"), three, want, opset)
        square = {"x": f32(1, 2, 4, 4)}
        blocks = square["x"].reshape(1, 2, 2, 2, 2, 2).mean((3, 5))
        old("averagepool", node("AveragePool", "x", kernel_shape=[2, 2], strides=[2, 2]), square, blocks, opset)
        c = {n: abs(f32(2)) + 0.5 for n in "sbmv"}
        lift = {n: v.reshape(1, 2, 1, 1) for n, v in c.items()}
        normal = lift["s"] * (square["x"] - lift["m"]) / np.sqrt(lift["v"] + 1e-5) + lift["b"]
        old("batchnorm", node("BatchNormalization", "x s b m v", is_test=1, **({"consumed_inputs": [0] * 5} if opset < 6 else {})), {**square, **c}, normal, opset)
        old("dropout", node("Dropout", "x", is_test=1, ratio=0.5), x, x["x"], opset)
        refused(f"batchnorm_trains_{opset}", [node("BatchNormalization", "x s b m v")], {**square, **c}, {}, opset=opset)
        refused(f"dropout_trains_{opset}", [node("Dropout", "x")], x, {}, opset=opset)
    old("reshape", node("Reshape", "x", shape=[4, -1]), x, x["x"].reshape(4, 6), 1)
    older(old)
    binary = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide}
    for opset in (1, 6):
        for op, f in binary.items():
            a = f32(2, 3, 4, 5)
            for tag, shape, attrs, lifted in (
                ("same", (2, 3, 4, 5), {}, (2, 3, 4, 5)), ("suffix", (4, 5), {"broadcast": 1}, (4, 5)), ("scalar", (), {"broadcast": 1}, ()), ("one", (1,), {"broadcast": 1}, (1,)),
                ("axis_1", (3,), {"broadcast": 1, "axis": 1}, (3, 1, 1)), ("axis_0", (2, 3), {"broadcast": 1, "axis": 0}, (2, 3, 1, 1)), ("axis_m2", (4,), {"broadcast": 1, "axis": -2}, (4, 1)),
                ("axis_3", (5,), {"broadcast": 1, "axis": 3}, (5,)),
            ):
                b = (abs(f32(*shape)) + 0.5).astype(np.float32)
                old(f"{op.lower()}_{tag}", node(op, "a b", **attrs), {"a": a, "b": b}, f(a, b.reshape(lifted)), opset)
        flags = {"a": np.arange(12).reshape(3, 4) % 3 == 0, "b": np.array([True, False, True])}
        for op, f in (("And", np.logical_and), ("Or", np.logical_or), ("Xor", np.logical_xor)):
            old(f"{op.lower()}_axis_0", node(op, "a b", broadcast=1, axis=0), flags, f(flags["a"], flags["b"][:, None]), opset)
        for op, f in (("Greater", np.greater), ("Less", np.less)):
            z = {"a": f32(3, 4), "b": f32(4)}
            old(op.lower(), node(op, "a b", broadcast=1), z, f(z["a"], z["b"]), opset)
        z = {"a": f32(2, 3), "b": f32(3)}
        refused(f"add_not_broadcast_{opset}", [node("Add", "a b")], z, {}, opset=opset)
        refused(f"add_axis_2_{opset}", [node("Add", "a b", broadcast=1, axis=2)], z, {}, opset=opset)
        refused(f"add_axis_m3_{opset}", [node("Add", "a b", broadcast=1, axis=-3)], z, {}, opset=opset)


def older(old):
    """Definitions that opset 7, or one before it, wrote in other words."""
    x = f32(2, 3, 4, 4)
    for name, kind in (("INT32", np.int32), ("FLOAT", np.float32), ("DOUBLE", np.float64), ("UINT8", np.uint8), ("INT64", np.int64)):
        v = np.array([[3.0, 0.0, 250.0]], np.float32)
        add(f"oldest_cast_{name.lower()}", node("Cast", "x", to=name), {"x": v}, opset=1, want=v.astype(kind), runtime=False, reference=False)
    add("oldest_cast_bool", node("Cast", "x", to="BOOL"), {"x": v}, opset=5, want=v.astype(bool), runtime=False, reference=False)
    for name in ("float", "", "FLOAT8", "STRING"):
        refused(f"oldest_cast_{name or 'none'}_named", [node("Cast", "x", to=name)], {"x": v}, {}, opset=5)
    a, b = f32(2, 3), f32(2, 5)
    for opset in (1, 3):
        old("concat", node("Concat", "a b"), {"a": a, "b": b}, np.concatenate([a, b], 1), opset)
        old("concat_axis", node("Concat", "a b", axis=0), {"a": a, "b": b[:, :3]}, np.concatenate([a, b[:, :3]], 0), opset)
    for opset in (1, 6):
        for tag, slope, lifted in (("channels", f32(3), (3, 1, 1)), ("one", f32(1), (1,)), ("scalar", f32(), ())):
            used = {} if opset == 6 else {"consumed_inputs": [0, 0]}
            old(f"prelu_{tag}", node("PRelu", "x s", **used), {"x": x, "s": slope}, np.where(x < 0, x * slope.reshape(lifted), x), opset)
        old("prelu_rows", node("PRelu", "x s"), {"x": a, "s": (s := f32(3))}, np.where(a < 0, a * s, a), opset)
        c = f32(5)
        m = f32(3, 5)
        old("gemm_row", node("Gemm", "a m c", broadcast=1, alpha=0.5, beta=2.0), {"a": a, "m": m, "c": c}, 0.5 * (a @ m) + 2 * c, opset)
        old("gemm_same", node("Gemm", "a m c", transB=1), {"a": a, "m": m.T.copy(), "c": (c := f32(2, 5))}, a @ m + c, opset)
    for mode in ("constant", "reflect", "edge"):
        pads, how = [0, 0, 1, 2, 0, 0, 2, 1], {"constant_values": 0.5} if mode == "constant" else {}
        want = np.pad(x, [(0, 0), (0, 0), (1, 2), (2, 1)], mode, **how)
        old(f"pad_{mode}", node("Pad", "x", mode=mode, paddings=pads, **({"value": 0.5} if how else {})), {"x": x}, want, 1)
    for tag, ins, attrs, sizes in (("attribute", "x", {"split": [1, 2], "axis": 1}, None), ("input", "x n", {"axis": 1}, np.array([1, 2], np.float32)), ("equal", "x", {"axis": 2}, None)):
        cut = 2 if tag == "equal" else 1
        known = {} if sizes is None else {"inits": {"n": sizes}}
        old(f"split_{tag}", [node("Split", ins, "t u", **attrs), node("Identity", "u")], {"x": x}, np.split(x, [cut], attrs["axis"])[1], 1, **known)
    for axis in (0, 1, 3):
        how = {"n": np.float32(3), "a": np.float32(axis)}
        old(f"tile_{axis}", node("Tile", "x n a"), {"x": x}, np.concatenate([x] * 3, axis), 1, inits=how)
        old(f"tile_open_{axis}", node("Tile", "x n a"), {"x": x, **how}, np.concatenate([x] * 3, axis), 1)
    for opset in (1, 6):
        old("upsample_nearest", node("Upsample", "x", height_scale=2.0, width_scale=3.0), {"x": x}, x.repeat(2, 2).repeat(3, 3), opset)
        at = np.minimum(np.arange(8) / 2, 3)
        low, part = at.astype(int), (at - at.astype(int)).astype(np.float32)
        wide = x[..., low] * (1 - part) + x[..., np.minimum(low + 1, 3)] * part
        old("upsample_bilinear", node("Upsample", "x", mode="bilinear", height_scale=1.0, width_scale=2.0), {"x": x}, wide, opset)
        refused(f"oldest_upsample_cubic_{opset}", [node("Upsample", "x", mode="cubic", height_scale=1.0, width_scale=2.0)], {"x": x}, {}, opset=opset)
    blocks = x.reshape(2, 3, 2, 2, 2, 2)
    old("lppool", node("LpPool", "x", kernel_shape=[2, 2], strides=[2, 2], p=3.0), {"x": x}, (abs(blocks) ** 3).sum((3, 5)) ** (1 / 3), 1)
    old("globallppool", node("GlobalLpPool", "x", p=1.0), {"x": x}, abs(x).sum((2, 3), keepdims=True), 1)
    old("globallppool_default", node("GlobalLpPool", "x"), {"x": x}, np.sqrt((x ** 2).sum((2, 3), keepdims=True)), 1)
    refused("oldest_lppool_real", [node("LpPool", "x", kernel_shape=[2, 2], p=1.5)], {"x": x}, {}, opset=1)
    steps, w, r = f32(3, 2, 4), f32(1, 5, 4), f32(1, 5, 5)
    h, hs = np.zeros((2, 5), np.float32), []
    for step in steps:
        h = np.tanh(step @ w[0].T + h @ r[0].T)
        hs.append(h[None])
    for opset in (1, 6):
        old("rnn", node("RNN", "x w r", hidden_size=5, output_sequence=1), {"x": steps, "w": w, "r": r}, np.stack(hs), opset)
        old("rnn_last", [node("RNN", "x w r", "- y", hidden_size=5)], {"x": steps, "w": w, "r": r}, hs[-1], opset)
    z, q = f32(1, 15, 4), f32(1, 15, 5)
    sig = lambda v: 1 / (1 + np.exp(-v))
    h = np.zeros((2, 5), np.float32)
    for step in steps:
        u, s = (sig(step @ z[0, k:k + 5].T + h @ q[0, k:k + 5].T) for k in (0, 5))
        h = (1 - u) * np.tanh(step @ z[0, 10:].T + (s * h) @ q[0, 10:].T) + u * h
    for opset in (1, 3, 6):
        old("gru_last", [node("GRU", "x w r", "- y", hidden_size=5)], {"x": steps, "w": z, "r": q}, h[None], opset)
    z, q = f32(1, 20, 4), f32(1, 20, 5)
    h, c = np.zeros((2, 5), np.float32), np.zeros((2, 5), np.float32)
    for step in steps:
        i, o, f, g = (step @ z[0, k:k + 5].T + h @ q[0, k:k + 5].T for k in (0, 5, 10, 15))
        c = sig(f) * c + sig(i) * np.tanh(g)
        h = sig(o) * np.tanh(c)
    for opset in (1, 6):
        old("lstm_last", [node("LSTM", "x w r", "- y", hidden_size=5)], {"x": steps, "w": z, "r": q}, h[None], opset)


if __name__ == "__main__":
    for part in (unchanged, depth, windows, scatter, gates, bits, convolutions, recurrences, wider, flexible, oldest):
        part()
    forms.finish(os.path.join(os.path.dirname(os.path.abspath(__file__)), "opsets.zip"))
