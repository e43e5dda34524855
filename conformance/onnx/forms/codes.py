"""QuantizeLinear and DequantizeLinear around operators that only move codes, with the same and with other scales and
zero points."""

import numpy as np

from forms import add, f32, ints, node, rng

c32 = np.float32

MOVES = {
    "nothing": lambda i, o: [],
    "identity": lambda i, o: [node("Identity", i, o)],
    "transpose": lambda i, o: [node("Transpose", i, o, perm=[0, 2, 3, 1])],
    "reshape": lambda i, o: [node("Reshape", f"{i} shape", o)],
    "flatten": lambda i, o: [node("Flatten", i, o)],
    "maxpool": lambda i, o: [node("MaxPool", i, o, kernel_shape=[2, 2], pads=[1, 0, 0, 1])],
    "averagepool": lambda i, o: [node("AveragePool", i, o, kernel_shape=[2, 2])],
    "globalpool": lambda i, o: [node("GlobalMaxPool", i, o)],
    "slice": lambda i, o: [node("Slice", f"{i} starts ends axes steps", o)],
    "gather": lambda i, o: [node("Gather", f"{i} places", o, axis=1)],
    "concat": lambda i, o: [node("Concat", f"{i} {i}", o, axis=1)],
    "concat_other": lambda i, o: [
        node("DequantizeLinear", "q0 s3 z1", "other"),
        node("Concat", f"{i} other", o, axis=1),
    ],
    "split": lambda i, o: [node("Split", f"{i} parts", f"part {o}", axis=1)],
    "relu": lambda i, o: [node("Relu", i, o)],
    "clip": lambda i, o: [node("Clip", f"{i} lo hi", o)],
    "pad": lambda i, o: [node("Pad", f"{i} pads", o)],
    "pad_value": lambda i, o: [node("Pad", f"{i} pads hi", o)],
    "depth": lambda i, o: [node("DepthToSpace", i, o, blocksize=2)],
    "resize": lambda i, o: [
        node(
            "Resize",
            f"{i} - sizes",
            o,
            mode="nearest",
            coordinate_transformation_mode="asymmetric",
            nearest_mode="floor",
        )
    ],
    "expand": lambda i, o: [node("Unsqueeze", f"{i} first", "wide"), node("Expand", "wide double", o)],
    "maximum": lambda i, o: [node("Max", f"{i} lo", o)],
    "negative": lambda i, o: [node("Neg", i, o)],
    "absolute": lambda i, o: [node("Abs", i, o)],
    "add_itself": lambda i, o: [node("Add", f"{i} {i}", o)],
    "double": lambda i, o: [node("Mul", f"{i} two", o)],
    "conv": lambda i, o: [node("Conv", f"{i} k", o)],
}


def make():
    shared = {
        "shape": ints(2, -1, 3),
        "starts": ints(2, 0),
        "ends": ints(-9, 9),
        "axes": ints(3, 1),
        "steps": ints(-1, 2),
        "places": ints(3, 0, 0, -1, 2),
        "parts": ints(1, 3),
        "lo": c32(-0.5),
        "hi": c32(0.75),
        "pads": ints(0, 0, 1, 0, 0, 0, 0, 2),
        "sizes": np.array([1, 1, 2, 3], np.float32),
        "first": ints(0),
        "double": ints(2, 1, 1, 1, 1),
        "two": c32(2),
        "k": np.eye(4, dtype=np.float32).reshape(4, 4, 1, 1),
    }
    for kind in (np.int8, np.uint8):
        low = 0 if kind is np.uint8 else -128
        z = {"z0": kind(low + 101), "z1": kind(low + 128), "z2": kind(low + 140)}
        s = {"s0": c32(0.125), "s1": c32(0.125), "s2": c32(0.25), "s3": c32(0.0625)}
        x = f32(1, 4, 4, 6) * c32(3)
        raw = {"q0": rng.integers(low, low + 256, (1, 4, 4, 6)).astype(kind)}
        pairs = {
            "same": ("s1 z1", "s1 z1"),
            "equal": ("s0 z1", "s1 z1"),
            "zero": ("s1 z0", "s1 z2"),
            "zero_equal": ("s1 z0", "s1 z0"),
            "coarser": ("s1 z1", "s2 z1"),
            "finer": ("s1 z1", "s3 z1"),
            "other": ("s2 z0", "s3 z2"),
        }
        for move, f in MOVES.items():
            for name, (a, b) in pairs.items():
                at = "r" if move != "nothing" else "d"
                nodes = [
                    node("DequantizeLinear", f"q0 {a}", "d"),
                    *f("d", "r"),
                    node("QuantizeLinear", f"{at} {b}", "q1"),
                    node("DequantizeLinear", f"q1 {b}"),
                ]
                add(f"codes_{move}_{name}_{kind.__name__}", nodes, raw, {**shared, **s, **z}, outs="y")
            a, b = pairs["same"]
            for name, (first, then) in {
                "read_as_scale": ("s2 z1", "s1 z1"),
                "read_as_zero": ("s1 z0", "s1 z1"),
                "read_same": ("s1 z1", "s1 z1"),
            }.items():
                at = "r" if move != "nothing" else "d"
                add(
                    f"codes_{move}_{name}_{kind.__name__}",
                    [
                        node("QuantizeLinear", "x s1 z1", "q0"),
                        node("DequantizeLinear", f"q0 {first}", "d"),
                        *f("d", "r"),
                        node("QuantizeLinear", f"{at} {then}", "q1"),
                        node("DequantizeLinear", "q1 s1 z1"),
                    ],
                    {"x": x},
                    {**shared, **s, **z},
                    outs="y",
                )
            add(
                f"codes_{move}_kept_{kind.__name__}",
                [
                    node("QuantizeLinear", "x s1 z0", "q0"),
                    node("DequantizeLinear", "q0 s1 z0", "d"),
                    *f("d", "r"),
                    node("Neg", "d", "n"),
                    node("QuantizeLinear", f"{'r' if move != 'nothing' else 'd'} s1 z0", "q1"),
                    node("DequantizeLinear", "q1 s1 z0"),
                ],
                {"x": x},
                {**shared, **s, **z},
                outs="y n",
            )
        # A pair whose zero points are left out, and one whose codes have the other type.
        add(
            f"codes_no_zero_{kind.__name__}",
            [
                node("QuantizeLinear", "x s1", "q0"),
                node("DequantizeLinear", "q0 s1", "d"),
                node("Relu", "d", "r"),
                node("QuantizeLinear", f"r s1 z1", "q1"),
                node("DequantizeLinear", "q1 s1 z1"),
            ],
            {"x": x},
            {**s, **z},
        )
        other = np.uint8 if kind is np.int8 else np.int8
        add(
            f"codes_other_type_{kind.__name__}",
            [
                node("DequantizeLinear", "q0 s1 z1", "d"),
                node("Transpose", "d", "r"),
                node("QuantizeLinear", "r s1 o", "q1"),
                node("DequantizeLinear", "q1 s1 o"),
            ],
            raw,
            {**s, **z, "o": other(30)},
        )
        for channels in (1, 2, 5, 16, 17):
            p = rng.integers(low, low + 256, (2, channels, 3, 5)).astype(kind)
            w = {
                "w": rng.integers(-9, 10, (6, channels, 3, 3)).astype(np.int8),
                "ws": np.array([0.5, 0.25, 1, 0.125, 0.5, 2], np.float32),
                "wz": np.zeros(6, np.int8),
                "b": rng.integers(-300, 300, 6).astype(np.int32),
                "bs": np.array([0.5, 0.25, 1, 0.125, 0.5, 2], np.float32) * c32(0.125),
                "bz": np.zeros(6, np.int32),
                "so": c32(4),
            }
            for zero, pads in (("z0", 0), ("z2", 1)):
                for act in ("none", "relu", "clip"):
                    end = {"none": [], "relu": [node("Relu", "c", "r")], "clip": [node("Clip", "c six three", "r")]}[
                        act
                    ]
                    add(
                        f"codes_conv_{channels}_{zero}_{act}_{kind.__name__}",
                        [
                            node("DequantizeLinear", f"q0 s1 {zero}", "d"),
                            node("DequantizeLinear", "w ws wz", "k", axis=0),
                            node("DequantizeLinear", "b bs bz", "e", axis=0),
                            node("Conv", "d k e", "c", pads=[pads] * 4),
                            *end,
                            node("QuantizeLinear", f"{'c' if act == 'none' else 'r'} so {zero}", "q1"),
                            node("DequantizeLinear", f"q1 so {zero}"),
                        ],
                        {"q0": p},
                        {**s, **z, **w, "six": c32(-60), "three": c32(37)},
                    )
