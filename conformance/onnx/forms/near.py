"""Graphs that have the form of a function which implementations compute in one step, and graphs that differ from
such a form in one thing."""

import itertools

import numpy as np

from forms import add, f32, ints, node

c32 = np.float32


def gates():
    x, k = {"x": f32(2, 4, 3, 5), "w": f32(2, 4, 3, 5), "r": f32(5), "s": f32(2, 4, 1, 1)}, {
        "k": f32(6, 4, 3, 3),
        "l": f32(6, 4, 3, 3),
        "b": f32(6),
    }
    kinds = {
        "sigmoid": ("Sigmoid", {}),
        "hardsigmoid": ("HardSigmoid", {}),
        "hardsixth": ("HardSigmoid", {"alpha": 1 / 6, "beta": 0.5}),
        "hardthird": ("HardSigmoid", {"alpha": 1 / 3, "beta": 0.5}),
        "hardshifted": ("HardSigmoid", {"alpha": 1 / 6, "beta": 0.25}),
        "tanh": ("Tanh", {}),
        "erf": ("Erf", {}),
        "relu": ("Relu", {}),
        "softplus": ("Softplus", {}),
    }
    for name, (op, attrs) in kinds.items():
        for of, by in (("x", "x"), ("w", "x"), ("x", "w"), ("r", "x"), ("s", "x"), ("x", "r")):
            add(f"gate_{name}_{of}_{by}", [node(op, of, "g", **attrs), node("Mul", f"{by} g")], x)
        add(f"gate_{name}_squared", [node(op, "x", "g", **attrs), node("Mul", "g g")], x)
        add(
            f"gate_{name}_divided",
            [node(op, "w", "g", **attrs), node("Add", "g g", "h"), node("Add", "x h", "n"), node("Mul", "n g")],
            x,
        )
        conv = [node("Conv", "x k b", "c", pads=[1] * 4), node("Conv", "x l b", "d", pads=[1] * 4)]
        add(f"gate_{name}_conv", [conv[0], node(op, "c", "g", **attrs), node("Mul", "c g")], x, k)
        add(f"gate_{name}_conv_other", conv + [node(op, "d", "g", **attrs), node("Mul", "c g")], x, k)
        add(f"gate_{name}_conv_kept", [conv[0], node(op, "c", "g", **attrs), node("Mul", "g c")], x, k, outs="y g c")
    mish = lambda a, b: [node("Softplus", a, "p"), node("Tanh", "p", "t"), node("Mul", f"{b} t")]
    for a, b in (("x", "x"), ("x", "w"), ("w", "x")):
        add(f"gate_mish_{a}_{b}", mish(a, b), x)
    for name, (shift, lo, hi, by, of) in {
        "hardswish": (3, 0, 6, 6, "x"),
        "shift": (2, 0, 6, 6, "x"),
        "low": (3, 0.5, 6, 6, "x"),
        "high": (3, 0, 4, 6, "x"),
        "divisor": (3, 0, 6, 5, "x"),
        "other": (3, 0, 6, 6, "w"),
    }.items():
        c = {"a": c32(shift), "lo": c32(lo), "hi": c32(hi), "q": c32(by), "i": c32(1) / c32(by)}
        big = {k: v * 2 for k, v in x.items()}
        for order, rest in (
            ("mul_div", [node("Mul", f"{of} t", "m"), node("Div", "m q")]),
            ("div_mul", [node("Div", "t q", "m"), node("Mul", f"m {of}")]),
            ("scaled", [node("Mul", "t i", "m"), node("Mul", f"m {of}")]),
        ):
            add(f"hardswish_{name}_{order}", [node("Add", "x a", "s"), node("Clip", "s lo hi", "t"), *rest], big, c)


def gelus():
    x = {"x": f32(3, 7), "w": f32(3, 7)}
    base = {"root": 2**0.5, "one": 1, "half": 0.5}
    for name, change, a, b in (
        ("same", {}, "x", "x"),
        ("root", {"root": 1.5}, "x", "x"),
        ("one", {"one": 0.75}, "x", "x"),
        ("half", {"half": 0.25}, "x", "x"),
        ("other_a", {}, "w", "x"),
        ("other_b", {}, "x", "w"),
        ("root_two", {"root": 2}, "x", "x"),
    ):
        c = {k: c32(v) for k, v in (base | change).items()}
        c["inverse"] = 1 / c["root"]
        for way, first in (
            ("div", node("Div", f"{a} root", "d")),
            ("mul", node("Mul", f"{a} inverse", "d")),
            ("turned", node("Div", f"root {a}", "d")),
        ):
            if way == "turned" and name != "same":
                continue
            head = [first, node("Erf", "d", "e"), node("Add", "e one", "f")]
            feeds = {k: np.where(v == 0, c32(1), v) for k, v in x.items()}
            for order, rest in enumerate(
                (
                    [node("Mul", f"{b} f", "m"), node("Mul", "m half")],
                    [node("Mul", f"{b} half", "m"), node("Mul", "m f")],
                    [node("Mul", "f half", "m"), node("Mul", f"{b} m")],
                )
            ):
                add(f"gelu_{name}_{way}_{order}", head + rest, feeds, c)
    usual = {"cube": 0.044715, "scale": (2 / np.pi) ** 0.5, "one": 1, "half": 0.5, "three": 3}
    for name, change, a, b in (
        ("same", {}, "x", "x"),
        ("cube", {"cube": 0.25}, "x", "x"),
        ("scale", {"scale": 0.5}, "x", "x"),
        ("power", {"three": 2}, "x", "x"),
        ("one", {"one": 0.5}, "x", "x"),
        ("half", {"half": 1}, "x", "x"),
        ("other_a", {}, "w", "x"),
        ("other_b", {}, "x", "w"),
    ):
        c = {k: c32(v) for k, v in (usual | change).items()}
        add(
            f"gelu_tanh_{name}",
            [
                node("Pow", "x three", "p"),
                node("Mul", "p cube", "q"),
                node("Add", f"{a} q", "r"),
                node("Mul", "r scale", "s"),
                node("Tanh", "s", "t"),
                node("Add", "t one", "u"),
                node("Mul", f"{b} half", "h"),
                node("Mul", "h u"),
            ],
            x,
            c,
        )


def normalizations():
    feeds = {"x": f32(2, 3, 6), "w": f32(2, 3, 6), "z": f32(2, 3, 6)}
    c = {
        "g": f32(6),
        "b": f32(6),
        "two": c32(2),
        "four": c32(4),
        "eps": c32(1e-5),
        "large": c32(0.5),
        "row": f32(3, 1),
        "full": f32(3, 6),
        "one": c32(1),
        "n": c32(6),
        "negative": c32(-1),
    }

    def layer(
        name,
        mean="x",
        minus="x",
        square="two",
        of="d",
        axes=([-1], [-1]),
        eps="eps",
        over="d",
        gain="g",
        bias="b",
        second="ReduceMean",
        turned=False,
        variance="d",
        doubled=False,
    ):
        nodes = [
            node("ReduceMean", mean, "m", axes=axes[0]),
            node("Sub", f"m {minus}" if turned else f"{minus} m", "d"),
        ]
        nodes += [node("Mul", f"{of} {of}", "p")] if doubled else [node("Pow", f"{of} {square}", "p")]
        nodes += [node(second, "p", "v", axes=axes[1])] if second == "ReduceMean" else [node(second, "p q", "v")]
        nodes += [
            node("Add", f"v {eps}", "e"),
            node("Sqrt", "e", "s"),
            node("Div", f"{over} s", "h"),
            node("Mul", f"h {gain}", "k"),
            node("Add", f"k {bias}"),
        ]
        add(f"layer_{name}", nodes, feeds, {**c, "q": ints(-1)})

    layer("same")
    layer("doubled", doubled=True)
    layer("large_epsilon", eps="large")
    layer("mean_of_other", mean="w")
    layer("minus_other", minus="w")
    layer("variance_of_input", of="x")
    layer("variance_of_other", of="z")
    layer("doubled_other", of="z", doubled=True)
    layer("power_four", square="four")
    layer("over_input", over="x")
    layer("over_other", over="z")
    layer("turned", turned=True)
    layer("sum", second="ReduceSum")
    for i, axes in enumerate(
        (
            ([-1], [-2]),
            ([-2], [-1]),
            ([-2], [-2]),
            ([1, 2], [1, 2]),
            ([1, 2], [2]),
            ([2], [1, 2]),
            ([0], [0]),
            ([2], [-1]),
            ([2, 1], [-2, -1]),
        )
    ):
        layer(f"axes_{i}", axes=axes)
    for k in ("row", "full", "one", "x"):
        layer(f"gain_{k}", gain=k)
        layer(f"bias_{k}", bias=k)
    for name, last in (
        ("reciprocal", [node("Reciprocal", "s", "i"), node("Mul", "d i")]),
        ("inverse_sqrt", [node("Div", "one s", "i"), node("Mul", "d i")]),
        ("two_over", [node("Div", "two s", "i"), node("Mul", "d i")]),
        ("turned_over", [node("Div", "s d")]),
        ("other", [node("Div", "one s", "i"), node("Mul", "z i")]),
    ):
        f = {**feeds, "x": feeds["x"] * 4 + c32(0.1)}
        add(
            f"layer_last_{name}",
            [
                node("ReduceMean", "x", "m", axes=[-1]),
                node("Sub", "x m", "d"),
                node("Mul", "d d", "p"),
                node("ReduceMean", "p", "v", axes=[-1]),
                node("Add", "v eps", "e"),
                node("Sqrt", "e", "s"),
                *last,
            ],
            f,
            c,
            rtol=1e-3,
        )
    for name, a, b, over, axes, eps in (
        ("same", "x", "x", "x", [-1], "eps"),
        ("large", "x", "x", "x", [-1], "large"),
        ("one", "x", "x", "x", [-1], "one"),
        ("other", "w", "w", "x", [-1], "eps"),
        ("product", "x", "w", "x", [-1], "two"),
        ("over_other", "x", "x", "w", [-1], "eps"),
        ("axis", "x", "x", "x", [1], "eps"),
        ("axes", "x", "x", "x", [1, 2], "eps"),
        ("first", "x", "x", "x", [0], "eps"),
    ):
        extra = {**feeds, "w": feeds["w"] if name != "product" else np.abs(feeds["x"])}
        head = [
            node("Mul", f"{a} {b}", "p"),
            node("ReduceMean", "p", "m", axes=axes),
            node("Abs", "m", "n"),
            node("Add", f"n {eps}", "e"),
        ]
        head = [head[0], head[1], node("Add", f"m {eps}", "e")] if name != "product" else head
        add(
            f"rms_{name}",
            head + [node("Sqrt", "e", "s"), node("Div", f"{over} s", "h"), node("Mul", "h g")],
            extra,
            c,
            rtol=1e-3,
            atol=1e-4,
        )
        add(
            f"rms_{name}_power",
            [
                node("Pow", f"{a} two", "p"),
                *head[1:],
                node("Sqrt", "e", "s"),
                node("Reciprocal", "s", "i"),
                node("Mul", f"{over} i"),
            ],
            extra,
            c,
            rtol=1e-3,
            atol=1e-4,
        )
        add(
            f"rms_{name}_mean_only",
            [
                node("Pow", f"{a} two", "p"),
                node("ReduceMean", "p", "m", axes=axes),
                node("Sqrt", "m", "s"),
                node("Div", f"{over} s"),
            ],
            extra,
            c,
            rtol=1e-3,
            atol=1e-4,
        )
    for name, of, axes in (("same", "x", [-1]), ("other", "w", [-1]), ("axis", "x", [1]), ("both", "x", [1, 2])):
        add(
            f"length_{name}",
            [node("ReduceL2", of, "l", axes=axes), node("Max", "l large", "k"), node("Div", "x k")],
            feeds,
            c,
        )
        add(
            f"softmax_{name}",
            [
                node("ReduceMax", of, "m", axes=axes),
                node("Sub", "x m", "d"),
                node("Exp", "d", "e"),
                node("ReduceSum", "e q", "s"),
                node("Div", "e s"),
            ],
            feeds,
            {**c, "q": ints(*axes)},
        )
        add(
            f"softmax_sum_{name}",
            [
                node("ReduceMax", "x", "m", axes=[-1]),
                node("Sub", "x m", "d"),
                node("Exp", "d", "e"),
                node("Exp", of, "f"),
                node("ReduceSum", "f q", "s"),
                node("Div", "e s"),
            ],
            feeds,
            {**c, "q": ints(*axes)},
        )
    for axis in (0, 1, 2):
        add(f"softmax_then_log_{axis}", [node("Softmax", "x", "t", axis=axis), node("Log", "t")], feeds)
        add(f"softmax_twice_{axis}", [node("Softmax", "x", "t", axis=axis), node("Softmax", "t", axis=2)], feeds)
    i = {
        "x": f32(2, 4, 3, 5),
        "s": f32(4),
        "b": f32(4),
        "c": f32(1, 4, 1, 1),
        "d": f32(4, 1, 1),
        "r": f32(1, 1, 3, 1),
        "e": c32(1e-5),
    }
    for name, axes in (("image", [2, 3]), ("channels", [1]), ("all", [1, 2, 3]), ("row", [3])):
        for gain in ("c", "d", "r"):
            add(
                f"centered_{name}_{gain}",
                [
                    node("ReduceMean", "x", "m", axes=axes),
                    node("Sub", "x m", "d0"),
                    node("Mul", "d0 d0", "p"),
                    node("ReduceMean", "p", "v", axes=axes),
                    node("Add", "v e", "f"),
                    node("Sqrt", "f", "t"),
                    node("Div", "d0 t", "h"),
                    node("Mul", f"h {gain}", "k"),
                    node("Add", f"k {gain}"),
                ],
                {"x": i["x"]},
                i,
                rtol=1e-3,
            )


def limits():
    x, k = {"x": f32(1, 4, 5, 3), "z": f32(7), "w": f32(1, 4, 5, 3)}, {
        "k": f32(6, 4, 3, 3),
        "b": f32(6),
        "lo": c32(-0.5),
        "hi": c32(0.75),
        "zero": c32(0),
        "six": c32(6),
    }
    conv = node("Conv", "x k b", "c", pads=[1] * 4)
    low, high = [node("ReduceMin", "z", "l0", keepdims=0), node("Mul", "l0 hi", "l")], [
        node("ReduceMax", "z", "h0", keepdims=0),
        node("Mul", "h0 hi", "h"),
    ]
    for name, head, of in (("input", [], "x"), ("conv", [conv], "c"), ("relu", [node("Relu", "x", "c")], "c")):
        add(f"limits_{name}_both", head + low + high + [node("Clip", f"{of} l h")], x, k)
        add(f"limits_{name}_low", head + low + [node("Clip", f"{of} l hi")], x, k)
        add(f"limits_{name}_low_alone", head + low + [node("Clip", f"{of} l")], x, k)
        add(f"limits_{name}_high_alone", head + high + [node("Clip", f"{of} - h")], x, k)
        add(f"limits_{name}_high", head + high + [node("Clip", f"{of} zero h")], x, k)
        add(f"limits_{name}_crossed", head + [node("Clip", f"{of} hi lo")], x, k)
        add(
            f"limits_{name}_identity",
            head + [node("Identity", "lo", "l"), node("Neg", "l", "h"), node("Clip", f"{of} l h")],
            x,
            k,
        )
        add(f"limits_{name}_twice", head + [node("Clip", f"{of} zero six", "q"), node("Clip", "q lo hi")], x, k)
        add(f"limits_{name}_twice_turned", head + [node("Clip", f"{of} lo hi", "q"), node("Clip", "q zero six")], x, k)
        add(f"limits_{name}_min_max", head + [node("Max", f"{of} lo", "q"), node("Min", "q hi")], x, k)
        add(
            f"limits_{name}_max_of_value",
            head + [node("Max", f"{of} w" if of == "x" or name == "relu" else f"{of} lo", "q"), node("Min", "q hi")],
            x,
            k,
        )
        add(f"limits_{name}_relu_after", head + [node("Clip", f"{of} lo hi", "q"), node("Relu", "q")], x, k)
        add(
            f"limits_{name}_bounded_by_itself",
            head + [node("Neg", of, "q"), node("Max", f"{of} q", "r"), node("Relu", "r")],
            x,
            k,
        )
        add(f"limits_{name}_where", head + [node("Greater", f"{of} lo", "q"), node("Where", f"q {of} hi")], x, k)
        for op, attrs in (
            ("LeakyRelu", {"alpha": 0.0}),
            ("LeakyRelu", {"alpha": 1.0}),
            ("LeakyRelu", {"alpha": -0.5}),
            ("LeakyRelu", {"alpha": 2.0}),
            ("Elu", {"alpha": 0.5}),
            ("Celu", {"alpha": 0.5}),
            ("ThresholdedRelu", {"alpha": 0.5}),
        ):
            add(
                f"limits_{name}_{op.lower()}_{str(attrs['alpha']).replace('.', '_').replace('-', 'm')}",
                head + [node(op, of, **attrs)],
                x,
                k,
            )
        for n, slope in enumerate((f32(1), f32(6 if name == "conv" else 4, 1, 1), f32(3), f32(5, 1), f32(1, 5, 3))):
            add(f"limits_{name}_prelu_{n}", head + [node("PRelu", f"{of} slope")], x, {**k, "slope": slope})


def make():
    gates()
    gelus()
    normalizations()
    limits()
