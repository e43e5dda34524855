"""Graphs whose operators an implementation may compute in one step, and those where it must not."""
import itertools

import numpy as np

from sweep import add, f32, node

STEPS = {
    "norm": lambda i, o: node("BatchNormalization", f"{i} s b m v", o, epsilon=0.01),
    "constant": lambda i, o: node("Add", f"{i} k", o),
    "tensor": lambda i, o: node("Add", f"z {i}", o),
    "relu": lambda i, o: node("Relu", i, o),
    "scale": lambda i, o: node("Mul", f"{i} k", o),
    "leaky": lambda i, o: node("LeakyRelu", i, o, alpha=0.3),
}


def data(c):
    return {"s": f32(c), "b": f32(c), "m": f32(c), "v": np.abs(f32(c)) + np.float32(.2), "k": f32(c, 1, 1)}


def make():
    x, z = {"x": f32(1, 4, 5, 3)}, {"z": f32(1, 6, 4, 2)}
    conv = {"w": f32(6, 4, 2, 2), "d": f32(6), **data(6)}
    first = node("Conv", "x w d", "t0")
    for n, order in enumerate([*itertools.permutations("norm constant tensor relu".split()), ("scale", "norm", "relu"), ("relu", "scale", "norm"), ("leaky", "tensor", "leaky")]):
        nodes = [first] + [STEPS[s](f"t{i}", f"t{i + 1}") for i, s in enumerate(order)]
        last = f"t{len(order)}"
        add(f"chain_{n}", nodes, {**x, **z}, conv, opset=15)
        if n % 6 == 0:
            for i in range(len(order)):
                add(f"chain_{n}_output_{i}", nodes, {**x, **z}, conv, opset=15, outs=(f"t{i}", last))
                add(f"chain_{n}_again_{i}", nodes + [node("Sub", f"{last} t{i}")], {**x, **z}, conv, opset=15)
    groups = {"w": f32(4, 2, 3, 3), "d": f32(4), **data(4)}
    for act in ("relu", "leaky"):
        add(f"group_residual_{act}", [node("Conv", "x w d", "t0", group=2, pads=[1] * 4), STEPS["norm"]("t0", "t1"), node("Add", "t1 x", "t2"), STEPS[act]("t2", "y")], x, groups, opset=15)
        add(f"group_residual_first_{act}", [STEPS[act]("x", "q"), node("Conv", "q w d", "t0", group=2, pads=[1] * 4), node("Add", "q t0", "y")], x, groups, opset=15)
    back = {"w": f32(4, 3, 2, 3), "d": f32(6), **data(6)}
    for order in (("norm", "relu"), ("relu", "norm"), ("constant", "leaky"), ("scale", "norm")):
        add("transpose_group_" + "_".join(order), [node("ConvTranspose", "x w d", "t0", group=2, strides=[2, 1])] +
            [STEPS[s](f"t{i}", f"t{i + 1}") for i, s in enumerate(order)], x, back, opset=15)
    for name, other in (("equal", "t0"), ("other", "z")):
        for i, pair in enumerate((f"{other} g", f"g {other}")):
            for gate in ("Sigmoid", "HardSigmoid", "Tanh"):
                add(f"gate_{gate.lower()}_{name}_{i}", [first, node(gate, "t0", "g"), node("Mul", pair)], {**x, **z}, conv, opset=15)
    c = {"w": f32(5, 6), "d": f32(6), "k": f32(6), "e": f32(3, 1)}
    a, r = {"x": f32(3, 5)}, {"z": f32(3, 6)}
    for i, rest in enumerate(([node("Add", "t d", "u"), node("Relu", "u")], [node("Relu", "t", "u"), node("Add", "u d")], [node("Mul", "t k", "u"), node("Add", "u d")],
                              [node("Add", "t e", "u"), node("Mul", "u k")], [node("Add", "t z", "u"), node("Add", "u d", "q"), node("Relu", "q")],
                              [node("Sub", "d t", "u"), node("Sub", "u z")], [node("Div", "t k", "u"), node("Max", "u z")])):
        add(f"product_{i}", [node("MatMul", "x w", "t"), *rest], {**a, **r}, c, opset=13)
        add(f"product_{i}_outputs", [node("MatMul", "x w", "t"), *rest], {**a, **r}, c, opset=13, outs=("y", "u", "t"))
    lo = {"lo": np.float32(-.4), "hi": np.float32(.9)}
    add("conv_clip", [first, node("Clip", "t0 lo hi")], x, {**conv, **lo}, opset=13)
    pads = {"p": np.array([0, 0, 1, 0, 0, 0, 2, 1], np.int64), "f": np.float32(1.5)}
    for name, ins in (("zero", "x p"), ("value", "x p f")):
        add(f"pad_{name}_conv", [node("Pad", ins, "q"), node("Conv", "q w d", pads=[0, 1, 1, 0])], x, {**conv, **pads}, opset=13)
        add(f"pad_{name}_maxpool", [node("Pad", ins, "q"), node("MaxPool", "q", kernel_shape=[2, 3])], {"x": -np.abs(x["x"])}, pads, opset=13)
        add(f"pad_{name}_averagepool", [node("Pad", ins, "q"), node("AveragePool", "q", kernel_shape=[2, 3], pads=[0, 1, 1, 0])], x, pads, opset=13)
