"""Functions with a neighbour in place of one operator, operands that are constants as a rule and are fed here,
reductions of whole images, results in parts of a larger tensor, numbers on the edge of a type, and words that no
attribute has."""

import itertools

import numpy as np
from onnx import TensorProto, helper

from forms import add, f32, ints, node, refused, rng, several, whole

c32 = np.float32


def neighbours():
    x = {"x": f32(2, 4, 3, 5)}
    k = {"k": f32(6, 4, 3, 3), "p": f32(6, 4, 1, 1), "d": f32(4, 1, 3, 3), "b": f32(6)}
    sums = {
        "conv": node("Conv", "x k b", "c", pads=[1] * 4),
        "point": node("Conv", "x p b", "c"),
        "depthwise": node("Conv", "x d", "c", pads=[1] * 4, group=4),
    }
    gates = {
        "sigmoid": ("Sigmoid", {}),
        "hardsixth": ("HardSigmoid", {"alpha": 1 / 6, "beta": 0.5}),
        "tanh": ("Tanh", {}),
        "softplus": ("Softplus", {}),
    }
    for (of, first), (name, (op, attrs)) in itertools.product(sums.items(), gates.items()):
        made = []
        for other in ("Add", "Sub", "Max", "Min"):
            for ins in ("c {}", "{} c"):
                made.append(
                    lambda o, other=other, ins=ins: [
                        node(op, "c", "g" + o, **attrs),
                        node(other, ins.format("g" + o), o),
                    ]
                )
        # Each alone, as it is what else reads the sums that decides on fusion.
        for i, f in enumerate(made):
            add(f"beside_{of}_{name}_{i}", [first, *f("y")], x, k)
    c = {"three": c32(3), "zero": c32(0), "six": c32(6), "sixth": c32(1 / 6)}
    for i, (a, b, e) in enumerate(
        (
            ("Add", "Add", "Div"),
            ("Sub", "Mul", "Div"),
            ("Add", "Sub", "Mul"),
            ("Add", "Mul", "Sub"),
            ("Add", "Max", "Div"),
        )
    ):
        last = "sixth" if e == "Mul" else "six"
        add(
            f"beside_hardswish_{i}",
            [
                sums["conv"],
                node(a, "c three", "s"),
                node("Clip", "s zero six", "t"),
                node(b, "t c", "m"),
                node(e, f"m {last}"),
            ],
            x,
            {**k, **c},
        )
    for i, (a, b) in enumerate((("Tanh", "Add"), ("Sigmoid", "Mul"), ("Tanh", "Max"), ("Erf", "Mul"))):
        add(f"beside_mish_{i}", [sums["conv"], node("Softplus", "c", "p0"), node(a, "p0", "t"), node(b, "t c")], x, k)


def fed():
    x = {"x": f32(2, 4, 3, 5)}
    k = {"k": f32(6, 4, 3, 3), "b": f32(6), "lo": c32(-0.5), "hi": c32(0.75), "two": c32(2)}
    row = {"s": f32(4), "t": f32(4), "m": f32(4), "v": np.abs(f32(4)) + c32(0.5)}
    conv = node("Conv", "x k b", "c", pads=[1] * 4)
    bounds = {"x lo hi": ("lo", "hi"), "x lo": ("lo",), "x - hi": ("hi",)}
    for i, (ins, names) in enumerate(bounds.items()):
        for count in range(1, len(names) + 1):
            for which in itertools.combinations(names, count):
                given = {**x, **{n: k[n] for n in which}}
                tag = f"{i}_{'_'.join(which)}"
                add(f"fed_clip_{tag}", node("Clip", ins), given, k)
                add(f"fed_clip_conv_{tag}", [conv, node("Clip", ins.replace("x", "c"))], given, k)
                add(
                    f"fed_clip_computed_{tag}",
                    [conv, *(node("Mul", f"{n} two", n + n) for n in which)]
                    + [node("Clip", " ".join(n + n if n in which else n.replace("x", "c") for n in ins.split()))],
                    given,
                    k,
                )
    norm = node("BatchNormalization", "x s t m v", epsilon=0.25)
    for which in ("s", "t", "m", "v", "stmv"):
        add(f"fed_batchnorm_{which}", norm, {**x, **{n: row[n] for n in which}}, row)
    for which in ("k", "b", "kb"):
        for act in ((), ("Relu",), ("Clip",)):
            end = [node(a, "c lo hi" if a == "Clip" else "c") for a in act]
            outs = "y" if act else "c"
            some = {**x, **{n: k[n] for n in which}}
            add(f"fed_conv_{which}_{len(act)}_{'_'.join(act)}", [conv, *end], some, k, outs=outs)
    add("fed_prelu", node("PRelu", "x slope"), {**x, "slope": f32(4, 1, 1)})
    add("fed_prelu_conv", [conv, node("PRelu", "c slope")], {**x, "slope": f32(6, 1, 1)}, k)
    for op, n in (("Pow", 2), ("Add", 3), ("Mul", 0.5), ("Max", 0), ("Min", 1)):
        add(f"fed_scalar_{op.lower()}", [conv, node(op, "c n")], {**x, "n": c32(n)}, k)
    q = {"s": c32(0.125), "z": np.uint8(101)}
    for which in ("s", "z", "sz"):
        some = {**x, **{n: q[n] for n in which}}
        pair = [node("QuantizeLinear", "x s z", "q"), node("DequantizeLinear", "q s z")]
        add(f"fed_codes_{which}", pair, some, q)
        moved = [pair[0], node("Transpose", "q", "r"), node("DequantizeLinear", "r s z")]
        add(f"fed_codes_moved_{which}", moved, some, q)
    a = {"a": whole(5, 7), "w": whole(7, 9), "e": whole(9), "r": whole(5, 9)}
    for which in ("w", "e", "we"):
        some = {"a": a["a"], **{n: a[n] for n in which}}
        add(f"fed_gemm_{which}", node("Gemm", "a w e", alpha=0.5, beta=2.0), some, a)
        add(f"fed_product_{which}", [node("MatMul", "a w", "p"), node("Add", "p e", "t"), node("Relu", "t")], some, a)
        add(f"fed_product_sum_{which}", [node("MatMul", "a w", "p"), node("Add", "p r", "t"), node("Mul", "t e")],
            {**some, "r": a["r"]}, a)
    layer = {"g": f32(5), "h": f32(5)}
    for which in ("g", "h", "gh"):
        add(f"fed_layer_{which}", node("LayerNormalization", "x g h"), {**x, **{n: layer[n] for n in which}}, layer)
    own = {"i": f32(4), "j": f32(4)}
    for which in ("i", "j", "ij"):
        add(f"fed_instance_{which}", node("InstanceNormalization", "x i j"), {**x, **{n: own[n] for n in which}}, own)


def images():
    """Reductions of whole images, of as many channels as are divided among threads."""
    for c, h, w in ((200, 14, 9), (705, 7, 7), (1000, 7, 7), (700, 7, 9), (127, 14, 14)):
        # The images are made of rows and columns: few numbers, all different.
        feeds = {"a": whole(1, c, 1, 1, most=40), "b": whole(1, 1, h, w, most=9)}
        x = node("Add", "a b", "x")
        tag = f"{c}_{h}_{w}"
        add(
            f"image_{tag}",
            [
                x,
                node("GlobalAveragePool", "x", "y"),
                node("GlobalMaxPool", "x", "z"),
                node("ReduceMean", "x", "m", axes=[2, 3], keepdims=0),
                node("ReduceMax", "x", "n", axes=[2, 3]),
            ],
            feeds,
            outs="y z m n",
        )
        add(
            f"image_pools_{tag}",
            [
                x,
                node("AveragePool", "x", "y", kernel_shape=[h, w]),
                node("MaxPool", "x", "z", kernel_shape=[h, w]),
                node("AveragePool", "x", "m", kernel_shape=[h, w], pads=[1, 0, 0, 0], strides=[h, w]),
            ],
            feeds,
            outs="y z m",
        )


def parts():
    """Sums that are stored in a part of a larger tensor, with what is added to them in a part of another."""
    for rows, n, m in ((5, 8, 3), (13, 17, 16), (33, 40, 3), (33, 17, 16)):
        feeds = {"x": whole(rows, 24), "r": whole(rows, n), "z": whole(rows, m), "s": whole(rows, n + m)}
        c = {"w": whole(24, n), "b": whole(n), "cut": ints(n, m), "cut2": ints(m, n)}
        product = node("MatMul", "x w", "p")
        for i, (added, before) in enumerate(
            (
                ("r", []),
                ("f", [node("Split", "s cut", "f g", axis=1)]),
                ("g", [node("Split", "s cut2", "f g", axis=1)]),
            )
        ):
            for j, joined in enumerate(("t z", "z t", "z t z")):
                add(
                    f"part_product_{rows}_{n}_{m}_{i}_{j}",
                    [*before, product, node("Add", f"p {added}", "t"), node("Concat", joined, "j", axis=1)],
                    feeds,
                    c,
                    outs="j",
                )
    for h, n, m in ((3, 8, 3), (6, 17, 8), (9, 24, 3), (9, 17, 3)):
        feeds = {"x": whole(1, 16, h, 5), "r": whole(1, n, h, 5), "z": whole(1, m, h, 5), "s": whole(1, n + m, h, 5)}
        c = {"k": whole(n, 16, 1, 1), "l": whole(n, 16, 3, 3), "b": whole(n), "cut": ints(n, m), "cut2": ints(m, n)}
        for size, conv in (("point", node("Conv", "x k b", "p")), ("wide", node("Conv", "x l b", "p", pads=[1] * 4)),
                           ("dilated", node("Conv", "x l b", "p", pads=[2] * 4, dilations=[2, 2]))):
            for i, (added, before) in enumerate(
                (
                    ("r", []),
                    ("f", [node("Split", "s cut", "f g", axis=1)]),
                    ("g", [node("Split", "s cut2", "f g", axis=1)]),
                )
            ):
                for j, joined in enumerate(("t z", "z t")):
                    add(
                        f"part_{size}_{h}_{n}_{m}_{i}_{j}",
                        [
                            *before,
                            conv,
                            node("Add", f"p {added}", "t"),
                            node("Concat", joined, "j", axis=1),
                            node("Relu", "j"),
                        ],
                        feeds,
                        c,
                        outs="y",
                    )


def empty():
    """Slices of nothing, joined with what there is."""
    x = {"x": np.arange(35, dtype=np.float32).reshape(5, 7)}
    n = 7
    stops = (-100, -9, -8, -7, -6, -1, 0, 1, 6, 7, 8, 100)
    for step in (1, 2, 3, -1, -2, -3):
        made = []
        c = {"axis": ints(1), "step": ints(step), **{f"e{i}": ints(e) for i, e in enumerate(stops)}}
        for (i, s), (j, e) in itertools.product(enumerate(stops), repeat=2):
            if len(range(n)[s:e:step]) == 0:
                made.append(
                    lambda o, i=i, j=j: [
                        node("Slice", f"x e{i} e{j} axis step", "s" + o),
                        node("Concat", f"x s{o} x", o, axis=1),
                    ]
                )
        for k in range(0, len(made), 12):
            several(
                f"empty_slice_{abs(step)}_{'back' if step < 0 else 'on'}_{k}", made[k : k + 12], x, c, reference=False
            )


def ties():
    """Numbers that a type between would round to halves of the narrow one."""
    for kind, bits, name in ((np.float16, 10, "half"),):
        base = np.array([1, 1 + 2.0**-bits, 1.5, 2, 3, 0.75, 100, 1000, 0.001, 6.1e-5], np.float64)
        ulp = np.abs(np.spacing(base.astype(kind)).astype(np.float64))
        at = base.astype(kind).astype(np.float64)
        v = np.concatenate([at + ulp / 2 + sign * ulp * 2.0**-e for sign in (-1, 0, 1) for e in (20, 25, 30, 35)])
        v = np.concatenate([v, -v])
        alone = {"runtime": False, "reference": False}  # they may round to float32 before
        add(f"ties_{name}", node("Cast", "x", to=TensorProto.FLOAT16), {"x": v}, want=v.astype(kind), **alone)
    # float32, where ties of doubles are those of the mantissa of 23 bits
    base = np.array([1, 1.5, 3, 1000, 1e-3, 16777215], np.float32).astype(np.float64)
    ulp = np.spacing(base.astype(np.float32)).astype(np.float64)
    v = np.concatenate([base + ulp / 2 + s * ulp * 2.0**-20 for s in (-1, 0, 1)])
    v = np.concatenate([v, -v])
    add("ties_single", node("Cast", "x", to=TensorProto.FLOAT), {"x": v}, want=v.astype(np.float32))


def computed_shapes():
    """A shape that a transposition of one dimension passes on."""
    x = {"x": f32(2, 3, 4)}
    c = {"by": ints(2, 1, 1), "flat": ints(-1), "half": ints(1, 1, 2)}
    nodes = [
        node("Shape", "x", "s"),
        node("Transpose", "s", "t", perm=[0]),
        node("Transpose", "t", "u"),
        node("Mul", "u by", "v"),
        node("Div", "v half", "w"),
        node("Reshape", "x w"),
    ]
    add("shape_transposed", nodes, x, c)


def scales():
    """Values inside of a graph that are quantized with one scale and dequantized with another."""
    x = {"x": f32(1, 4, 5, 6) * c32(3), "m": f32(1, 4, 1, 1)}
    for kind, zero in ((np.int8, 3), (np.uint8, 131)):
        c = {"s1": c32(0.125), "s2": c32(0.25), "s3": c32(0.0625), "z": kind(zero), "k": f32(6, 4, 3, 3)}
        for a, b in (("s1", "s2"), ("s2", "s1"), ("s1", "s1"), ("s2", "s3")):
            pair = [
                node("Sub", "x m", "a"),
                node("QuantizeLinear", f"a {a} z", "q"),
                node("DequantizeLinear", f"q {b} z", "d"),
            ]
            tag = f"{a}_{b}_{kind.__name__}"
            add(f"scales_{tag}", [*pair, node("Add", "d m")], x, c)
            add(f"scales_conv_{tag}", [*pair, node("Conv", "d k")], x, c)
            add(f"scales_relu_{tag}", [*pair, node("Relu", "d", "r"), node("Mul", "r d")], x, c)
            add(
                f"scales_two_{tag}",
                [
                    *pair,
                    node("DequantizeLinear", f"q {b} z", "e"),
                    node("Abs", "d", "f"),
                    node("Neg", "e", "g"),
                    node("Mul", "f g"),
                ],
                x,
                c,
            )


def without_taps():
    """Windows all of whose elements lie in the padding, in memory that held other values."""
    for h, w in ((1, 1), (5, 1), (2, 3)):
        for kernel, pads in (([1, 2], [0, 1, 0, 1]), ([2, 2], [1, 1, 1, 1]), ([2, 1], [1, 0, 1, 0])):
            feeds = {"x": whole(1, 20, h, w), "m": whole(1, 20, 1, 1)}
            n = [h, w]
            if any(n[i] + 2 * pads[i] < 2 * (kernel[i] - 1) + 1 for i in (0, 1)):
                continue
            a = feeds["x"] - feeds["m"]
            b = np.abs(a) + a * a
            padded = np.pad(b, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])))
            oh, ow = (padded.shape[2 + i] - 2 * (kernel[i] - 1) for i in (0, 1))
            pooled = sum(
                padded[:, :, 2 * i : 2 * i + oh, 2 * j : 2 * j + ow] for i in range(kernel[0]) for j in range(kernel[1])
            ) / c32(kernel[0] * kernel[1])
            add(
                f"taps_{h}_{w}_{kernel[0]}_{kernel[1]}",
                [
                    node("Sub", "x m", "a"),
                    node("Abs", "a", "b0"),
                    node("Mul", "a a", "b1"),
                    node("Add", "b0 b1", "b"),
                    node(
                        "AveragePool",
                        "b",
                        "p",
                        kernel_shape=kernel,
                        pads=pads,
                        dilations=[2, 2],
                        count_include_pad=1,
                    ),
                    node("Neg", "p"),
                ],
                feeds,
                opset=19,
                want=-pooled.astype(np.float32),
                runtime=False,
                reference=False,
            )


def left_out():
    """Results that are the second of an operator, alone."""
    x = {"x": f32(3, 4)}
    add("alone_mask", node("Dropout", "x", "y m"), x, opset=13, outs="m", runtime=False, want=np.ones((3, 4), bool))
    add("alone_places", node("TopK", "x two", "v i", axis=1), x, {"two": ints(2)}, outs="i")
    add("alone_indices", node("MaxPool", "z", "v i", kernel_shape=[2]), {"z": f32(1, 2, 6)}, outs="i", reference=False)
    v, z = rng.integers(0, 256, 6).astype(np.uint8), np.array([100], np.uint8)
    b = rng.integers(-128, 128, (6, 3)).astype(np.int8)
    want = ((v.astype(np.int64) - 100) @ b.astype(np.int64)).astype(np.int32)
    alone = {"runtime": False, "reference": False}
    add("vector_matmulinteger", node("MatMulInteger", "v b z"), {"v": v}, {"b": b, "z": z}, want=want, **alone)
    one = node("MatMulInteger", "v b z")
    add("vector_matmulinteger_scalar", one, {"v": v}, {"b": b, "z": z[0]}, want=want, **alone)


def words():
    """Models with a word that an attribute does not have, and with a body of too few outputs."""
    x, k = f32(1, 3, 5, 6), f32(4, 3, 3, 3)
    sizes = {"r": np.zeros(0, np.float32), "s": np.float32([1, 1, 2, 2])}
    grid = {"g": f32(1, 2, 2, 2)}
    lstm = {"t": f32(2, 1, 3), "w": f32(1, 8, 3), "u": f32(1, 8, 2)}
    made = {
        "resize_mode": (node("Resize", "x r s", mode="nonsense"), sizes),
        "resize_coordinates": (node("Resize", "x r s", coordinate_transformation_mode="nonsense"), sizes),
        "resize_nearest": (node("Resize", "x r s", mode="nearest", nearest_mode="nonsense"), sizes),
        "resize_policy": (node("Resize", "x r s", keep_aspect_ratio_policy="nonsense"), sizes),
        "conv_auto_pad": (node("Conv", "x k", auto_pad="nonsense"), {"k": k}),
        "transposed_auto_pad": (node("ConvTranspose", "x k2", auto_pad="nonsense"), {"k2": f32(3, 4, 3, 3)}),
        "maxpool_auto_pad": (node("MaxPool", "x", kernel_shape=[2, 2], auto_pad="nonsense"), {}),
        "averagepool_auto_pad": (node("AveragePool", "x", kernel_shape=[2, 2], auto_pad="nonsense"), {}),
        "pad_mode": (node("Pad", "x p", mode="nonsense"), {"p": ints(0, 0, 1, 1, 0, 0, 1, 1)}),
        "depth_mode": (node("DepthToSpace", "x4", blocksize=2, mode="nonsense"), {"x4": f32(1, 4, 2, 2)}),
        "grid_mode": (node("GridSample", "x g", mode="nonsense"), grid),
        "grid_padding": (node("GridSample", "x g", padding_mode="nonsense"), grid),
        "gelu": (node("Gelu", "x", approximate="nonsense"), {}),
        "scatter_reduction": (
            node("ScatterElements", "x i x2", reduction="nonsense"),
            {"i": np.zeros((1, 3, 5, 6), np.int64), "x2": x},
        ),
        "lstm_direction": (node("LSTM", "t w u", "y", hidden_size=2, direction="nonsense"), lstm),
        "lstm_activation": (
            node("LSTM", "t w u", "y", hidden_size=2, activations=["Sigmoid", "Tanh", "Nonsense"]),
            lstm,
        ),
        "einsum": (node("Einsum", "x x2", equation="nonsense"), {"x2": x}),
        "roi_mode": (
            node("RoiAlign", "x b i", mode="nonsense"),
            {"b": np.float32([[0, 0, 2, 2]]), "i": ints(0)},
        ),
    }
    for name, (n, inits) in made.items():
        refused(f"words_{name}", [n], {"x": x}, inits)
    f = helper.make_tensor_value_info
    body = helper.make_graph([node("Neg", "e", "o")], "b", [f("e", 1, [2])], [f("o", 1, [2])])
    two = [
        node("SequenceConstruct", "z z", "q"),
        node("SequenceMap", "q", "m n", body=body),
        node("ConcatFromSequence", "m", "y", axis=0),
    ]
    refused("words_map_outputs", two, {"z": f32(2)}, {})


def make():
    neighbours()
    fed()
    images()
    parts()
    empty()
    ties()
    computed_shapes()
    scales()
    without_taps()
    left_out()
    words()
