"""Operators with an axis at every rank: each axis from the front and from behind, and left out;
limits of Slice, Reshape, Split and Gather; shapes computed by the model."""

import itertools

import numpy as np
from onnx import TensorProto

from forms import add, f32, ints, node, rng, several

c32 = np.float32
LENGTHS = ((4,), (2, 3), (3, 3), (2, 3, 4), (3, 3, 3), (2, 3, 4, 5), (3, 3, 3, 3), (2, 3, 2, 4, 3), (2, 2, 2, 2, 2))
BIG = 2**63 - 1


def every():
    for dims in LENGTHS:
        r = len(dims)
        x = {"x": rng.permutation(np.arange(int(np.prod(dims)))).reshape(dims).astype(np.float32) / c32(8) - c32(2)}
        around = [*range(r), *range(-r, 0)]
        tag = "x".join(map(str, dims))
        some = {f"a{a}": ints(a) for a in around}
        scalar = {f"b{a}": np.array(a, np.int64) for a in around}

        def each(name, op, opset=17, ins="x", feeds=x, inits=None, default=True, over=around, reference=True, **attrs):
            made = [lambda o, a=a: node(op, ins, o, axis=a, **attrs) for a in over]
            if default:
                made.append(lambda o: node(op, ins, o, **attrs))
            several(f"axis_{name}_{tag}", made, feeds, inits, opset=opset, reference=reference)

        for op in ("Softmax", "LogSoftmax", "Hardmax"):
            each(op.lower(), op, 13)
            each(op.lower() + "_11", op, 11, over=around if r > 1 else [0, -1], default=r > 1, reference=False)
        for op in ("ArgMax", "ArgMin"):
            each(op.lower(), op, 13)
            each(op.lower() + "_flat", op, 13, keepdims=0)
        each("concat", "Concat", ins="x x", default=False)
        each("flatten", "Flatten", over=range(-r, r + 1))
        each("lp", "LpNormalization", reference=False)
        each("gather", "Gather", ins="x p", inits={"p": ints(1, 0, -1)}, over=around)
        each("gather_scalar", "Gather", ins="x p", inits={"p": np.array(-1, np.int64)})
        each("gather_grid", "Gather", ins="x p", inits={"p": np.array([[1, 0, 1], [0, -1, -2]], np.int32)})
        each("elements", "GatherElements", ins="x q", feeds={**x, "q": rng.integers(-2, 2, dims)})
        each(
            "scatter",
            "ScatterElements",
            ins="x q u",
            feeds={**x, "q": np.zeros([1] * r, np.int64) + 1, "u": np.full([1] * r, 7, np.float32)},
        )
        several(
            f"axis_topk_{tag}",
            [lambda o, a=a: node("TopK", "x two", f"{o} {o}i", axis=a) for a in around],
            x,
            {"two": ints(2)},
        )
        several(f"axis_cumsum_{tag}", [lambda o, a=a: node("CumSum", f"x b{a}", o) for a in around], x, scalar)
        several(
            f"axis_unsqueeze_{tag}",
            [lambda o, a=a: node("Unsqueeze", f"x c{a}", o) for a in range(-r - 1, r + 1)],
            x,
            {f"c{a}": ints(a) for a in range(-r - 1, r + 1)},
        )
        for op in ("ReduceMax", "ReduceMean", "ReduceMin"):
            several(
                f"axis_{op.lower()}_{tag}",
                [
                    lambda o, a=a, k=k: node(op, "x", o, axes=[a], keepdims=k)
                    for a, k in zip(around, itertools.cycle((0, 1)))
                ]
                + [lambda o: node(op, "x", o, keepdims=0)],
                x,
            )
            several(
                f"axis_{op.lower()}_18_{tag}",
                [
                    lambda o, a=a, k=k: node(op, f"x a{a}", o, keepdims=k)
                    for a, k in zip(around, itertools.cycle((1, 0)))
                ]
                + [lambda o: node(op, "x", o, noop_with_empty_axes=1), lambda o: node(op, "x", o)],
                x,
                some,
                opset=18,
            )
        several(
            f"axis_slice_{tag}",
            [lambda o, a=a: node("Slice", f"x from to a{a}", o) for a in around]
            + [lambda o: node("Slice", "x from to", o)],
            x,
            {**some, "from": ints(1), "to": ints(2)},
        )
        for a in around:
            n = dims[a]
            first = n // 2
            add(
                f"axis_split_{a % r}_{a < 0}_{tag}".lower(),
                [node("Split", "x parts", "y z", axis=a), node("Neg", "z", "w")],
                x,
                {"parts": ints(first, n - first)},
                outs="y w",
            )
        if dims[0] > 2:
            add(
                f"axis_split_default_{tag}",
                [node("Split", "x parts", "y z")],
                x,
                {"parts": ints(1, dims[0] - 1)},
                outs="y z",
            )
        if len(set(dims)) == 1:
            n = dims[0]
            sequence = {"lens": np.full(n, 2, np.int64)}
            if r > 1:
                add(
                    f"axis_reverse_{tag}",
                    [
                        node("ReverseSequence", "x lens", "y", batch_axis=1, time_axis=0),
                        node("ReverseSequence", "x lens", "z", batch_axis=0, time_axis=1),
                        node("ReverseSequence", "x lens", "w"),
                    ],
                    x,
                    sequence,
                    outs="y z w",
                )
        # Quantization by axis: scales that differ, where the default axis has the same length and where it has another.
        low = {"q": rng.integers(-128, 128, dims).astype(np.int8)}
        for a in around:
            n = dims[a]
            c = {"s": (c32(2) ** -(np.arange(n) % 4)).astype(np.float32), "z": (np.arange(n) * 9 - 7).astype(np.int8)}
            add(f"axis_dequantize_{a % r}_{a < 0}_{tag}".lower(), [node("DequantizeLinear", "q s z", axis=a)], low, c)
            add(
                f"axis_quantize_{a % r}_{a < 0}_{tag}".lower(),
                [node("QuantizeLinear", "x s z", "q", axis=a), node("Cast", "q", "y", to=TensorProto.FLOAT)],
                x,
                c,
            )
            add(
                f"axis_both_{a % r}_{a < 0}_{tag}".lower(),
                [node("QuantizeLinear", "x s z", "q", axis=a), node("DequantizeLinear", "q s z", axis=a)],
                x,
                c,
            )
            if a >= 0 and r > 1 and dims[a] == dims[1 - min(a, 1)]:
                add(
                    f"axis_crossed_{a}_{tag}",
                    [
                        node("QuantizeLinear", "x s z", "q", axis=a),
                        node("DequantizeLinear", "q s z", axis=1 - min(a, 1)),
                    ],
                    x,
                    c,
                )
            if a == 1:
                add(
                    f"axis_quantize_default_{a}_{tag}",
                    [node("QuantizeLinear", "x s z", "q"), node("DequantizeLinear", "q s z")],
                    x,
                    c,
                )
        for a in around:
            shape = dims[a % r :]
            c = {"g": f32(*shape), "b": f32(*shape)}
            add(
                f"axis_layernorm_{a % r}_{a < 0}_{tag}".lower(),
                [node("LayerNormalization", "x g b", axis=a, epsilon=0.5)],
                x,
                c,
            )
        add(
            f"axis_layernorm_default_{tag}",
            [node("LayerNormalization", "x g b", epsilon=0.5)],
            x,
            {"g": f32(dims[-1]), "b": f32(dims[-1])},
        )
        for i, perm in enumerate(itertools.permutations(range(r))):
            if i % (1 if r < 4 else 5 if r < 5 else 23) == 0:
                add(f"axis_transpose_{''.join(map(str, perm))}_{tag}", [node("Transpose", "x", perm=perm)], x)
        add(f"axis_transpose_default_{tag}", [node("Transpose", "x")], x)
        add(
            f"axis_size_{tag}",
            [
                node("Shape", "x", "s"),
                node("Cast", "s", "f", to=TensorProto.FLOAT),
                node("ReduceSum", "f", "t"),
                node("Add", "x t"),
            ],
            x,
        )
        several(
            f"axis_shape_{tag}",
            [
                lambda o, s=s, e=e: [
                    node("Shape", "x", f"{o}s", start=s, end=e),
                    node("Cast", f"{o}s", o, to=TensorProto.FLOAT),
                ]
                for s, e in ((0, 1), (-1, 9), (-9, -r + 1 or 9), (0, BIG))
            ],
            x,
            reference=False,
        )


def limits():
    x = {"x": np.arange(35, dtype=np.float32).reshape(5, 7)}
    ends = (-BIG - 1, -BIG, -100, -8, -7, -6, -1, 0, 1, 3, 6, 7, 8, 100, BIG)
    for axis, step in itertools.product((0, 1, -1), (1, 2, 3, -1, -2, -5, BIG, -BIG)):
        made = []
        c = {
            "axis": ints(axis),
            "step": ints(step),
            **{f"e{i}": ints(e) for i, e in enumerate(ends)},
            **{f"f{i}": np.array([e], np.int32) for i, e in enumerate(ends) if abs(e) < 2**31},
        }
        for (i, s), (j, e) in itertools.product(enumerate(ends), repeat=2):
            n = [5, 7, 7][axis]
            if (
                len(
                    range(n)[
                        max(min(s, 10**9), -(10**9)) : max(min(e, 10**9), -(10**9)) : max(min(step, 10**9), -(10**9))
                    ]
                )
                == 0
            ):
                continue
            made.append(lambda o, i=i, j=j: node("Slice", f"x e{i} e{j} axis step", o))
        for k in range(0, len(made), 12):
            several(
                f"slice_{axis}_{'big' if abs(step) > 9 else abs(step)}_{'back' if step < 0 else 'on'}_{k}",
                made[k : k + 12],
                x,
                c,
                reference=False,
            )
    for n, parts, axis in ((7, 2, 1), (7, 3, 1), (7, 4, -1), (5, 2, 0), (5, 3, 0), (5, 4, -2)):
        if -(-n // parts) * (parts - 1) < n:
            outs = [f"p{i}" for i in range(parts)]
            add(
                f"split_{n}_{parts}_{axis}",
                [node("Split", "x", " ".join(outs), axis=axis, num_outputs=parts)],
                x,
                opset=18,
                outs=" ".join(outs),
            )
    add("split_default_axis", [node("Split", "x", "a b", num_outputs=2)], x, opset=18, outs="a b")
    y = {"x": f32(2, 3, 4), "e": np.zeros((0, 3), np.float32)}
    for i, shape in enumerate(
        ((0, 0, 0), (0, -1), (-1, 0), (0, 12), (4, 0, 2), (0, 0, -1), (2, 0, 2, -1), (-1,), (1, 24), (0, 3, 4, 1))
    ):
        (
            add(f"reshape_zero_{i}", [node("Reshape", "x s", "t"), node("Neg", "t")], y, {"s": ints(*shape)})
            if 0 not in shape[3:]
            else None
        )
        if 0 not in shape:
            add(
                f"reshape_allow_{i}",
                [node("Reshape", "x s", "t", allowzero=1), node("Neg", "t")],
                y,
                {"s": ints(*shape)},
            )
    for op, rest in (("Gather", {}), ("GatherElements", {})):
        for kind in (np.int32, np.int64):
            for axis in (0, 1):
                p = np.array([[-5, 4, 0, -1, 2, -3, 1]] * 5 if axis == 0 else [[-7, 6, 0, -1, 2, -3, 1]] * 5, kind)
                add(f"negative_{op.lower()}_{axis}_{kind.__name__}_constant", [node(op, "x p", axis=axis)], x, {"p": p})
                add(f"negative_{op.lower()}_{axis}_{kind.__name__}_given", [node(op, "x p", axis=axis)], {**x, "p": p})
    p = np.array([[-1, -7], [4, 6], [-5, 0]], np.int64)
    add("negative_gathernd_constant", [node("GatherND", "x p")], x, {"p": p})
    add("negative_gathernd_given", [node("GatherND", "x p")], {**x, "p": p})
    u = f32(3)
    add("negative_scatternd_constant", [node("ScatterND", "x p u")], {**x, "u": u}, {"p": p}, reference=False)
    add("negative_scatternd_given", [node("ScatterND", "x p u")], {**x, "u": u, "p": p}, reference=False)
    add("negative_onehot", [node("OneHot", "p d v")], {"p": p}, {"d": np.array(7, np.int64), "v": f32(2)})


def shapes():
    x = {"x": f32(2, 3, 4, 5)}
    c = {
        "one": np.array(1, np.int64),
        "i0": ints(0),
        "i1": ints(1),
        "i2": ints(2),
        "i23": ints(2, 3),
        "minus": ints(-1),
        "three": ints(3),
        "two": ints(2),
        "half": c32(0.5),
        "axes": ints(0),
        "order": ints(3, 1, 0, 2),
    }
    ends = lambda s: [node("Reshape", f"x {s}", "r"), node("Neg", "r")]
    forms = {
        "product": [
            node("Shape", "x", "s"),
            node("Gather", "s i0", "a"),
            node("Gather", "s i1", "b"),
            node("Mul", "a b", "m"),
            node("Concat", "m minus", "n", axis=0),
        ],
        "scalar": [
            node("Shape", "x", "s"),
            node("Gather", "s one", "a"),
            node("Unsqueeze", "a axes", "b"),
            node("Concat", "minus b", "n", axis=0),
        ],
        "all": [
            node("Shape", "x", "s"),
            node("Gather", "s i23", "a"),
            node("ReduceProd", "a", "b", axes=[0]),
            node("Slice", "s i0 two", "d"),
            node("Concat", "d b", "n", axis=0),
        ],
        "halved": [
            node("Shape", "x", "s"),
            node("Gather", "s i2", "a"),
            node("Div", "a two", "b"),
            node("Concat", "b two i1 minus", "n", axis=0),
        ],
        "cast32": [
            node("Shape", "x", "s"),
            node("Cast", "s", "f", to=TensorProto.INT32),
            node("Gather", "f i1", "a"),
            node("Cast", "a", "e", to=TensorProto.INT64),
            node("Concat", "e minus", "n", axis=0),
        ],
        "permuted": [node("Shape", "x", "s"), node("Gather", "s order", "n")],
        "of_transposed": [node("Transpose", "x", "t", perm=[2, 0, 3, 1]), node("Shape", "t", "n")],
        "of_transposed_part": [
            node("Transpose", "x", "t", perm=[3, 1, 0, 2]),
            node("Shape", "t", "s", start=1),
            node("Concat", "s minus", "n", axis=0),
        ],
        "squeezed": [
            node("Shape", "x", "s"),
            node("Slice", "s i1 i2", "a"),
            node("Squeeze", "a", "b"),
            node("Mul", "b two", "d"),
            node("Concat", "minus d", "n", axis=0),
        ],
        "split": [node("Shape", "x", "s"), node("Split", "s", "a b", axis=0), node("Concat", "b a", "n", axis=0)],
        "size": [node("Size", "x", "a"), node("Div", "a one", "b"), node("Unsqueeze", "b axes", "n")],
        "where": [node("Shape", "x", "s"), node("Equal", "s three", "e"), node("Where", "e minus s", "n")],
        "of_result": [
            node("Relu", "x", "t"),
            node("ReduceSum", "t", "u", keepdims=0),
            node("Shape", "t", "s"),
            node("Gather", "s i23", "a"),
            node("Concat", "minus a", "n", axis=0),
        ],
    }
    for name, nodes in forms.items():
        add(f"shaped_{name}", nodes + ends("n"), x, c)
        add(f"shaped_{name}_kept", nodes + ends("n"), x, c, outs="y n")
        add(
            f"shaped_{name}_then",
            nodes + ends("n") + [node("Shape", "y", "ys"), node("Expand", "half ys", "z"), node("Add", "z y", "w")],
            x,
            c,
        )
        add(
            f"shaped_{name}_tile",
            nodes + ends("n") + [node("Shape", "y", "ys"), node("ConstantOfShape", "ys", "z"), node("Sub", "z y", "w")],
            x,
            c,
        )
    add(
        "shaped_resize",
        [
            node("Shape", "x", "s"),
            node("Slice", "s i0 two", "a"),
            node("Slice", "s i2 nine", "b"),
            node("Mul", "b two", "d"),
            node("Concat", "a d", "n", axis=0),
            node(
                "Resize", "x - - n", mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"
            ),
        ],
        x,
        {**c, "nine": ints(9)},
    )
    add(
        "shaped_range",
        [
            node("Shape", "x", "s"),
            node("Gather", "s k", "n"),
            node("Range", "zero n one", "r"),
            node("Cast", "r", "f", to=TensorProto.FLOAT),
            node("Add", "x f"),
        ],
        x,
        {**c, "k": np.array(3, np.int64), "zero": np.array(0, np.int64)},
    )
    add(
        "shaped_slice",
        [
            node("Shape", "x", "s"),
            node("Gather", "s i1", "n"),
            node("Sub", "n two", "m"),
            node("Slice", "x m n i1", "y"),
        ],
        x,
        c,
    )
    add(
        "shaped_pad",
        [node("Shape", "x", "s"), node("Mod", "s three", "m"), node("Concat", "m m", "p", axis=0), node("Pad", "x p")],
        x,
        c,
    )


def make():
    every()
    limits()
    shapes()
