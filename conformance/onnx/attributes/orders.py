"""Operators in orders in which converters do not usually leave them: an implementation that computes several in one step must not here, or must
do it otherwise."""
import itertools

import numpy as np
import onnxruntime as ort

from sweep import add, base, f32, ints, node, rng

SHAPES = {"channel": (1, 6, 1, 1), "scalar": (), "one": (1,), "column": (5, 1), "row": (1, 4), "pixel": (1, 1, 5, 4), "image": (2, 6, 5, 4), "batch": (2, 1, 1, 1), "last": (4,), "channels": (6, 1, 1)}


def convolutions():
    """Sums and products before and behind a convolution of 3 to 6 channels, with operands that are no bias."""
    x = {"x": f32(2, 3, 5, 4)}
    w = {"w": f32(6, 3, 3, 3), "d": f32(6), "D": f32(6, 1, 3, 3)}
    conv = lambda i, o, ins="w d": node("Conv", f"{i} {ins}", o, pads=[1] * 4)
    for name, shape in SHAPES.items():
        k = {"k": np.asarray(f32(*shape), np.float32)}
        for op in ("Add", "Mul", "Sub", "Div", "Max"):
            add(f"order_conv_{op.lower()}_{name}", [conv("x", "t"), node(op, "t k")], x, {**w, **k}, opset=17)
        for op in ("Add", "Sub", "Mul"):
            add(f"order_conv_{op.lower()}_relu_{name}", [conv("x", "t"), node(op, "k t", "u"), node("Relu", "u")], x, {**w, **k}, opset=17)
            add(f"order_conv_relu_{op.lower()}_{name}", [conv("x", "t"), node("Relu", "t", "u"), node(op, "u k")], x, {**w, **k}, opset=17)
        add(f"order_conv_add_given_{name}", [conv("x", "t"), node("Add", "t k", "u"), node("Relu", "u")], {**x, **k}, w, opset=17)
        add(f"order_depthwise_add_{name}", [conv("x", "t"), node("Conv", "t D", "u", group=6, pads=[1] * 4), node("Add", "k u", "v"), node("Relu", "v")], x, {**w, **k}, opset=17)
    first = {"channel": (1, 3, 1, 1), "scalar": (), "column": (5, 1), "row": (1, 4), "image": (2, 3, 5, 4), "batch": (2, 1, 1, 1), "last": (4,), "channels": (3, 1, 1)}
    for name, shape in first.items():  # a sum before a padded convolution is none behind it
        for op in ("Add", "Mul", "Sub", "Div"):
            k = {"k": np.asarray(f32(*shape) + np.float32(4.5), np.float32)}
            add(f"order_{op.lower()}_conv_{name}", [node(op, "x k", "t"), conv("t", "y")], x, {**w, **k}, opset=17)
    add("order_conv_no_bias_add", [conv("x", "t", "w"), node("Add", "d4 t")], x, {**w, "d4": f32(6, 1, 1)}, opset=17)
    add("order_conv_twice_read", [conv("x", "t"), node("Add", "t t", "u"), node("Relu", "u", "v"), node("Mul", "v t")], x, w, opset=17)
    add("order_conv_own_filter_twice", [conv("x", "t"), conv("t2", "u"), node("Add", "t u")], {**x, "t2": f32(2, 3, 5, 4)}, w, opset=17)
    add("order_conv_filter_made", [node("Add", "w e", "f"), conv("x", "t", "f d"), node("Relu", "t")], x, {**w, "e": f32(1, 1, 3, 1)}, opset=17)
    add("order_conv_filter_given", [conv("x", "t"), node("Relu", "t")], {**x, "w": w["w"]}, {"d": w["d"]}, opset=17)
    add("order_conv_bias_given", [conv("x", "t"), node("Relu", "t")], {**x, "d": w["d"]}, {"w": w["w"]}, opset=17)


def normalizations():
    """Sums before normalizations whose operands are broadcast, constant or read twice."""
    x, y = f32(2, 3, 8), f32(2, 3, 8)
    c = {"s": f32(8), "b": f32(8)}
    for op, opset, ins in (("LayerNormalization", 17, " s b"), ("LayerNormalization", 17, " s"), ("RMSNormalization", 23, " s")):
        tag = f"{op[:5].lower()}{len(ins.split())}"
        norm = lambda i, o="y": node(op, i + ins, o)
        for name, shape in {"same": (2, 3, 8), "last": (8,), "scalar": (), "rows": (3, 1), "batch": (2, 1, 1), "plane": (3, 8), "one": (1, 1, 1)}.items():
            k = {"k": np.asarray(f32(*shape), np.float32)}
            for how, (feeds, inits) in {"constant": ({"x": x}, {**c, **k}), "given": ({"x": x, **k}, c)}.items():
                add(f"order_add_{tag}_{name}_{how}", [node("Add", "x k", "t"), norm("t")], feeds, inits, opset=opset)
                add(f"order_add_{tag}_{name}_{how}_turned", [node("Add", "k x", "t"), norm("t")], feeds, inits, opset=opset)
                add(f"order_add_{tag}_{name}_{how}_kept", [node("Add", "x k", "t"), norm("t", "n"), node("Add", "n t")], feeds, inits, opset=opset)
                add(f"order_add_{tag}_{name}_{how}_output", [node("Add", "x k", "t"), norm("t", "n")], feeds, inits, opset=opset, outs=("n", "t"))
        add(f"order_add_{tag}_itself", [node("Add", "x x", "t"), norm("t")], {"x": x}, c, opset=opset)
        add(f"order_add_{tag}_wider", [node("Add", "k x", "t"), norm("t")], {"x": x, "k": f32(2, 2, 3, 8)}, c, opset=opset)
        add(f"order_add_{tag}_narrower", [node("Add", "k x", "t"), norm("t")], {"x": f32(3, 1), "k": f32(1, 8)}, c, opset=opset)
        for nxt in ("Add", "Mul"):
            for name, shape in {"last": (8,), "rows": (3, 1), "scalar": ()}.items():
                add(f"order_{tag}_{nxt.lower()}_{name}", [norm("x", "n"), node(nxt, "n k")], {"x": x}, {**c, "k": np.asarray(f32(*shape), np.float32)}, opset=opset)
        add(f"order_two_{tag}", [node("Add", "x z", "t"), norm("t", "n"), node("Add", "n x", "u"), norm("u")], {"x": x, "z": y}, c, opset=opset)
    im = f32(2, 4, 3, 5)
    p = {"s": f32(4), "b": f32(4), "m": f32(4), "v": np.abs(f32(4)) + np.float32(.3), "w": f32(4, 4, 1, 1), "k": f32(4, 1, 1)}
    steps = {"norm": lambda i, o: node("BatchNormalization", f"{i} s b m v", o), "instance": lambda i, o: node("InstanceNormalization", f"{i} s b", o), "conv": lambda i, o: node("Conv", f"{i} w", o),
             "sum": lambda i, o: node("Add", f"{i} k", o), "residual": lambda i, o: node("Add", f"x {i}", o), "relu": lambda i, o: node("Relu", i, o)}
    for order in itertools.permutations(steps, 4):
        if rng.integers(0, 4) and order[:2] not in (("norm", "conv"), ("conv", "instance")):
            continue
        nodes = [steps[s](f"t{i}" if i else "x", f"t{i + 1}") for i, s in enumerate(order)]
        add("order_" + "_".join(order), nodes, {"x": im}, p, opset=17)


def limits():
    """Activations with limits that no fused step has, and several in a row."""
    x = {"x": f32(2, 3, 5, 4)}
    w = {"w": f32(6, 3, 3, 3), "d": f32(6), "W": f32(4, 6)}
    pairs = {"0_6": (0, 6), "m1_1": (-1, 1), "0_1": (0, 1), "m3_0": (-3, 0), "1_2": (1, 2), "m2_m1": (-2, -1), "turned": (1.5, -.5), "0_inf": (0, np.inf), "minf_0": (-np.inf, 0), "0_0": (0, 0),
             "none_2": (None, 2), "m2_none": (-2, None), "tiny": (0, 1e-30), "minus_zero": (-0.0, 6)}
    for name, (lo, hi) in pairs.items():
        ins = f"t {'-' if lo is None else 'lo'}" + ("" if hi is None else " hi")
        c = {"lo": np.float32(lo or 0), "hi": np.float32(hi or 0)}
        clip = node("Clip", ins.replace("t ", "{} ").format("t"), "u")
        add(f"limit_conv_{name}", [node("Conv", "x w d", "t"), clip], x, {**w, **c}, opset=13)
        add(f"limit_product_{name}", [node("MatMul", "x W", "t"), clip, node("Neg", "u")], {"x": f32(3, 4)}, {**w, **c}, opset=13)
        add(f"limit_sum_{name}", [node("Add", "x x", "t"), clip], {"x": f32(7)}, c, opset=13)
        add(f"limit_relu_{name}", [node("Conv", "x w d", "q"), node("Relu", "q", "t"), clip], x, {**w, **c}, opset=13)
        add(f"limit_{name}_relu", [node("Conv", "x w d", "t"), clip, node("Relu", "u")], x, {**w, **c}, opset=13)
    for name, op, attrs in (("leaky_negative", "LeakyRelu", {"alpha": -.5}), ("leaky_large", "LeakyRelu", {"alpha": 2.0}), ("leaky_0", "LeakyRelu", {"alpha": 0.0}), ("elu", "Elu", {"alpha": .3}),
                            ("elu_0", "Elu", {"alpha": 0.0}), ("hard", "HardSigmoid", {"alpha": .4, "beta": .1}), ("hard_negative", "HardSigmoid", {"alpha": -.4, "beta": .6}), ("selu", "Selu", {"alpha": 1.2, "gamma": .7}),
                            ("threshold", "ThresholdedRelu", {"alpha": .6}), ("threshold_0", "ThresholdedRelu", {"alpha": 0.0}), ("softplus", "Softplus", {}), ("softsign", "Softsign", {})):
        add(f"limit_conv_{name}", [node("Conv", "x w d", "t"), node(op, "t", **attrs)], x, w, opset=13)
        add(f"limit_conv_{name}_residual", [node("Conv", "x w d", "t"), node(op, "t", "u", **attrs), node("Add", "u t")], x, w, opset=13)
        add(f"limit_product_{name}", [node("MatMul", "x W", "t"), node(op, "t", **attrs)], {"x": f32(3, 4)}, w, opset=13)
    gates = {"swish": [node("Sigmoid", "t", "g"), node("Mul", "t g")], "scaled": [node("Mul", "t k", "q"), node("Sigmoid", "q", "g"), node("Mul", "t g")], "other": [node("Sigmoid", "t", "g"), node("Mul", "z g")],
             "hard": [node("HardSigmoid", "t", "g", alpha=1 / 6, beta=.5), node("Mul", "t g")], "hard_other": [node("HardSigmoid", "t", "g", alpha=.25, beta=.5), node("Mul", "t g")],
             "hswish": [node("Add", "t three", "a"), node("Clip", "a zero six", "g"), node("Mul", "t g", "q"), node("Div", "q six")],
             "hswish_4": [node("Add", "t k", "a"), node("Clip", "a zero six", "g"), node("Mul", "t g", "q"), node("Div", "q six")],
             "hswish_5": [node("Add", "t three", "a"), node("Clip", "a zero five", "g"), node("Mul", "t g", "q"), node("Div", "q six")],
             "hswish_z": [node("Add", "t three", "a"), node("Clip", "a zero six", "g"), node("Mul", "z g", "q"), node("Div", "q six")],
             "gelu": [node("Div", "t root", "a"), node("Erf", "a", "e"), node("Add", "e one", "f"), node("Mul", "t f", "g"), node("Mul", "g half")],
             "gelu_wrong_root": [node("Div", "t k", "a"), node("Erf", "a", "e"), node("Add", "e one", "f"), node("Mul", "t f", "g"), node("Mul", "g half")],
             "gelu_two": [node("Div", "t root", "a"), node("Erf", "a", "e"), node("Add", "e k", "f"), node("Mul", "t f", "g"), node("Mul", "g half")],
             "gelu_z": [node("Div", "t root", "a"), node("Erf", "a", "e"), node("Add", "e one", "f"), node("Mul", "z f", "g"), node("Mul", "g half")],
             "mish": [node("Softplus", "t", "a"), node("Tanh", "a", "g"), node("Mul", "t g")], "mish_z": [node("Softplus", "t", "a"), node("Tanh", "a", "g"), node("Mul", "z g")]}
    k = {n: np.float32(v) for n, v in {"k": 1.702, "three": 3, "zero": 0, "six": 6, "five": 5, "root": np.sqrt(2), "one": 1, "half": .5}.items()}
    for name, nodes in gates.items():
        add(f"limit_gate_{name}", [node("Conv", "x w d", "t")] + nodes, {**x, "z": f32(2, 6, 3, 2)}, {**w, **k}, opset=13)
        add(f"limit_gate_{name}_alone", nodes, {"t": f32(3, 5), "z": f32(3, 5)}, k, opset=13)


def movements():
    """Transpositions that move through operators of elements, reductions and concatenations, and others that must not."""
    x = {"x": f32(2, 3, 4, 5)}
    perms = ([0, 2, 3, 1], [0, 3, 1, 2], [3, 2, 1, 0], [1, 0, 3, 2], [0, 1, 3, 2])
    back = lambda p: [int(i) for i in np.argsort(p)]
    for n, p in enumerate(perms):
        shape = [(2, 3, 4, 5)[i] for i in p]
        turn = node("Transpose", "x", "t", perm=p)
        for name, k in {"last": f32(shape[3]), "second": f32(shape[1], 1, 1), "image": f32(*shape), "scalar": np.float32(1.3), "third": f32(shape[2], 1)}.items():
            add(f"moved_{n}_add_{name}", [turn, node("Add", "t k", "u"), node("Transpose", "u", perm=back(p))], x, {"k": k}, opset=13)
            add(f"moved_{n}_mul_{name}_relu", [turn, node("Mul", "k t", "u"), node("Relu", "u", "v"), node("Transpose", "v", perm=p)], x, {"k": k}, opset=13)
        for axes in ([1], [3], [1, 2], [-1, 0]):
            tag = "_".join(map(str, axes)).replace("-", "m")
            for keep in (0, 1):
                nodes = [turn, node("ReduceMean", "t a", "u", keepdims=keep)] + ([node("Transpose", "u", perm=back(p))] if keep else [node("Neg", "u")])
                add(f"moved_{n}_mean_{tag}_{keep}", nodes, x, {"a": ints(*axes)}, opset=18)
        add(f"moved_{n}_softmax", [turn, node("Softmax", "t", "u", axis=1), node("Transpose", "u", perm=back(p))], x, opset=13)
        add(f"moved_{n}_concat", [turn, node("Relu", "t", "u"), node("Concat", "t u", "v", axis=1), node("Transpose", "v", perm=back(p))], x, opset=13)
        add(f"moved_{n}_slice", [turn, node("Slice", "t s e a", "u"), node("Transpose", "u", perm=back(p))], x, {"s": ints(1), "e": ints(9), "a": ints(2)}, opset=13)
        add(f"moved_{n}_pad", [turn, node("Pad", "t p", "u"), node("Transpose", "u", perm=back(p))], x, {"p": ints(0, 1, 0, 2, 0, 0, 1, 0)}, opset=13)
        add(f"moved_{n}_reshape", [turn, node("Reshape", "t r", "u"), node("Transpose", "u", perm=[1, 0])], x, {"r": ints(6, 20)}, opset=13)
        add(f"moved_{n}_twice", [turn, node("Transpose", "t", "u", perm=p), node("Add", "u z")], {**x, "z": np.transpose(np.transpose(f32(2, 3, 4, 5), p), p).copy()}, opset=13)
        add(f"moved_{n}_kept", [turn, node("Relu", "t", "u"), node("Transpose", "u", "v", perm=back(p)), node("Add", "v x")], x, opset=13, outs=("y", "t"))
        add(f"moved_{n}_split", [turn, node("Split", "t n", "u v", axis=3), node("Concat", "v u", "q", axis=3), node("Transpose", "q", perm=back(p))], x, {"n": ints(1, shape[3] - 1)}, opset=13)
        add(f"moved_{n}_conv", [turn, node("Conv", "t w", "u", pads=[1] * 4), node("Transpose", "u", perm=p)], x, {"w": f32(4, shape[1], 3, 3)}, opset=13)
        add(f"moved_{n}_argmax", [turn, node("ArgMax", "t", "u", axis=1, keepdims=0), node("Transpose", "u", perm=[2, 0, 1])], x, opset=13)
        add(f"moved_{n}_gemm", [turn, node("Reshape", "t r", "u"), node("Gemm", "u g", transA=1)], x, {"r": ints(6, 20), "g": f32(6, 3)}, opset=13)
        add(f"moved_{n}_cumsum", [turn, node("CumSum", "t a", "u"), node("Transpose", "u", perm=back(p))], x, {"a": np.array(2, np.int64)}, opset=14)
    q, k, v = f32(2, 3, 8), f32(2, 3, 8), f32(2, 3, 8)
    for n, p in enumerate(([0, 2, 1, 3], [0, 1, 2, 3], [2, 0, 1, 3], [0, 2, 3, 1])):
        add(f"moved_heads_{n}", [node("Reshape", "x r", "a"), node("Transpose", "a", "b", perm=p), node("Transpose", "b", "e", perm=[0, 1, 3, 2]), node("MatMul", "b e")], {"x": q}, {"r": ints(2, 3, 2, 4)}, opset=13)
    add("moved_product_left", [node("Transpose", "x", "t", perm=[0, 2, 1]), node("MatMul", "t z")], {"x": q, "z": k}, opset=13)
    add("moved_product_right", [node("Transpose", "z", "t", perm=[0, 2, 1]), node("MatMul", "x t", "u"), node("Mul", "u s", "v"), node("Softmax", "v")], {"x": q, "z": k}, {"s": np.float32(.3)}, opset=13)


def islands():
    """Codes and reals side by side, with scales that differ where operands meet. Scales are powers of two, so that every code is exact."""
    x = np.round(f32(1, 4, 5, 3) * 16) / np.float32(4)
    codes = {"s": np.float32(.25), "z": np.int8(3), "S": np.float32(.5), "Z": np.int8(-7), "o": np.float32(2), "O": np.int8(11), "u": np.float32(.25), "U": np.uint8(130)}
    qdq = lambda i, o, p="s z": [node("QuantizeLinear", f"{i} {p}", f"{o}_q"), node("DequantizeLinear", f"{o}_q {p}", o)]
    w = rng.integers(-5, 6, (6, 4, 1, 1)).astype(np.int8)
    c = {**codes, "w": w, "ws": np.array([.5, .25, 1, 2, .5, .25], np.float32), "wz": np.zeros(6, np.int8), "one": np.float32(.5), "k": np.round(f32(4, 1, 1) * 4), "r": ints(1, 20, 3), "p": ints(0, 0, 1, 0, 0, 0, 0, 1)}
    weight = node("DequantizeLinear", "w ws wz", "f", axis=0)
    z = {"x2": np.round(f32(1, 4, 5, 3) * 16) / np.float32(4)}
    def case(name, nodes, feeds=None):
        add("island_" + name, nodes, feeds or {"x": x}, c, opset=17, skip_reference=False)
    case("mixed_sum", qdq("x", "a") + qdq("x2", "b", "S Z") + [node("Add", "a b", "t")] + qdq("t", "y", "o O"), {"x": x, **z})
    case("mixed_signs", qdq("x", "a") + qdq("x2", "b", "u U") + [node("Add", "a b", "t")] + qdq("t", "y", "o O"), {"x": x, **z})
    case("mixed_concat", qdq("x", "a") + qdq("x2", "b", "S Z") + [node("Concat", "a b", "t", axis=1)] + qdq("t", "y", "o O"), {"x": x, **z})
    case("mixed_concat_real", qdq("x", "a") + [node("Concat", "a x2", "t", axis=1)] + qdq("t", "y", "S Z"), {"x": x, **z})
    case("real_operand", qdq("x", "a") + [node("Add", "a x2", "t")] + qdq("t", "y", "S Z"), {"x": x, **z})
    case("no_end", qdq("x", "a") + [node("Relu", "a")])
    case("no_begin", [node("Relu", "x", "t")] + qdq("t", "y"))
    case("again_same", qdq("x", "a") + qdq("a", "b") + [node("Neg", "b")])
    case("again_other", qdq("x", "a") + qdq("a", "b", "S Z") + qdq("b", "y"))
    case("read_twice", qdq("x", "a") + [node("Relu", "a", "t")] + qdq("t", "b", "S Z") + [node("Sub", "b a")])
    case("codes_are_read_twice", [node("QuantizeLinear", "x s z", "q"), node("DequantizeLinear", "q s z", "a"), node("DequantizeLinear", "q S Z", "b"), node("Add", "a b")])
    for name, middle in {"conv": [weight, node("Conv", "a f", "t")], "conv_relu": [weight, node("Conv", "a f", "v"), node("Relu", "v", "t")], "conv_residual": [weight, node("Conv", "a f", "v"), node("Relu", "v", "m"), node("Add", "v m", "t")],
                         "relu": [node("Relu", "a", "t")], "pool": [node("MaxPool", "a", "t", kernel_shape=[2, 2])], "mean": [node("AveragePool", "a", "t", kernel_shape=[2, 2])], "scaled": [node("Mul", "a one", "t")],
                         "transpose": [node("Transpose", "a", "t", perm=[0, 2, 3, 1])], "reshape": [node("Reshape", "a r", "t")], "clip": [node("Clip", "a one", "t")], "pad": [node("Pad", "a p", "t")],
                         "leaky": [node("LeakyRelu", "a", "t", alpha=.5)], "channels": [node("Add", "a k", "t")], "squared": [node("Mul", "a a", "t")], "negative": [node("Neg", "a", "t")], "maximum": [node("ReduceMax", "a", "t", axes=[2, 3])],
                         "resize": [node("Resize", "a - sc", "t", coordinate_transformation_mode="asymmetric", nearest_mode="floor")]}.items():
        c["sc"] = np.array([1, 1, 2, 2], np.float32)
        for tag, end in (("", "s z"), ("_other", "S Z"), ("_unsigned", "u U"), ("_coarse", "o O")):
            case(f"{name}{tag}", qdq("x", "a") + middle + qdq("t", "y", end))
        case(f"{name}_real_end", qdq("x", "a") + middle + [node("Neg", "t")])


def make():
    base.options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL  # else it drops a rounding between two scales
    convolutions()
    normalizations()
    limits()
    movements()
    islands()
    base.options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
