"""Functions of a model that have an opset of their own, branches of unequal shapes inside, and outputs that are left
out."""

import numpy as np
from onnx import TensorProto, helper

from forms import add, f32, ints, node

c32 = np.float32


def function(name, ins, outs, nodes, opset, domain="local"):
    return helper.make_function(domain, name, ins.split(), outs.split(), nodes, [helper.make_opsetid("", opset)])


def call(name, ins, outs="y"):
    return helper.make_node(name, ins.split(), outs.split(), domain="local")


def softmax(x, axes):
    e = np.exp(x.astype(np.float64) - x.max(axes, keepdims=True))
    return (e / e.sum(axes, keepdims=True)).astype(np.float32)


def functions():
    x = f32(2, 3, 4)
    alone = {"runtime": False, "reference": False}  # they read bodies at the model's opset
    old, new = function("Old", "l", "r", [node("Softmax", "l", "r")], 11), function(
        "New", "l", "r", [node("Softmax", "l", "r")], 13
    )
    for opset in (11, 13, 17, 21):
        add(
            f"own_opset_softmax_old_{opset}",
            call("Old", "x"),
            {"x": x},
            opset=opset,
            functions=[old],
            want=softmax(x, (1, 2)),
            **alone,
        )
        add(
            f"own_opset_softmax_new_{opset}",
            call("New", "x"),
            {"x": x},
            opset=opset,
            functions=[new],
            want=softmax(x, (2,)),
            **alone,
        )
        add(
            f"own_opset_softmax_both_{opset}",
            [
                call("Old", "x", "o"),
                call("New", "x", "n"),
                node("Softmax", "x", "p"),
                node("Sub", "o n", "d"),
                node("Add", "d p"),
            ],
            {"x": x},
            opset=opset,
            functions=[old, new] if opset < 13 else [new, old],
            want=softmax(x, (1, 2)) - softmax(x, (2,)) + softmax(x, (1, 2) if opset < 13 else (2,)),
            **alone,
        )
    attribute = function("Sum", "l", "r", [node("ReduceSum", "l", "r", axes=[1], keepdims=0)], 11)
    given = function("Total", "l a", "r", [node("ReduceSum", "l a", "r", keepdims=0)], 13)
    add(
        "own_opset_reduce",
        [call("Sum", "x", "s"), call("Total", "x a", "t"), node("Concat", "s t", axis=0)],
        {"x": x},
        {"a": ints(1)},
        opset=18,
        functions=[attribute, given],
        want=np.concatenate([x.sum(1)] * 2),
        **alone,
    )
    add(
        "own_opset_reduce_11",
        [
            call("Total", "x a", "t"),
            node("ReduceSum", "x", "s", axes=[1], keepdims=0),
            node("Sub", "t s", "u"),
            node("Add", "u s"),
        ],
        {"x": x},
        {"a": ints(1)},
        opset=11,
        functions=[given],
        want=x.sum(1),
        **alone,
    )
    square = function(
        "Squeezed", "l", "r", [node("Unsqueeze", "l", "u", axes=[0]), node("Squeeze", "u", "r", axes=[0, 1])], 11
    )
    z = f32(1, 5)
    add(
        "own_opset_squeeze",
        [call("Squeezed", "z", "t"), node("Neg", "t")],
        {"z": z},
        opset=21,
        functions=[square],
        want=-z[0],
        **alone,
    )
    clip = function("Bound", "l", "r", [node("Clip", "l", "r", min=-0.5, max=0.75)], 6)
    add(
        "own_opset_clip",
        [call("Bound", "x", "t"), node("Clip", "t - hi")],
        {"x": x},
        {"hi": c32(0.25)},
        opset=17,
        functions=[clip],
        want=np.clip(x, c32(-0.5), c32(0.25)),
        **alone,
    )
    i = x[None] * 2
    pads = function("Wider", "l", "r", [node("Pad", "l", "r", pads=[0, 0, 1, 0, 0, 0, 0, 2], value=1.5)], 2)
    add(
        "own_opset_pad",
        [call("Wider", "i", "t"), node("Neg", "t")],
        {"i": i},
        opset=19,
        functions=[pads],
        want=-np.pad(i, ((0, 0), (0, 0), (1, 0), (0, 2)), constant_values=1.5),
        **alone,
    )
    split = function("Halves", "l", "a b", [node("Split", "l", "a b", axis=1, split=[1, 2])], 11)
    add(
        "own_opset_split",
        [call("Halves", "x", "a b"), node("Sub", "b a")],
        {"x": x},
        opset=18,
        functions=[split],
        want=x[:, 1:] - x[:, :1],
        **alone,
    )
    drop = function("Dropped", "l", "r m", [node("Dropout", "l", "r m", ratio=0.5)], 10)
    add(
        "own_opset_dropout",
        [call("Dropped", "x", "a b"), node("Neg", "a")],
        {"x": x},
        opset=17,
        functions=[drop],
        want=-x,
        **alone,
    )
    inner = function("Inner", "l", "r", [node("Softmax", "l", "r")], 11)
    outer = helper.make_function(
        "local",
        "Outer",
        ["l"],
        ["r"],
        [call("Inner", "l", "t"), node("Softmax", "t", "r")],
        [helper.make_opsetid("", 13), helper.make_opsetid("local", 1)],
    )
    add(
        "own_opset_nested",
        call("Outer", "x"),
        {"x": x},
        opset=11,
        functions=[inner, outer],
        want=softmax(softmax(x, (1, 2)), (2,)),
        **alone,
    )
    add(
        "own_opset_nested_turned",
        [call("Outer", "x", "t"), node("Softmax", "t")],
        {"x": x},
        opset=17,
        functions=[outer, inner],
        want=softmax(softmax(softmax(x, (1, 2)), (2,)), (2,)),
        **alone,
    )


def branches():
    info = lambda n: helper.make_tensor_value_info(n, TensorProto.FLOAT, None)
    body = lambda nodes, out: helper.make_graph(nodes, out, [], [info(out)])
    x = f32(3, 4)
    for flag in (True, False):
        tag = str(flag).lower()
        part, whole = node("Slice", "x i0 i1", "p"), node("Neg", "x", "q")
        unequal = node("If", "c", "u", then_branch=body([part], "p"), else_branch=body([whole], "q"))
        add(
            f"unequal_known_{tag}",
            [unequal, node("Abs", "u")],
            {"x": x},
            {"c": np.array(flag), "i0": ints(0), "i1": ints(1)},
        )
        add(
            f"unequal_summed_{tag}",
            [unequal, node("ReduceSum", "u", "s", keepdims=0), node("Mul", "s x")],
            {"x": x, "c": np.array(flag)},
            {"i0": ints(0), "i1": ints(1)},
        )
        ranks = node(
            "If",
            "c",
            "u",
            then_branch=body([node("ReduceMax", "x", "p", axes=[0], keepdims=0)], "p"),
            else_branch=body([whole], "q"),
        )
        add(f"unequal_ranks_known_{tag}", [ranks, node("Add", "u x")], {"x": x}, {"c": np.array(flag)})


def left_out():
    x = f32(2, 3, 4, 5)
    add("left_out_dropout", [node("Dropout", "x", "t"), node("Neg", "t")], {"x": x})
    add(
        "left_out_dropout_mask",
        [node("Dropout", "x", "t m"), node("Cast", "m", "f", to=TensorProto.FLOAT), node("Add", "t f")],
        {"x": x},
    )
    add(
        "left_out_dropout_mask_alone",
        [node("Dropout", "x", "- m"), node("Cast", "m", "f", to=TensorProto.FLOAT), node("Add", "x f")],
        {"x": x},
        runtime=False,
        want=x + 1,
        reference=False,
    )
    s = {"x": f32(4, 2, 3)}
    for op, gates, states in (("LSTM", 4, "h c"), ("GRU", 3, "h"), ("RNN", 1, "h")):
        for direction, d in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
            w = {"w": f32(d, gates * 5, 3) / 4, "r": f32(d, gates * 5, 5) / 4}
            for outs in {
                "LSTM": ("a", "- a", "- - a", "a - b", "- a b", "a b"),
                "GRU": ("a", "- a"),
                "RNN": ("a", "- a"),
            }[op]:
                given = " ".join(o for o in outs.split() if o != "-")
                add(
                    f"left_out_{op.lower()}_{direction}_{outs.replace(' ', '_').replace('-', '0')}",
                    node(op, "x w r", outs, hidden_size=5, direction=direction),
                    s,
                    w,
                    outs=given,
                    reference=False,
                )
    n = {"x": f32(3, 7)}
    add(
        "left_out_topk_values",
        [node("TopK", "x k", "- i"), node("Cast", "i", "f", to=TensorProto.FLOAT), node("Neg", "f")],
        n,
        {"k": ints(3)},
        runtime=False,
        reference=False,
        want=-np.argsort(-n["x"], 1, kind="stable")[:, :3].astype(np.float32),
    )
    add(
        "left_out_split",
        [node("Split", "x parts", "- a -", axis=1), node("Neg", "a")],
        n,
        {"parts": ints(2, 3, 2)},
        want=-n["x"][:, 2:5],
        runtime=False,
        reference=False,
    )
    g = {"g": f32(7), "b": f32(7)}
    y = n["x"].astype(np.float64)
    mean, inverse = y.mean(1, keepdims=True), 1 / np.sqrt(y.var(1, keepdims=True) + 0.25)
    values = {"y": (y - mean) * inverse * g["g"] + g["b"], "m": mean, "v": inverse}
    for outs in ("y m v", "y - v", "y m"):
        given = outs.replace("- ", "")
        add(
            f"left_out_layernorm_{given.replace(' ', '_')}",
            node("LayerNormalization", "x g b", outs, epsilon=0.25),
            n,
            g,
            outs=given,
            want=[values[o].astype(np.float32) for o in given.split()],
            reference=False,
        )
    p = {"x": f32(1, 2, 6, 6)}
    add(
        "left_out_maxpool_values",
        [
            node("MaxPool", "x", "t i", kernel_shape=[2, 2], strides=[2, 2]),
            node("Cast", "i", "f", to=TensorProto.FLOAT),
            node("Neg", "f"),
        ],
        p,
    )


def make():
    functions()
    branches()
    left_out()
