"""Pools, depthwise convolutions and normalizations of every number of channels around blocks, and every window at
the edges of small images."""

import itertools

import numpy as np

from forms import add, f32, ints, node, several, whole

c32 = np.float32
CHANNELS = (*range(1, 41), *range(63, 71), *range(127, 132))


def channels():
    for c in CHANNELS:
        x = {"x": whole(2, c, 3, 4, most=7)}
        filters = {
            "k": whole(c, 1, 3, 3),
            "r": whole(c, 1, 2, 2),
            "b": whole(c),
            "s": whole(c),
            "v": np.full(c, 0.75, np.float32),
            "pads": ints(0, 0, 1, 1, 0, 0, 0, 1),
        }
        several(
            f"channels_{c}_windows",
            [
                lambda o: node("AveragePool", "x", o, kernel_shape=[2, 2], pads=[1, 0, 0, 1]),
                lambda o: node(
                    "AveragePool", "x", o, kernel_shape=[3, 4], pads=[1, 1, 1, 1], strides=[2, 1], count_include_pad=1
                ),
                lambda o: node("MaxPool", "x", o, kernel_shape=[2, 3], pads=[1, 1, 0, 1], strides=[1, 2]),
                lambda o: node("GlobalAveragePool", "x", o),
                lambda o: node("GlobalMaxPool", "x", o),
                lambda o: node("Conv", "x k b", o, group=c, pads=[1, 1, 1, 1]),
                lambda o: [
                    node("Conv", "x r", f"{o}c", group=c, strides=[1, 2], pads=[0, 1, 1, 0]),
                    node("Relu", f"{o}c", o),
                ],
                lambda o: node("BatchNormalization", "x s b b v", o, epsilon=0.25),
            ],
            x,
            filters,
        )
        norms = [
            lambda o: node("InstanceNormalization", "x s b", o, epsilon=0.25),
            lambda o: node("LpNormalization", "w", o, axis=1),
            lambda o: node("LayerNormalization", "y s b", o, epsilon=0.25),
            lambda o: node("Softmax", "x", o, axis=1),
            lambda o: node("ReduceMean", "x", o, axes=[1], keepdims=0),
        ]
        x = {"x": whole(2, c, 2, 3), "w": np.abs(whole(2, c, 2, 3)) + c32(1), "y": whole(2, 3, c)}
        several(f"channels_{c}_normalized", norms, x, filters, reference=False)
        if c % 2 == 0 and c < 64:
            for groups in sorted({2, c // 2, c}):
                g = {"s": whole(groups), "b": whole(groups)}
                add(
                    f"channels_{c}_groups_{groups}_18",
                    [node("GroupNormalization", "x s b", epsilon=0.25, num_groups=groups)],
                    x,
                    g,
                    opset=18,
                )
                add(
                    f"channels_{c}_groups_{groups}_21",
                    [node("GroupNormalization", "x s b", epsilon=0.25, num_groups=groups)],
                    x,
                    filters,
                    opset=21,
                )
    for size, c in itertools.product((1, 2, 3, 4, 6, 7, 9), (1, 3, 5, 8, 17)):
        x = whole(2, c, 2, 2, most=5)
        add(
            f"lrn_{size}_{c}",
            [node("LRN", "x", size=size, alpha=1.5, beta=0.5, bias=0.5)],
            {"x": x},
            want=lrn(x, size, 1.5, 0.5, 0.5),
            reference=False,
            runtime=size % 2 == 1,
        )
    for c in CHANNELS:
        x = whole(2, c, 1, 2, most=5)
        for size in (2, 5):
            add(
                f"channels_{c}_lrn_{size}",
                [node("LRN", "x", size=size, alpha=0.5, beta=0.75, bias=2.0)],
                {"x": x},
                want=lrn(x, size, 0.5, 0.75, 2.0),
                reference=False,
                runtime=size % 2 == 1,
            )


def lrn(x, size, alpha, beta, bias):
    """LRN as its definition says: of an even size one channel more behind than before."""
    x = x.astype(np.float64)
    squares = np.zeros_like(x)
    for c in range(x.shape[1]):
        squares[:, c] = (x[:, max(0, c - (size - 1) // 2) : c + size // 2 + 1] ** 2).sum(1)
    return (x / (bias + alpha / size * squares) ** beta).astype(np.float32)


def windows():
    for length, kernel in itertools.product((1, 2, 3, 4, 5, 7), (1, 2, 3, 4, 6)):
        x = {"x": whole(2, 3, length, most=20), "i": whole(1, 5, length, 3, most=20)}
        for ceil in (0, 1):
            for op, include in (("MaxPool", None), ("AveragePool", 0), ("AveragePool", 1)):
                made = []
                extra = {} if include is None else {"count_include_pad": include}
                for stride, before, after in itertools.product((1, 2, 3), range(min(kernel, 3)), range(min(kernel, 3))):
                    room = length + before + after - kernel
                    if room < 0 or (stride == 1 and ceil):
                        continue
                    made.append(
                        lambda o, a=dict(
                            kernel_shape=[kernel], strides=[stride], pads=[before, after], ceil_mode=ceil, **extra
                        ): node(op, "x", o, **a)
                    )
                    if (stride + before) % 2:
                        wide = dict(
                            kernel_shape=[kernel, 2],
                            strides=[stride, 2],
                            pads=[before, 1, after, 0],
                            ceil_mode=ceil,
                            **extra,
                        )
                        made.append(lambda o, a=wide: node(op, "i", o, **a))
                for i in range(0, len(made), 12):
                    several(
                        f"windows_{op.lower()}_{'' if include is None else include}_{ceil}_{length}_{kernel}_{i}",
                        made[i : i + 12],
                        x,
                        opset=19,
                        reference=False,
                    )
    x = {"x": whole(2, 3, 5, 4, most=9)}
    for group, bias in itertools.product((1, 2, 3, 4), ("", " b")):
        for j, attrs in enumerate(
            (
                {},
                {"strides": [2, 1]},
                {"strides": [2, 3], "output_padding": [1, 2]},
                {"pads": [1, 0, 0, 1]},
                {"dilations": [2, 1]},
                {"strides": [3, 2], "pads": [1, 1, 1, 0], "output_padding": [2, 1]},
                {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
                {"auto_pad": "SAME_LOWER", "strides": [2, 2]},
                {"auto_pad": "SAME_UPPER", "strides": [3, 1]},
                {"auto_pad": "VALID", "strides": [1, 2]},
                {"strides": [2, 2], "output_shape": [10, 8]},
                {"strides": [2, 2], "output_shape": [9, 7]},
                {"strides": [2, 1], "output_shape": [10, 4], "auto_pad": "SAME_LOWER"},
            )
        ):
            for out in (1, 3) if bias else (2,):
                c = {"k": whole(12, out, 3, 2), "b": whole(out * group, most=9)}
                add(
                    f"transposed_{group}_{j}_{out}_{'bias' if bias else 'plain'}",
                    [node("ConvTranspose", "z k" + bias, group=group, **attrs)],
                    {"z": whole(1, 12, 5, 4)},
                    c,
                    reference=False,
                )


def make():
    channels()
    windows()
