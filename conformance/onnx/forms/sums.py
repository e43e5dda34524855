"""Products and convolutions with what is added to them, in every form of broadcasting and at sizes around blocks."""

import numpy as np

from forms import add, f32, ints, node, rng, whole

c32 = np.float32
ROWS = (*range(1, 41), 61, 130)


def products():
    for b, m, k, n in ((2, 3, 4, 5), (3, 3, 3, 3), (2, 9, 3, 17), (1, 4, 3, 6), (4, 1, 6, 8)):
        x, w = whole(b, m, k), {"w": whole(k, n), "v": whole(b, k, n), "u": whole(1, k, n)}
        shapes = [
            (n,),
            (1, n),
            (m, 1),
            (1,),
            (),
            (m, n),
            (b, m, n),
            (b, 1, n),
            (1, m, n),
            (b, 1, 1),
            (b, m, 1),
            (1, 1, n),
            (1, 1, 1),
            (2, b, m, n),
            (2, 1, 1, n),
            (1, b, 1, 1),
        ]
        for i, shape in enumerate(shapes):
            tag = f"{b}_{m}_{k}_{n}_{'x'.join(map(str, shape)) or 'scalar'}"
            c, of = whole(*shape, most=50), "wvu"[i % 3]
            if f"sum_{tag}" in SEEN:
                continue
            SEEN.add(f"sum_{tag}")
            ends = [node("Add", "t c"), node("Relu", "y", "z")]
            add(
                f"sum_{tag}_constant",
                [node("MatMul", f"x {of}", "t"), *ends],
                {"x": x},
                {**w, "c": c},
                outs="z t" if i % 2 else "z",
            )
            add(
                f"sum_{tag}_given",
                [node("MatMul", f"x {of}", "t"), node("Add", "c t"), *ends[1:]],
                {"x": x, "c": c},
                w,
                outs="z",
            )
            add(f"sum_{tag}_both_given", [node("MatMul", "x v", "t"), *ends], {"x": x, "v": w["v"], "c": c}, outs="z")
            add(
                f"sum_{tag}_other",
                [
                    node("MatMul", f"x {of}", "t"),
                    node(("Sub", "Mul", "Max", "Min")[i % 4], "c t" if i % 3 else "t c"),
                    node("Relu", "y", "z"),
                ],
                {"x": x},
                {**w, "c": c},
                outs="z",
            )


SEEN = set()


def gemms():
    for i, m in enumerate(ROWS):
        n, k = (5, 17, 70, 33, 8, 1)[i % 6], (7, 3, 16, 1)[i % 4]
        trans = {"transA": i % 2, "transB": i // 2 % 2}
        x, w = whole(*((k, m) if i % 2 else (m, k))), whole(*((n, k) if i // 2 % 2 else (k, n)))
        z = whole(m, n, most=40)
        for j, shape in enumerate((None, (), (1,), (n,), (1, n), (m, 1), (m, n), (1, 1))):
            if (i + j) % 3 and m not in (1, 2, 16, 17, 61):
                continue
            c = {"c": whole(*shape, most=40)} if shape is not None else {}
            factors = {"alpha": 2.0, "beta": -0.5} if (i + j) % 2 else {}
            first = node("Gemm", "x w c" if c else "x w", "t", **trans, **factors)
            tag = f"gemm_{m}_{'none' if shape is None else 'x'.join(map(str, shape)) or 'scalar'}"
            if tag in SEEN:
                continue
            SEEN.add(tag)
            add(tag, [first, node("Add", "t z", "u"), node("Relu", "u")], {"x": x, "z": z}, {"w": w, **c})
            if j == i % 8 or m in (1, 17):
                add(
                    tag + "_given",
                    [first, node("Mul", "t s", "p"), node("Sub", "z p", "u"), node("Relu", "u")],
                    {"x": x, "z": z, **c},
                    {"w": w, "s": c32(2)},
                )
                add(
                    tag + "_kept",
                    [first, node("Add", "t r", "u"), node("Add", "u z", "v"), node("Relu", "v")],
                    {"x": x, "z": z},
                    {"w": w, "r": whole(n), **c},
                    outs="y t u",
                )


def variance(n):
    """Variances whose roots are exact once an epsilon of 1/4 is added."""
    return rng.choice(np.array([0.75, 3.75, 15.75], np.float32), n)


def convolutions():
    for i, p in enumerate(ROWS):
        channels, out = (4, 17, 3, 9, 16)[i % 5], (9, 33, 16, 5)[i % 4]
        size = (1, p) if i % 3 else (p, 1)
        x, z = whole(1 + (p < 20), channels, *size), whole(1 + (p < 20), out, *size, most=40)
        k, wide = whole(out, channels, 1, 1), whole(out, channels, 3, 3)
        c = {"k": k, "wide": wide, "b": whole(out, most=20)}
        for name, first in (
            ("point", node("Conv", "x k b", "t")),
            ("wide", node("Conv", "x wide b", "t", pads=[1] * 4)),
        ):
            if name == "wide" and i % 3:  # Winograd's sums are not exact, and these are few enough
                continue
            add(f"tiles_{name}_{p}", [first, node("Add", "t z", "u"), node("Relu", "u")], {"x": x, "z": z}, c)
            if i % 4 == 1:
                add(
                    f"tiles_{name}_{p}_first",
                    [first, node("Relu", "t", "u"), node("Add", "z u", "v")],
                    {"x": x, "z": z},
                    c,
                )
                add(f"tiles_{name}_{p}_minus", [first, node("Sub", "t z", "u"), node("Relu", "u")], {"x": x, "z": z}, c)
                add(
                    f"tiles_{name}_{p}_turned", [first, node("Sub", "z t", "u"), node("Relu", "u")], {"x": x, "z": z}, c
                )
                add(
                    f"tiles_{name}_{p}_channel",
                    [first, node("Add", "t r", "u"), node("Relu", "u")],
                    {"x": x, "r": whole(1, out, 1, 1, most=20)},
                    c,
                )
                add(
                    f"tiles_{name}_{p}_column",
                    [first, node("Add", "t r", "u"), node("Relu", "u")],
                    {"x": x, "r": whole(1, 1, *size, most=20)},
                    c,
                )
                add(
                    f"tiles_{name}_{p}_image",
                    [first, node("Add", "t r", "u"), node("Relu", "u")],
                    {"x": x, "r": whole(x.shape[0], 1, 1, 1, most=20)},
                    c,
                )
    x = f32(1, 12, 5, 4)
    for group in (1, 2, 3, 4, 6, 12):
        for out in (12, 24) if group in (2, 12) else (12,):
            n = {
                "s": f32(out),
                "b": f32(out),
                "m": f32(out),
                "v": variance(out),
                "k": f32(out, 12 // group, 3, 3),
                "d": f32(out),
                "back": f32(12, out // group, 2, 3),
            }
            head = {"s": f32(12), "b": f32(12), "m": f32(12), "v": variance(12)}
            for pads in ([0] * 4, [1, 0, 2, 1]):
                tag = f"normalized_{group}_{out}_{sum(pads)}"
                conv = node("Conv", "x k d" if out == 12 else "x k", "t", group=group, pads=pads)
                add(f"{tag}_after", [conv, node("BatchNormalization", "t s b m v", epsilon=0.25)], {"x": x}, n)
                add(
                    f"{tag}_before",
                    [
                        node("BatchNormalization", "x s b m v", "q", epsilon=0.25),
                        node("Conv", "q k d", group=group, pads=pads),
                    ],
                    {"x": x},
                    {**n, **head},
                )
                add(
                    f"{tag}_after_relu",
                    [conv, node("Relu", "t", "r"), node("BatchNormalization", "r s b m v", epsilon=0.25)],
                    {"x": x},
                    n,
                )
                add(
                    f"{tag}_kept",
                    [conv, node("BatchNormalization", "t s b m v", epsilon=0.25), node("Relu", "y", "z")],
                    {"x": x},
                    n,
                    outs="z t",
                )
                add(
                    f"{tag}_given",
                    [conv, node("BatchNormalization", "t s b m v", epsilon=0.25)],
                    {"x": x, "s": n["s"], "m": n["m"]},
                    n,
                )
                add(
                    f"{tag}_given_filter",
                    [conv, node("BatchNormalization", "t s b m v", epsilon=0.25)],
                    {"x": x, "k": n["k"]},
                    n,
                )
                add(
                    f"{tag}_transposed",
                    [
                        node(
                            "ConvTranspose",
                            "x back",
                            "t",
                            group=group,
                            strides=[2, 1],
                            pads=[0, 1, 1, 0] if sum(pads) else pads,
                        ),
                        node("BatchNormalization", "t s b m v", epsilon=0.25),
                    ],
                    {"x": x},
                    n,
                )
                add(
                    f"{tag}_scaled",
                    [conv, node("Mul", "t f", "u"), node("Add", "u h")],
                    {"x": x},
                    {**n, "f": f32(out, 1, 1), "h": f32(1, out, 1, 1)},
                )
                add(
                    f"{tag}_scaled_by_column",
                    [conv, node("Mul", "t f", "u"), node("Add", "u h")],
                    {"x": x},
                    {**n, "f": f32(4 - 2 + pads[1] + pads[3]), "h": c32(0.5)},
                )


def padding():
    x = {"x": f32(2, 4, 5, 6) - c32(3)}
    flat = [
        ("zero", [0, 0, 1, 2, 0, 0, 1, 0], 0),
        ("value", [0, 0, 1, 2, 0, 0, 1, 0], 1.5),
        ("low", [0, 0, 1, 1, 0, 0, 1, 1], -100),
        ("infinite", [0, 0, 1, 1, 0, 0, 1, 1], -np.inf),
        ("channels", [0, 1, 0, 0, 0, 2, 0, 0], 0),
        ("channels_and_image", [0, 1, 1, 0, 0, 1, 0, 1], 0),
        ("batch", [1, 0, 1, 1, 0, 0, 0, 0], 0),
        ("cut", [0, 0, -1, 0, 0, 0, 0, -2], 0),
        ("cut_and_pad", [0, 0, -1, 2, 0, 0, 1, -1], 0),
        ("nothing", [0] * 8, 1.5),
        ("channels_cut", [0, -1, 1, 1, 0, 0, 1, 1], 0),
    ]
    for name, pads, value in flat:
        channels = 4 + pads[1] + pads[5]
        c = {
            "p": ints(*pads),
            "f": c32(value),
            "k": f32(6, channels, 3, 3),
            "g": f32(channels, 1, 3, 3),
            "b": f32(6),
            "back": f32(channels, 3, 2, 2),
        }
        first = node("Pad", "x p f", "q")
        for own in ([0] * 4, [1, 0, 0, 1]):
            tag = f"padded_{name}_{sum(own)}"
            if np.isfinite(value):
                add(f"{tag}_conv", [first, node("Conv", "q k b", pads=own)], x, c)
                add(f"{tag}_depthwise", [first, node("Conv", "q g", pads=own, group=channels, strides=[2, 1])], x, c)
                add(f"{tag}_transposed", [first, node("ConvTranspose", "q back", pads=own)], x, c)
                for count in (0, 1):
                    add(
                        f"{tag}_average_{count}",
                        [first, node("AveragePool", "q", kernel_shape=[2, 3], pads=own, count_include_pad=count)],
                        x,
                        c,
                    )
                    add(
                        f"{tag}_average_{count}_ceil",
                        [
                            first,
                            node(
                                "AveragePool",
                                "q",
                                kernel_shape=[3, 2],
                                strides=[2, 3],
                                pads=own,
                                count_include_pad=count,
                                ceil_mode=1,
                            ),
                        ],
                        x,
                        c,
                        opset=19,
                        reference=False,
                    )
                add(f"{tag}_global", [first, node("GlobalAveragePool", "q")], x, c)
                add(f"{tag}_relu_conv", [first, node("Relu", "q", "r"), node("Conv", "r k b", pads=own)], x, c)
                add(
                    f"{tag}_same",
                    [first, node("Conv", "q k b", auto_pad="SAME_UPPER", strides=[2, 2])],
                    x,
                    c,
                    reference=False,
                )
            add(
                f"{tag}_max",
                [first, node("MaxPool", "q", kernel_shape=[2, 3], pads=own)],
                x,
                c,
                runtime=bool(np.isfinite(value)),
            )
            add(
                f"{tag}_max_kept",
                [first, node("MaxPool", "q", kernel_shape=[2, 2], strides=[2, 2], pads=own)],
                x,
                c,
                outs="y q",
            )
    c = {
        "p": ints(0, 0, 1, 2, 0, 0, 1, 1),
        "k": f32(6, 4, 3, 3),
        "short": ints(1, 2, 1, 1),
        "axes": ints(2, 3),
        "behind": ints(-1, 1),
        "zero": c32(0),
        "two": c32(2),
    }
    for mode in ("reflect", "edge", "wrap"):
        for name, last in (
            ("conv", node("Conv", "q k")),
            ("max", node("MaxPool", "q", kernel_shape=[2, 3])),
            ("average", node("AveragePool", "q", kernel_shape=[2, 3], count_include_pad=1)),
        ):
            add(f"padded_{mode}_{name}", [node("Pad", "x p", "q", mode=mode), last], x, c, opset=19)
    for name, axes in (("axes", "axes"), ("turned", "behind")):
        add(
            f"padded_{name}",
            [node("Pad", f"x short - {axes}", "q"), node("Conv", "q k")],
            x,
            {**c, "k": f32(6, 7 if axes == "behind" else 4, 3, 3)},
            opset=19,
        )
        add(
            f"padded_{name}_value",
            [node("Pad", f"x short two {axes}", "q"), node("Conv", "q k")],
            {"x": f32(2, 3 if axes == "behind" else 4, 5, 6)},
            {**c, "k": f32(6, 6 if axes == "behind" else 4, 3, 3)},
            opset=19,
        )
    add("padded_twice", [node("Pad", "x p two", "q"), node("Pad", "q p zero", "r"), node("Conv", "r k")], x, c)
    add("padded_value_given", [node("Pad", "x p f", "q"), node("Conv", "q k")], {**x, "f": c32(0)}, c)
    add("padded_value_given_other", [node("Pad", "x p f", "q"), node("Conv", "q k")], {**x, "f": c32(2.5)}, c)
    add(
        "padded_value_given_max",
        [node("Pad", "x p f", "q"), node("MaxPool", "q", kernel_shape=[2, 3])],
        {**x, "f": c32(2.5)},
        c,
    )


def make():
    products()
    gemms()
    convolutions()
    padding()
