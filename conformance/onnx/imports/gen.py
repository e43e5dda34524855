#!/usr/bin/env python3
"""Make imports.zip.0.gz: models that show how an importer reads what other lists have once or never: n-grams, every
activation of recurrent layers, words and counts that a node does not take, bodies and functions with little in them.

    python3 -m venv venv && venv/bin/pip install -r ../cases/requirements.txt && venv/bin/python gen.py

Evaluators, rules and format are those of ../forms. The same versions write the same bytes.
"""

import os
import sys
from fractions import Fraction as F
from math import floor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "forms"))

import numpy as np
from onnx import TensorProto, helper

import forms
from bodies import call, function
from forms import add, f32, ints, node, refused, whole


def grams():
    """TfIdfVectorizer: lengths, skips, weights, batches."""
    pool = {
        "pool_int64s": [2, 3, 5, 4, 5, 6, 7, 8, 6, 7, 2, 5, 7],
        "ngram_counts": [0, 4, 10],
        "ngram_indexes": [4, 0, 1, 7, 2, 6, 5, 3],
        "weights": [0.5, 1.5, 2.0, -1.0, 4.0, 0.25, 3.0, 8.0],
    }
    for tag, x in (("row", np.array([2, 5, 7, 8, 6, 7, 5, 6])), ("rows", np.array([[5, 6, 7, 8, 6, 7], [2, 3, 5, 2, 5, 7]]))):
        for dtype in (np.int32, np.int64):
            for low, high, skips in ((1, 1, 0), (2, 2, 0), (3, 3, 0), (1, 2, 0), (2, 2, 1), (2, 3, 2), (1, 3, 4)):
                for mode in ("TF", "IDF", "TFIDF"):
                    if dtype == np.int64 and (mode != "TF" or skips):
                        continue
                    add(
                        f"tfidf_{tag}_{np.dtype(dtype)}_{mode.lower()}_{low}_{high}_{skips}",
                        node("TfIdfVectorizer", "x", mode=mode, min_gram_length=low, max_gram_length=high, max_skip_count=skips, **pool),
                        {"x": x.astype(dtype)},
                        reference=False,
                    )
    shared = {**pool, "ngram_indexes": [1, 0, 1, 2, 2, 0, 2, 1]}
    for mode in ("TF", "IDF", "TFIDF"):  # which weight counts in IDF is not said
        for low, high in ((1, 1), (1, 3)):
            numbers = {k: v for k, v in shared.items() if k != "weights" or mode != "IDF"}
            add(
                f"tfidf_shared_columns_{mode.lower()}_{low}_{high}",
                node("TfIdfVectorizer", "x", mode=mode, min_gram_length=low, max_gram_length=high, max_skip_count=0, **numbers),
                {"x": np.array([[2, 5, 7, 8, 6, 7], [3, 3, 2, 5, 7, 2]])},
                reference=False,
            )
    x = {"x": np.array([2, 5, 7, 8], np.int64)}
    given = {"mode": "TF", "min_gram_length": 1, "max_gram_length": 2, "max_skip_count": 0, **pool}
    for tag, change in {
        "counts_decrease": {"ngram_counts": [0, 4, 2]},
        "counts_beyond_the_pool": {"ngram_counts": [0, 4, 14]},
        "counts_negative": {"ngram_counts": [-1, 4, 10]},
        "half_a_gram": {"ngram_counts": [0, 3, 10]},
        "too_few_indexes": {"ngram_indexes": [4, 0, 1, 7, 2, 6, 5], "weights": None},
        "one_index": {"ngram_indexes": [4], "weights": None},
        "negative_index": {"ngram_indexes": [4, 0, 1, 7, 2, 6, 5, -3]},
        "lengths_reversed": {"min_gram_length": 2, "max_gram_length": 1},
        "length_0": {"min_gram_length": 0},
        "negative_skips": {"max_skip_count": -1},
        "mode": {"mode": "ITF"},
        "too_few_weights": {"mode": "TFIDF", "weights": [1.0, 2.0]},
    }.items():
        attrs = {k: v for k, v in {**given, **change}.items() if v is not None}
        refused("tfidf_" + tag, [node("TfIdfVectorizer", "x", **attrs)], x, {})


def activations():
    """Recurrent layers with each activation, its numbers given and left out."""
    kinds = {
        "Affine": (0.75, 0.25), "LeakyRelu": (0.125, 0.0), "ThresholdedRelu": (0.5, 0.0), "ScaledTanh": (1.5, 0.5),
        "HardSigmoid": (0.25, 0.375), "Elu": (0.75, 0.0), "Softsign": None, "Softplus": None, "Relu": None,
    }
    x = {"x": f32(4, 3, 2)}
    for op, gates, many in (("RNN", 1, 1), ("GRU", 3, 2), ("LSTM", 4, 3)):
        w = {"w": f32(1, gates * 5, 2) / 2, "r": f32(1, gates * 5, 5) / 2}
        for name, numbers in kinds.items():
            if op == "LSTM" and name == "Softplus":  # which ONNX Runtime computes as infinity minus infinity
                continue
            forms_of = [("plain", {})] if numbers is None else [("numbers", {"activation_alpha": [numbers[0]] * many, "activation_beta": [numbers[1]] * many})]
            for tag, more in forms_of:
                add(
                    f"activation_{op.lower()}_{name.lower()}_{tag}",
                    node(op, "x w r", hidden_size=5, activations=[name] * many, **more),
                    x, w, reference=False,
                )
        add(
            f"activation_{op.lower()}_both_ways",
            node(op, "x v s", hidden_size=5, direction="bidirectional", activations=(["HardSigmoid"] * many + ["ScaledTanh"] * many),
                 activation_alpha=[0.25] * many + [1.5] * many, activation_beta=[0.375] * many + [0.5] * many),
            x, {"v": np.concatenate([w["w"], -w["w"]]), "s": np.concatenate([w["r"], -w["r"]])}, reference=False,
        )


def words():
    """Texts of attributes that no definition has."""
    image, half = {"x": f32(1, 4, 6, 6)}, {"n": np.array([], np.float32), "k": np.array([1, 1, 2, 2], np.float32)}
    resize = {"mode": "linear", "coordinate_transformation_mode": "half_pixel", "nearest_mode": "floor"}
    for key in ("mode", "coordinate_transformation_mode", "nearest_mode", "keep_aspect_ratio_policy"):
        refused(f"word_resize_{key}", [node("Resize", "x - k", **{**resize, key: "sideways"})], image, half)
    grid = {"x": f32(1, 1, 4, 4), "g": f32(1, 3, 3, 2)}
    for key in ("mode", "padding_mode"):
        refused(f"word_gridsample_{key}", [node("GridSample", "x g", **{key: "sideways"})], grid, {})
    for op, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        w = {"w": f32(1, gates * 5, 2), "r": f32(1, gates * 5, 5)}
        for key, value in (("direction", "sideways"), ("activations", ["Sideways"] * {1: 1, 3: 2, 4: 3}[gates])):
            refused(f"word_{op.lower()}_{key}", [node(op, "x w r", hidden_size=5, **{key: value})], {"x": f32(4, 3, 2)}, w)
    refused("word_pad", [node("Pad", "x p", mode="sideways")], image, {"p": ints(0, 0, 1, 1, 0, 0, 1, 1)})
    for op, more, inits in (("Conv", {}, {"w": f32(2, 4, 3, 3)}), ("ConvTranspose", {}, {"w": f32(4, 2, 3, 3)}), ("MaxPool", {"kernel_shape": [2, 2]}, {}),
                            ("AveragePool", {"kernel_shape": [2, 2]}, {}), ("LpPool", {"kernel_shape": [2, 2]}, {})):
        refused(f"word_{op.lower()}_auto_pad", [node(op, "x w" if inits else "x", auto_pad="SIDEWAYS", **more)], image, inits)
    refused("word_depthtospace", [node("DepthToSpace", "x", blocksize=2, mode="SIDEWAYS")], image, {})
    refused("word_gelu", [node("Gelu", "x", approximate="sideways")], image, {})
    refused("word_scatterelements", [node("ScatterElements", "v i u", reduction="sideways")], {"v": f32(4), "u": f32(2)}, {"i": ints(1, 2)})
    refused("word_scatternd", [node("ScatterND", "v i u", reduction="sideways")], {"v": f32(4), "u": f32(2)}, {"i": np.array([[1], [2]])})
    refused("word_bitshift", [node("BitShift", "a a", direction="SIDEWAYS"), node("Cast", "y", "z", to=TensorProto.FLOAT)], {"a": np.array([1, 2], np.uint8)}, {})
    roi = {"b": np.array([[0, 0, 2, 2]], np.float32), "i": ints(0)}
    for key in ("mode", "coordinate_transformation_mode"):
        refused(f"word_roialign_{key}", [node("RoiAlign", "x b i", **{key: "sideways"})], image, roi)


def blocks():
    """Scales of blocks that are not as many as the blocks."""
    codes = {"c": np.arange(12, dtype=np.uint8).reshape(2, 6)}
    for tag, s in {"one_less": f32(2, 2), "one_more": f32(2, 4), "rows": f32(1, 3), "rank": f32(6)}.items():
        refused(f"blocks_dequantize_{tag}", [node("DequantizeLinear", "c s", axis=1, block_size=2)], codes, {"s": np.abs(s) + 1}, opset=21)
        refused(
            f"blocks_quantize_{tag}",
            [node("QuantizeLinear", "x s", "q", axis=1, block_size=2, output_dtype=TensorProto.UINT8), node("Cast", "q", to=TensorProto.FLOAT)],
            {"x": f32(2, 6)}, {"s": np.abs(s) + 1}, opset=21,
        )
    for size, axis, dims in ((2, 1, (2, 3)), (3, 1, (2, 2)), (1, 0, (2, 6)), (2, 0, (1, 6)), (6, -1, (2, 1))):
        scale = np.abs(f32(*dims)) + 0.5
        want = codes["c"] * np.repeat(scale, size, axis=axis)
        add(f"blocks_of_{size}_along_{axis % 2}_{dims[0]}x{dims[1]}", node("DequantizeLinear", "c s", axis=axis, block_size=size), codes, {"s": scale}, opset=21, want=want)


def value(name, dtype=TensorProto.FLOAT, shape=None):
    return helper.make_tensor_value_info(name, dtype, shape)


def loop_body(ins, nodes, outs):
    return helper.make_graph(nodes, "body", ins, outs)


def bodies():
    """Loops, scans and maps with few or unequal numbers of inputs and outputs."""
    x = {"x": f32(3, 4)}
    trip, go = value("i", TensorProto.INT64, []), value("c", TensorProto.BOOL, [])
    same = node("Identity", "c", "d")
    alone = loop_body([trip, go], [same, node("Cast", "i", "f", to=TensorProto.FLOAT), node("Add", "x f", "o")], [value("d", TensorProto.BOOL, []), value("o")])
    for tag, ins in (("trips", "m"), ("both", "m t")):
        add(f"loop_without_state_{tag}", [node("Loop", ins, "l", body=alone), node("ReduceSum", "l z", keepdims=0)], x, {"m": np.array(3), "t": np.array(True), "z": ints(0)}, reference=False,
            want=3 * x["x"] + np.float32(3))
    more = loop_body(
        [trip, go, value("a"), value("b")],
        [same, node("Add", "a b", "e"), node("Neg", "b", "f"), node("Mul", "e x", "o"), node("Sub", "e x", "p"), node("Identity", "i", "q")],
        [value("d", TensorProto.BOOL, []), value("e"), value("f"), value("o"), value("p"), value("q", TensorProto.INT64)],
    )
    sums = [node("ReduceSum", f"{k} n", f"{k}0", keepdims=0) for k in "uvw"]
    add("loop_of_two_states_and_three_scans", [node("Loop", "m t x z", "r s u v w", body=more), *sums], {**x, "z": f32(3, 4)}, {"m": np.array(4), "t": np.array(True), "n": ints(0)},
        outs="r s u0 v0 w0", reference=False)
    for tag, ins, outs, made in (
        ("one_state_two_sequences", ["s", "a", "b"], ["t", "o"], [node("Add", "s a", "t"), node("Mul", "t b", "o")]),
        ("two_states_one_sequence", ["s", "r", "a"], ["t", "v", "o", "p"], [node("Add", "s a", "t"), node("Mul", "r a", "v"), node("Sub", "t v", "o"), node("Neg", "a", "p")]),
        ("no_state", ["a", "b"], ["o"], [node("Max", "a b", "o")]),
    ):
        states = 1 if tag.startswith("one") else 2 if tag.startswith("two") else 0
        body = loop_body([value(k, shape=[4]) for k in ins], made, [value(k) for k in outs])
        feeds = {k: f32(4) if i < states else f32(3, 4) for i, k in enumerate("xyz"[: len(ins)])}
        add(f"scan_{tag}", node("Scan", " ".join(feeds), " ".join(f"o{k}" for k in range(len(outs))), body=body, num_scan_inputs=len(ins) - states), feeds, reference=False,
            want=None if states else np.maximum(feeds["x"], feeds["y"]))
    short = loop_body([trip], [node("Cast", "i", "f", to=TensorProto.FLOAT)], [value("f")])
    refused("loop_body_of_one_input", [node("Loop", "m t", body=short)], x, {"m": np.array(3), "t": np.array(True)})
    refused("loop_body_without_condition", [node("Loop", "m t x", body=loop_body([trip, go, value("a")], [node("Neg", "a", "b")], []))], x, {"m": np.array(3), "t": np.array(True)})
    item = lambda names, made: loop_body([value(k) for k in names], [node("Neg", names[0], "o")], [value("o")])
    for tag, names in (("too_many", "a b c"), ("too_few", "a")):
        refused(
            f"map_body_of_{tag}_inputs",
            [node("SplitToSequence", "x", "s", axis=0), node("SequenceMap", "s z", "m", body=item(names.split(), 1)), node("ConcatFromSequence", "m", axis=0)],
            {**x, "z": f32(4)}, {},
        )


def untaken():
    """Branches that nothing could compute, which no run takes."""
    x = {"x": f32(2, 3), "c": np.array(True)}
    c = {"w": f32(3), "far": np.array(3), "zeros": np.array([0, 0, 0], np.int32), "some": np.array([5, 6, 7], np.int32), "sizes": ints(2, 2)}
    branch = lambda nodes: helper.make_graph([*nodes, node("Add", "x t", "y")], "branch", [], [value("y")])
    for tag, nodes in {
        "gather": [node("Gather", "w far", "t")],
        "gather_of_sums": [node("Add", "w w", "v"), node("Gather", "v far", "t")],
        "division": [node("Div", "some zeros", "d"), node("Cast", "d", "t", to=TensorProto.FLOAT)],
        "remainder": [node("Mod", "some zeros", "d"), node("Cast", "d", "t", to=TensorProto.FLOAT)],
    }.items():
        bad, good = branch(nodes), branch([node("Neg", "w", "t")])
        for way, then, other in (("then", bad, good), ("else", good, bad)):
            feeds = {**x, "c": np.array(way == "else")}
            add(f"untaken_{way}_{tag}", node("If", "c", then_branch=then, else_branch=other), feeds, c, want=x["x"] - c["w"], runtime=False, reference=False)


def lines():
    """Resize to the nearest element: every map of coordinates, by sizes and by scales, over the whole and over a part."""
    half = lambda k, r: F(2 * k + 1, 2) / r - F(1, 2)
    maps = {  # of output index k, n elements, m elements of the result, the scale r, and the part from a to b
        "half_pixel": lambda k, n, m, r, a, b: half(k, r),
        "asymmetric": lambda k, n, m, r, a, b: k / r,
        "align_corners": lambda k, n, m, r, a, b: F(k * (n - 1), m - 1) if m > 1 else F(0),
        "pytorch_half_pixel": lambda k, n, m, r, a, b: half(k, r) if m > 1 else F(0),
        "half_pixel_symmetric": lambda k, n, m, r, a, b: F(n, 2) * (1 - m / (r * n)) + half(k, r),
        "tf_crop_and_resize": lambda k, n, m, r, a, b: a * (n - 1) + k * (b - a) * F(n - 1, m - 1) if m > 1 else (a + b) / 2 * (n - 1),
    }
    picks = {
        "round_prefer_floor": lambda v: -floor(F(1, 2) - v), "round_prefer_ceil": lambda v: floor(v + F(1, 2)),
        "floor": floor, "ceil": lambda v: -floor(-v),
    }
    for way, at in maps.items():
        crop = way == "tf_crop_and_resize"
        for pick, taken in picks.items():
            for n, m, r in [(n, m, None) for n, m in ((5, 3), (3, 7), (2, 9), (6, 1), (1, 4))] + [(n, None, r) for n in (5, 8) for r in (F(3, 4), F(9, 4), F(3, 8))]:
                for a, b in ((F(0), F(1)), (F(1, 4), F(3, 4)), (F(3, 4), F(1, 8))) if crop else ((F(0), F(1)),):
                    out = floor(n * r) if m is None else m  # as ONNX Runtime and the onnx package have it, also of a part
                    exact = [at(k, n, out, r or F(out, n), a, b) for k in range(out)]
                    if crop and any(v < 0 or v > n - 1 for v in exact):  # what lies outside is extrapolated
                        continue
                    chosen = [min(max(int(taken(v)), 0), n - 1) for v in exact]
                    x = {"x": np.arange(3 * n, dtype=np.float32).reshape(1, 3, n)}
                    c = {"roi": np.array([0, 0, float(a), 1, 1, float(b)], np.float32), "z": ints(1, 3, out), "r": np.array([1, 1, float(r or 1)], np.float32)}
                    tag = f"line_{way}_{pick}_{n}_{'to' if m else 'by'}_{m or float(r)}" + (f"_{int(8 * a)}_{int(8 * b)}" if crop else "")
                    add(tag, node("Resize", "x roi r" if m is None else "x roi - z", mode="nearest", coordinate_transformation_mode=way, nearest_mode=pick), x, c, opset=19,
                        want=x["x"][:, :, chosen], runtime=crop and m is None, reference=False)


def empty():
    """Images without channels or without images between those that have them."""
    x = {"x": f32(2, 3, 4, 5)}
    c = {"o": ints(0), "none": ints(0), "along1": ints(1), "along0": ints(0), "k": np.array([1, 1, 2, 2], np.float32), "all": ints(0, 1, 2, 3)}
    for tag, made in {
        "resize_nearest": node("Resize", "e - k", "r", mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
        "resize_linear": node("Resize", "e - k", "r", mode="linear", coordinate_transformation_mode="half_pixel"),
        "resize_cubic": node("Resize", "e - k", "r", mode="cubic"),
        "maxpool": node("MaxPool", "e", "r", kernel_shape=[2, 2], strides=[2, 2]),
        "averagepool": node("AveragePool", "e", "r", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        "globalaveragepool": node("GlobalAveragePool", "e", "r"),
        "softmax": node("Softmax", "e", "r", axis=3),
    }.items():
        for axis in (0, 1):
            part = node("Slice", f"x o none along{axis}", "e")
            add(f"empty_{'images' if axis == 0 else 'channels'}_{tag}", [part, made, node("ReduceSum", "r all", "s", keepdims=0), node("Add", "x s")], x, c,
                want=x["x"], runtime=False, reference=False)


def singles():
    """One element of two or three dimensions where definitions have a number."""
    x = f32(3, 4)
    for rank in (2, 3):
        one = lambda v, t=np.int64: np.full([1] * rank, v, t)
        c = {"lo": one(-0.5, np.float32), "hi": one(0.75, np.float32), "p": ints(0, 1, 0, 2), "axis": one(1), "k": one(1), "from": one(2), "to": one(9), "by": one(3), "yes": one(True, bool)}
        same, turned = (loop_body([], [node("Identity", "x", "s")], [value("s")]), loop_body([], [node("Neg", "x", "t")], [value("t")]))
        for tag, made, want in (
            ("clip", node("Clip", "x lo hi"), np.clip(x, np.float32(-0.5), np.float32(0.75))),
            ("pad", node("Pad", "x p hi"), np.pad(x, ((0, 0), (1, 2)), constant_values=0.75)),
            ("cumsum", node("CumSum", "x axis"), np.cumsum(x, 1)),
            ("trilu", node("Trilu", "x k"), np.triu(x, 1)),
            ("range", [node("Range", "from to by", "r"), node("Cast", "r", "f", to=TensorProto.FLOAT), node("ReduceSum", "f", "s", keepdims=0), node("Add", "x s")], x + np.float32(2 + 5 + 8)),
            ("if", node("If", "yes", then_branch=turned, else_branch=same), -x),
        ):
            add(f"single_of_{rank}_dimensions_{tag}", made, {"x": x}, c, want=want.astype(np.float32), runtime=False, reference=False)


def functions():
    """Functions of which a call leaves outputs out, before nodes that leave inputs out."""
    x = f32(2, 3)
    three = function("Three", "l", "p q r", [node("Neg", "l", "p"), node("Abs", "l", "q"), node("Exp", "l", "r")], 17)
    want = {"p": -x, "q": np.abs(x), "r": np.exp(x.astype(np.float64)).astype(np.float32)}
    for kept in ("p", "q", "r", "pq", "pr", "qr"):
        outs = [k if k in kept else "" for k in "pqr"]
        made = helper.make_node("Three", ["x"], outs, domain="local")
        rest = [node("Clip", f"{k} - hi", "c" + k) for k in kept]
        add(f"function_gives_{kept}", [made, *rest], {"x": x}, {"hi": np.float32(0.25)}, functions=[three], outs=" ".join("c" + k for k in kept),
            want=[np.minimum(want[k], np.float32(0.25)) for k in kept], runtime=False, reference=False)


def names():
    """The domain's own name, and values that are made twice."""
    x = {"x": f32(2, 3)}
    add("domain_by_name", [helper.make_node("Neg", ["x"], ["t"], domain="ai.onnx"), helper.make_node("Abs", ["t"], ["y"], domain="ai.onnx")], x,
        want=np.abs(x["x"]), reference=False)
    refused("made_over_an_initializer", [node("Neg", "x", "w"), node("Add", "x w")], x, {"w": f32(2, 3)})
    refused("made_over_an_input", [node("Neg", "x", "z"), node("Add", "x z")], {**x, "z": f32(2, 3)}, {})
    refused("made_twice", [node("Neg", "x", "t"), node("Abs", "x", "t"), node("Add", "x t")], x, {})


def stale():
    """Cells that no tap reaches, in memory that other results were in."""
    x, c = {"x": f32(1, 16, 7, 9) + 3}, {"k": f32(1, 16, 1, 1) + 5, "b": f32(16)}
    before = [node("Mul", "x k", "a"), node("Mul", "x x", "e"), node("Add", "a e", "t")]
    for group, shape in ((16, (16, 1, 1, 1)), (16, (16, 1, 2, 2)), (1, (16, 16, 1, 1)), (4, (16, 4, 2, 1))):
        for bias in ("", " b"):
            inner = max(shape[2:])
            tag = f"stale_conv_{group}_{shape[2]}x{shape[3]}{'_bias' if bias else ''}"
            add(tag, [*before, node("Conv", "t w" + bias, "u", group=group, pads=[inner, inner + 1] * 2), node("Sub", "u k", "v"), node("Relu", "v")], x, {**c, "w": f32(*shape)}, rtol=1e-3, atol=1e-3)
    add("stale_convtranspose", [*before, node("ConvTranspose", "t w", "u", strides=[3, 3]), node("Neg", "u")], x, {**c, "w": f32(16, 16, 1, 2)}, rtol=1e-3, atol=1e-3)
    add("stale_depthwise_transpose", [*before, node("ConvTranspose", "t w", "u", strides=[3, 2], group=16), node("Neg", "u")], x, {**c, "w": f32(16, 1, 2, 1)}, rtol=1e-3, atol=1e-3)


def shapes():
    """Sizes that follow from integers that operators compute of other sizes."""
    x, s = {"x": f32(2, 3, 4)}, np.array([2, 3, 4])
    c = {
        "three": np.array(3), "four": np.array(4), "list": ints(3, 2, 9), "one": ints(1), "two": ints(2), "zero": ints(0), "top": ints(3), "last": ints(-1),
        "odd": np.array([True, False, True]), "back": ints(-4), "order": ints(2, 0, 1),
        "pair": ints(2, 2), "twice": ints(1, 2), "square": ints(1, 1),
    }
    made = {
        "clip_below": (node("Clip", "s three", "t"), np.maximum(s, 3)),
        "clip_above": (node("Clip", "s - three", "t"), np.minimum(s, 3)),
        "clip_both": (node("Clip", "s three three", "t"), np.clip(s, 3, 3)),
        "min": (node("Min", "s list", "t"), np.minimum(s, c["list"])),
        "max": (node("Max", "s list", "t"), np.maximum(s, c["list"])),
        "mod": (node("Mod", "s three", "t"), s % 3),
        "div": (node("Div", "list s", "t"), c["list"] // s),
        "where": (node("Where", "odd s list", "t"), np.where(c["odd"], s, c["list"])),
        "slice": (node("Slice", "s one top", "t"), s[1:]),
        "slice_back": (node("Slice", "s last back zero last", "t"), s[::-1]),
        "gather": (node("Gather", "s order", "t"), s[c["order"]]),
        "tile": (node("Tile", "s two", "t"), np.tile(s, 2)),
        "concat": (node("Concat", "one s", "t", axis=0), np.concatenate([[1], s])),
        "prod": (node("ReduceProd", "s", "t", keepdims=1), s.prod(keepdims=True)),
        "sum": (node("ReduceSum", "s", "t", keepdims=1), s.sum(keepdims=True)),
        "abs": ([node("Neg", "s", "n"), node("Abs", "n", "t")], s),
        "tile_of_one": ([node("Slice", "s one two", "n"), node("Tile", "n top", "t")], np.array([3, 3, 3])),
        "tile_to_rows": ([node("Slice", "s one two", "m"), node("Reshape", "m square", "n"), node("Tile", "n pair", "q"), node("Reshape", "q last", "t")], np.array([3, 3, 3, 3])),
        "tile_along_one": ([node("Slice", "s one two", "m"), node("Reshape", "m square", "n"), node("Tile", "n twice", "q"), node("Reshape", "q last", "t")], np.array([3, 3])),
        "expand_to_rows": ([node("Slice", "s one two", "m"), node("Expand", "m pair", "q"), node("Reshape", "q last", "t")], np.array([3, 3, 3, 3])),
    }
    for name, (nodes, sizes) in made.items():
        nodes = nodes if isinstance(nodes, list) else [nodes]
        add(f"shape_by_{name}", [node("Shape", "x", "s"), *nodes, node("ConstantOfShape", "t", value=helper.make_tensor("v", TensorProto.FLOAT, [1], [1.5]))], x, c,
            want=np.full(sizes, 1.5, np.float32), reference=False)
    rows = [node("Concat", "s one", "a", axis=0), node("Reshape", "a pair", "b"), node("Tile", "b twice", "d"), node("Reshape", "d last", "e"), node("Slice", "e zero four4", "t")]
    add("shape_by_tile_of_rows", [node("Shape", "x", "s"), *rows, node("ConstantOfShape", "t", "u", value=helper.make_tensor("v", TensorProto.FLOAT, [1], [1.5])), node("ReduceSum", "u", keepdims=0)],
        x, {**c, "four4": ints(4)}, want=np.float32(1.5 * 2 * 3 * 2 * 3), reference=False)
    for name, ins, picked in (("start", "s b top", slice(1, None)), ("end", "s zero b", slice(0, 1)), ("step", "s zero top zero b", slice(None, None, 1))):
        add(f"shape_sliced_at_run_time_by_{name}",
            [node("Shape", "x", "s"), node("Slice", ins, "t"), node("ConstantOfShape", "t", "u", value=helper.make_tensor("v", TensorProto.FLOAT, [1], [1.5])), node("ReduceSum", "u", keepdims=0)],
            {**x, "b": ints(1)}, c, want=np.float32(1.5 * s[picked].prod()), reference=False)


def near():
    """Sums that a normalization reads as its scale or its bias, not as what it normalizes."""
    x = {"x": f32(3, 7), "a": f32(7), "b": f32(7)}
    c = {"g": f32(7), "h": f32(7)}
    total = node("Add", "a b", "t")
    for tag, ins in (("scale", "x t h"), ("bias", "x g t"), ("both", "x t t")):
        add(f"layernorm_{tag}_from_a_sum", [total, node("LayerNormalization", ins)], x, c)
        add(f"layernorm_{tag}_from_a_sum_read_again", [total, node("LayerNormalization", ins, "l"), node("Mul", "l t")], x, c)
    square = {"x": f32(7, 7), "a": f32(7, 7), "b": f32(7, 7)}
    add("matmul_by_a_sum_that_is_normalized", [total, node("LayerNormalization", "t g h", "l"), node("MatMul", "x t", "m"), node("Sub", "l m")], square, c, rtol=1e-3, atol=1e-3)


def sequences():
    """Sequences that a node makes without being told how."""
    x = {"x": f32(3, 4)}
    c = {"i": np.array(1)}
    for axis in (0, 1):
        for tag, more in (("plain", {}), ("kept", {"keepdims": 1}), ("dropped", {"keepdims": 0})):
            v = np.take(x["x"], [1] if tag != "dropped" else 1, axis)
            add(f"split_to_sequence_{axis}_{tag}", [node("SplitToSequence", "x", "s", axis=axis, **more), node("SequenceAt", "s i", "t"), node("Neg", "t")], x, c, want=-v)
    # Only a declared type tells the rank of what a shape that is an input makes.
    x = {**x, "shape": ints(2, 6), "b": np.array(True)}
    made, last = node("Reshape", "x shape", "r"), node("ReduceSum", "t", "q", keepdims=0)
    declared = [helper.make_tensor_value_info("r", TensorProto.FLOAT, ["rows", "columns"])]
    for axis in (0, 1):
        split = [node("SplitToSequence", "r n", "s", axis=axis), node("SequenceAt", "s i", "t"), last]
        half = {**c, "n": ints(1, 1) if axis == 0 else ints(2, 4)}
        want = np.split(x["x"].reshape(2, 6), [1 if axis == 0 else 2], axis)[1].sum()
        add(f"split_to_sequence_{axis}_of_a_declared_rank", [made, *split, node("Neg", "q")], x, half, inner=declared, want=np.float32(-want))
        out = helper.make_tensor_value_info("q", TensorProto.FLOAT, [])
        taken, other = (helper.make_graph(nodes, tag, [], [out]) for tag, nodes in (("taken", split), ("other", [node("ReduceMax", "r", "q", keepdims=0)])))
        for deep in (1, 2):
            branch = node("If", "b", "q", then_branch=taken, else_branch=other)
            if deep == 2:
                branch = node("If", "b", "q", then_branch=helper.make_graph([branch], "outer", [], [out]), else_branch=other)
            add(f"split_to_sequence_{axis}_of_a_declared_rank_in_branches_{deep}", [made, branch, node("Neg", "q")], x, half, inner=declared, want=np.float32(-want))


def transposed():
    """Sizes that a transposed convolution is told beside a padding."""
    x, w = whole(1, 2, 4, 3), whole(2, 3, 3, 5)
    full = np.zeros((1, 3, 6, 7), np.float32)
    for i in range(4):
        for j in range(3):
            full[0, :, i : i + 3, j : j + 5] += np.tensordot(x[0, :, i, j], w, 1)
    for auto in ("VALID", "NOTSET", "SAME_UPPER", "SAME_LOWER"):
        for rows, columns in ((6, 7), (5, 6), (4, 4)):
            top, left = ((n // 2 if auto == "SAME_UPPER" else n - n // 2) for n in (6 - rows, 7 - columns))
            add(f"transposed_sizes_{auto.lower()}_{rows}x{columns}", node("ConvTranspose", "x w", auto_pad=auto, output_shape=[rows, columns]),
                {"x": x}, {"w": w}, want=full[:, :, top : top + rows, left : left + columns], reference=False)


def parts():
    """Parts of an image's channels, one of them without channels."""
    x, c = {"x": whole(1, 4, 9, 9)}, {"w": whole(8, 4, 3, 3), "n": ints(0, 5, 3), "m": ints(0, 9)}
    first = node("Conv", "x w", "c", pads=[1] * 4)
    add("parts_of_channels", [first, node("Split", "c n", "a b d", axis=1)], x, c, outs="a b d", reference=False)
    add("parts_of_columns", [first, node("Split", "c m", "a b", axis=3), node("Relu", "b", "r")], x, c, outs="a r", reference=False)


def statistics():
    """Types of the mean and the reciprocal deviation of a layer: those of stash_type."""
    x = whole(3, 8).astype(np.float64)
    g = np.linspace(0.5, 2, 8)
    mean = x.mean(1, keepdims=True)
    inverse = 1 / np.sqrt(x.var(1, keepdims=True) + 0.25)
    for kind in (np.float64, np.float32, np.float16):
        for tag, more in (("", {}), ("_stashed", {"stash_type": 1})):
            want = [((x - mean) * inverse * g.astype(kind)).astype(kind), mean.astype(np.float32), inverse.astype(np.float32)]
            close = {"rtol": 1e-2, "atol": 1e-2} if kind == np.float16 else {}
            add(f"layernorm_statistics_{np.dtype(kind)}{tag}", node("LayerNormalization", "x g", "y m d", epsilon=0.25, **more), {"x": x.astype(kind)},
                {"g": g.astype(kind)}, outs="y m d", want=want, reference=False, **close)


def opened():
    """Sizes of operands that only a run tells, of operators that divide them into groups."""
    made = []
    for groups in (2, 3):
        for width in (1, 2):
            name = f"opened_groups_convtranspose_{groups}_{width}"
            add(name, node("ConvTranspose", "x w b", group=groups, strides=[2, 1]), {"x": whole(2, 6, 3, 4), "w": whole(6, width, 2, 3), "b": whole(groups * width)}, {}, opset=13)
            made.append(name)
        for opset in (18, 21):
            name = f"opened_groups_groupnormalization_{groups}_{opset}"
            entries = groups if opset == 18 else 6
            add(name, node("GroupNormalization", "x s b", num_groups=groups, epsilon=0.25), {"x": whole(2, 6, 5), "s": f32(entries), "b": f32(entries)}, {}, opset=opset)
            made.append(name)
    for name in made:
        for i in forms.base.cases[name][0].graph.input:
            for k, d in enumerate(i.type.tensor_type.shape.dim):
                d.dim_param = f"{i.name}_{k}"


if __name__ == "__main__":
    for part in (grams, activations, words, blocks, bodies, untaken, empty, singles, functions, names, lines, stale, shapes, near, sequences, transposed, parts, statistics, opened):
        part()
    forms.finish(os.path.join(os.path.dirname(os.path.abspath(__file__)), "imports.zip"))
