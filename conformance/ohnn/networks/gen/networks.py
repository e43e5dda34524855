"""Writes the networks: python networks.py ../cases (packages: operators/gen/requirements.txt)."""

import itertools
import sys

import numpy as np

from net import ACT, F32, F64, I8, I32, U8, Net, Q, write

DEPTH, DECONV = "DEPTHWISE_CONV2D_NATIVE", "CONV2D_TRANSPOSE"


def padding():
    """Padding before windows: of zeros, of another value, mirrored, of channels and batches, of codes."""
    spatial, uneven = [(0, 0), (1, 2), (2, 1), (0, 0)], [(0, 0), (0, 3), (1, 0), (0, 0)]
    channels, batch = [(0, 0), (1, 1), (1, 1), (1, 0)], [(1, 0), (1, 1), (0, 0), (0, 0)]
    for i, (pads, value, mode) in enumerate(((spatial, 0.0, 0), (uneven, 0.0, 0), (spatial, 2.0, 0), (spatial, -3.0, 0), (spatial, 0.0, 1), (spatial, 0.0, 2), (channels, 0.0, 0), (batch, 0.0, 0))):
        for kind in ("conv", "depthwise", "transposed", "max", "average"):
            n = Net(f"padding/{kind}_{i}")
            x = n.input((2, 7, 9, 5), -9, -1)  # below zero: zeros in a padding are the largest
            p = n.pad(x, pads, value, mode)
            more = {"pads": (1, 0, 0, 1)} if i % 2 else {}
            if kind == "conv":
                y = n.conv(p, 6, act=(0, 1, 2)[i % 3], strides=(1 + i % 2, 1), **more)
            elif kind == "depthwise":
                y = n.conv(p, 5, kind=DEPTH, act=(0, 1, 2)[i % 3], **more)
            elif kind == "transposed":
                y = n.conv(p, 3, (2, 2), kind=DECONV, strides=(2, 1), **more)
            elif kind == "max":
                y = n.pool("MAX_POOL", p, (2, 3), (2, 1), **more)
            else:
                y = n.pool("AVG_POOL", p, (2, 2), (1, 2), **({"pads": (1, 0, 1, 0)} if i % 2 else {}))
                if i % 2:  # windows of one, two and four cells
                    y = n.binary("MUL", y, n.value([4.0]))
            n.done(y, *([p] if i == 3 else []))
    for dtype in (I8, U8):
        for kind in ("conv", "depthwise", "max", "two"):
            low = np.iinfo(dtype).min
            n = Net(f"padding/{np.dtype(dtype)}_{kind}")
            x = n.input((1, 6, 7, 5), low, low + 120, dtype, Q(0.25, low + 150))  # zero point and the code 0 differ
            p = n.pad(x, spatial)
            q = Q(0.25, low + 120)
            y = n.pool("MAX_POOL", p, (2, 2), (2, 1), pads=(0, 0, 1, 1)) if kind == "max" else n.conv(p, 7, kind=DEPTH if kind == "depthwise" else "CONV2D", q=q, act=1, pads=(1, 0, 0, 1))
            if kind == "two":
                y = n.conv(n.pad(y, uneven), 5, q=Q(0.5, low + 99))
            n.done(y)
    n = Net("padding/twice")
    x = n.input((1, 7, 9, 5), -9, -1)
    p = n.pad(n.pad(x, uneven), spatial)
    n.done(n.conv(p, 4), n.pool("MAX_POOL", p, (3, 2), (2, 2)))
    n = Net("padding/of_a_sum")
    x, y = n.input((1, 7, 9, 5), -9, -1), n.input((1, 7, 9, 5))
    p = n.pad(n.add(x, y, 1), spatial)
    n.done(n.conv(p, 33, act=1), p)


def endings():
    """A convolution or product with normalization, residual and activation behind it, in every order."""
    steps = {"norm": lambda n, y, r: n.norm(y), "residual": lambda n, y, r: n.add(y, r), "relu": lambda n, y, r: n.relu(y)}
    for order in itertools.permutations(steps):
        for kind in ("conv", "depthwise", "pointwise", "transposed"):
            n = Net(f"endings/{kind}_{'_'.join(order)}")
            x = n.input((1, 6, 7, 8))
            if kind == "transposed":
                y = n.conv(x, 5, (2, 2), kind=DECONV, strides=(2, 2))
                r = n.input(y.shape)
            else:
                y = n.conv(x, 8, (1, 1) if kind == "pointwise" else (3, 3), kind=DEPTH if kind == "depthwise" else "CONV2D", mode=0)
                r = x
            for s in order:
                y = steps[s](n, y, r)
            n.done(y)
    posts = {
        "fused_then_residual": lambda n, x, r: n.add(n.conv(x, 8, act=1, mode=0), r), "residual_then_fused": lambda n, x, r: n.add(n.conv(x, 8, mode=0), r, 1), "both": lambda n, x, r: n.add(n.conv(x, 8, act=2, mode=0), r, 2),
        "residual_first": lambda n, x, r: n.add(r, n.conv(x, 8, mode=0), 2), "minus": lambda n, x, r: n.binary("SUB", n.conv(x, 8, mode=0), r, 1), "from": lambda n, x, r: n.binary("SUB", r, n.conv(x, 8, mode=0), 1),
        "times": lambda n, x, r: n.binary("MUL", n.conv(x, 8, mode=0), r), "largest": lambda n, x, r: n.binary("MAXIMUM", n.conv(x, 8, mode=0), r), "smallest": lambda n, x, r: n.binary("MINIMUM", r, n.conv(x, 8, mode=0)),
        "twice": lambda n, x, r: (lambda y: n.add(y, y, 1))(n.conv(x, 8, mode=0)), "of_itself": lambda n, x, r: (lambda y: n.binary("SUB", y, n.relu(y)))(n.conv(x, 8, mode=0)),
        "two_convolutions": lambda n, x, r: n.add(n.conv(x, 8, mode=0), n.conv(r, 8, (1, 1)), 1), "three": lambda n, x, r: n.add(n.add(n.conv(x, 8, mode=0), n.conv(r, 8, (1, 1))), n.conv(x, 8, mode=0), 2),
        "clip": lambda n, x, r: n.clip(n.conv(x, 8, mode=0), -3.0, 11.0), "clip_after_relu6": lambda n, x, r: n.clip(n.conv(x, 8, act=2, mode=0), 2.0, 5.0), "relu_then_relu6": lambda n, x, r: n.relu6(n.relu(n.conv(x, 8, mode=0))),
        "relu6_then_relu": lambda n, x, r: n.relu(n.relu6(n.conv(x, 8, mode=0))), "leaky": lambda n, x, r: n.leaky(n.conv(x, 8, mode=0)), "leaky_then_relu": lambda n, x, r: n.relu(n.leaky(n.conv(x, 8, mode=0))), "prelu": lambda n, x, r: n.prelu(n.conv(x, 8, mode=0)),
        "negated_relu": lambda n, x, r: n.relu(n.neg(n.conv(x, 8, mode=0))), "abs": lambda n, x, r: n.abs(n.conv(x, 8, mode=0)), "bias": lambda n, x, r: n.bias(n.conv(x, 8, mode=0)), "bias_after_relu": lambda n, x, r: n.bias(n.conv(x, 8, act=1, mode=0)),
        "scale": lambda n, x, r: n.scale(n.conv(x, 8, mode=0)), "scale_after_relu6": lambda n, x, r: n.scale(n.conv(x, 8, act=2, mode=0)), "norm_twice": lambda n, x, r: n.norm(n.norm(n.conv(x, 8, mode=0))), "norm_after_relu": lambda n, x, r: n.norm(n.conv(x, 8, act=1, mode=0)),
        "norm_before": lambda n, x, r: n.conv(n.norm(x), 8, mode=0), "norm_before_valid": lambda n, x, r: n.conv(n.norm(x), 8), "scale_before": lambda n, x, r: n.conv(n.scale(x), 8, mode=0), "relu_before": lambda n, x, r: n.conv(n.relu(x), 8, mode=0),
        "by_a_row": lambda n, x, r: n.add(n.conv(x, 8, mode=0), n.const((7, 8)), 1), "by_a_channel": lambda n, x, r: n.binary("MUL", n.conv(x, 8, mode=0), n.const((8,)), 1), "by_a_cell": lambda n, x, r: n.add(n.conv(x, 8, mode=0), n.const((6, 7, 1)), 1),
        "by_a_number": lambda n, x, r: n.binary("MUL", n.conv(x, 8, mode=0), n.value([-2.0]), 1), "by_an_input_row": lambda n, x, r: n.add(n.conv(x, 8, mode=0), n.input((1, 1, 1, 8)), 1),
    }
    for name, f in posts.items():
        for c, kind in ((8, ""), (32, "_32")):
            n = Net(f"endings/{name}{kind}")
            x, r = n.input((1, 6, 7, c) if name not in ("norm_before",) else (1, 6, 7, c)), n.input((1, 6, 7, 8))
            n.done(f(n, x, r))
    # all sizes alike: a constant for each row, column or image is none for each channel
    alike = {"channels": (8,), "columns": (8, 1), "rows": (8, 1, 1), "rows_and_channels": (8, 1, 8), "images": (8, 1, 1, 1), "cells": (8, 8)}
    for name, shape in alike.items():
        for op in ("ADD", "MUL", "SUB", "MAXIMUM"):
            n = Net(f"endings/{op.lower()}_for_{name}")
            y = n.binary(op, n.conv(n.input((8, 8, 8, 8)), 8, mode=0), n.const(shape), int(op == "ADD"))
            n.done(n.norm(y) if op == "MUL" else n.relu(y))
    for name, shape in {"columns": (17,), "rows": (17, 1)}.items():
        for kind in ("matmul", "fc", "turned"):
            n = Net(f"endings/{kind}_plus_{name}")
            x = n.input((17, 17))
            y = n.fc(x, 17) if kind == "fc" else n.matmul(x, n.const((17, 17)), ta=kind == "turned")
            n.done(n.add(y, n.const(shape), 1))
    for op in ("SCALE", "BIAS_ADD", "PRELU"):
        n = Net(f"endings/{op.lower()}_of_a_cube")
        y = n.conv(n.input((1, 7, 7, 7)), 7, mode=0)
        if op == "SCALE":
            s, b = n.const((7,), -2, 3), n.const((7,))
            y = n.op("SCALE", [y, s, b], y.real * s.real[:, None, None] + b.real[:, None, None], ("AXIS", "int64", [1]))
        else:
            y = n.bias(y) if op == "BIAS_ADD" else n.prelu(y)
        n.done(n.relu6(y))
    for name, f in {"read_before": lambda n, y: (n.relu(y), n.neg(y)), "is_output": lambda n, y: (y, n.relu(y)), "norm_is_output": lambda n, y: (lambda z: (z, n.relu(z), n.add(z, y)))(n.norm(y)),
                    "residual_is_output": lambda n, y: (lambda z: (n.relu(z), z))(n.add(y, n.input(y.shape))), "three_readers": lambda n, y: (n.conv(y, 3), n.pool("MAX_POOL", y, (2, 2), (2, 2)), n.add(y, n.relu6(y)))}.items():
        for act in (0, 1):
            n = Net(f"endings/{name}_{act}")
            n.done(*f(n, n.conv(n.input((2, 7, 5, 9)), 9, act=act, mode=0)))
    for act in (0, 1, 2):
        for name, f in {"matmul_bias": lambda n, x: n.add(n.matmul(x, n.const((17, 19))), n.const((19,)), act), "matmul_residual": lambda n, x: n.add(n.matmul(x, n.const((17, 17)), act=act), x), "fc_relu6": lambda n, x: n.relu6(n.fc(x, 21, act)),
                        "fc_norm": lambda n, x: n.norm(n.fc(x, 18, act)), "fc_residual": lambda n, x: n.add(x, n.fc(x, 17, act), 1), "fc_chain": lambda n, x: n.fc(n.fc(x, 18, act), 7, 1),
                        "matmul_twice": lambda n, x: (lambda w: n.add(n.matmul(x, w), n.matmul(x, n.transpose(w, (1, 0))), act))(n.const((17, 17))), "matmul_of_itself": lambda n, x: n.matmul(x, x, tb=True, act=act)}.items():
            n = Net(f"endings/{name}_{act}")
            n.done(f(n, n.input((5, 17))))


def values():
    """Values that several operations read, that are outputs as well, that die at once; memory that could be used again too early."""
    def chain(n, x):
        early, y = x, x
        for i in range(24):
            y = (n.neg, n.abs, n.relu, lambda v: n.add(v, n.value([-3.0 + i % 5])), lambda v: n.clip(v, -20.0, 17.0))[i % 5](y)
            if i == 3:
                early = y
        return n.add(y, early), y
    def far(n, x):
        kept = [n.add(x, n.value([float(i)]), 1 if i % 2 else 0) for i in range(9)]
        y = x
        for k in reversed(kept):
            y = n.binary("SUB", k, n.clip(y, -50.0, 50.0))
        return y,
    def dead(n, x):
        n.add(n.relu(x), x)
        n.conv(x, 3)
        return n.neg(x),
    nets = {
        "chain": chain, "far": far, "dead": dead,
        "in_place": lambda n, x: (lambda a: (lambda b: (n.binary("MUL", a, b), n.add(a, n.neg(b))))(n.relu(a)))(n.add(x, n.value([1.0]))),
        "in_place_of_input": lambda n, x: (n.relu(x), n.neg(x), n.add(x, x)),
        "output_read": lambda n, x: (lambda a: (a, n.relu(a), n.binary("SUB", a, n.abs(a))))(n.neg(x)),
        "output_twice_removed": lambda n, x: (lambda a, b: (n.add(a, b), b, a))(n.relu(x), n.neg(x)),
        "diamond": lambda n, x: (lambda a: (n.add(n.conv(a, 5, mode=0, act=1), n.conv(a, 5, (1, 1))),))(n.conv(x, 7, mode=0)),
        "residual_blocks": lambda n, x: ((lambda block: block(block(block(x))))(lambda v: n.clip(n.add(v, n.conv(n.conv(v, 5, (1, 1), act=2), 5, mode=0)), -4.0, 4.0)),),
        "broadcast_up": lambda n, x: (lambda r: (n.add(r, x), n.add(x, r), r))(n.reduce("REDUCE_SUM", x, (1, 2), True)),
        "squeeze_and_excite": lambda n, x: (lambda s: (n.binary("MUL", x, n.clip(n.conv(n.conv(s, 3, (1, 1), act=1), 5, (1, 1)), 0.0, 2.0)),))(n.reduce("REDUCE_MAX", x, (1, 2), True)),
    }
    for name, f in nets.items():
        for size in ((1, 6, 7, 5), (2, 33, 35, 5)):
            n = Net(f"values/{name}_{size[1]}")
            n.done(*f(n, n.input(size)))


def branches():
    """Concatenations, splits and slices, whose parts could be written in place."""
    nets = {
        "inception": lambda n, x: (n.concat([n.conv(x, 3, (1, 1), act=1), n.conv(x, 4, mode=0), n.conv(x, 5, (5, 5), mode=0, act=2), n.pool("MAX_POOL", x, (3, 3), mode=0)], 3),),
        "same_twice": lambda n, x: (lambda y: (n.concat([y, y], 3), n.concat([y, x, y], 3)))(n.conv(x, 5, mode=0)),
        "with_input": lambda n, x: (n.concat([x, n.relu(x)], 3),), "with_constant": lambda n, x: (n.concat([n.const((2, 7, 9, 3)), n.conv(x, 5, mode=0)], -1),),
        "part_is_output": lambda n, x: (lambda y: (y, n.concat([n.conv(x, 4, (1, 1)), y], 3)))(n.conv(x, 5, mode=0, act=1)), "part_is_read_again": lambda n, x: (lambda y: (n.add(n.concat([y, x], 3), n.concat([x, y], 3)),))(n.conv(x, 5, mode=0, act=1)),
        "part_is_read_later": lambda n, x: (lambda y: (lambda c: (n.relu(c), n.neg(y)))(n.concat([y, n.neg(x)], 3)))(n.conv(x, 5, mode=0)),
        "rows": lambda n, x: (n.concat([n.conv(x, 5, mode=0), n.relu(x), x], 1),), "columns": lambda n, x: (n.concat([n.relu(x), n.conv(x, 5, mode=0)], 2),), "batches": lambda n, x: (n.concat([n.relu(x), n.conv(x, 5, mode=0)], 0),),
        "nested": lambda n, x: (lambda y: (n.concat([n.concat([y, x], 3), n.concat([x, n.relu6(y)], 3)], 3),))(n.conv(x, 5, mode=0)), "read_by_convolution": lambda n, x: (n.conv(n.concat([n.conv(x, 17, mode=0, act=1), x], 3), 6, mode=0),),
        "concat_then_relu": lambda n, x: (n.relu(n.concat([n.conv(x, 3, (1, 1)), n.norm(n.conv(x, 6, (1, 1)))], 3)),), "concat_then_norm": lambda n, x: (n.relu(n.norm(n.concat([n.conv(x, 3, (1, 1)), x], 3))),),
        "concat_is_output_and_read": lambda n, x: (lambda c: (c, n.conv(c, 4), n.pool("MAX_POOL", c, (2, 2), (2, 2))))(n.concat([n.relu(x), n.conv(x, 4, mode=0)], 3)),
        "slice_of_concat": lambda n, x: (n.slice(n.concat([n.relu(x), n.neg(x)], 3), (0, 1, 2, 3), (2, 5, 6, 4)),), "dense": lambda n, x: ((lambda f: f(f(f(x))))(lambda v: n.clip(n.concat([v, n.conv(n.relu(v), 3, mode=0)], 3), -9.0, 9.0)),),
    }
    for name, f in nets.items():
        n = Net(f"branches/{name}")
        n.done(*f(n, n.input((2, 7, 9, 5))))
    for axis in (0, 1, 2, 3):
        n = Net(f"branches/split_{axis}")
        x = n.conv(n.input((4, 8, 6, 5)), 6, mode=0)
        a, b = n.split(x, 2, axis)
        n.done(n.binary("SUB", a, n.relu(b)), b, n.concat([b, a], axis))
    n = Net("branches/shuffle")
    x = n.conv(n.input((1, 5, 7, 5)), 12, (1, 1))
    y = n.reshape(n.transpose(n.reshape(x, (1, 5, 7, 3, 4)), (0, 1, 2, 4, 3)), (1, 5, 7, 12))
    n.done(n.conv(y, 12, kind=DEPTH, mode=0))


def views():
    """Outputs that are views of inputs, constants or other outputs; layouts that cancel, or do not."""
    shape = (2, 6, 7, 5)
    nets = {
        "reshaped_input": lambda n, x: (n.reshape(x, (12, 35)),), "reshaped_input_beside": lambda n, x: (lambda r: (r, n.relu(r), n.neg(x)))(n.reshape(x, (84, 5))), "transposed_input": lambda n, x: (n.transpose(x, (0, 3, 1, 2)),),
        "transposed_back": lambda n, x: (n.transpose(n.transpose(x, (0, 3, 1, 2)), (0, 2, 3, 1)), n.relu(x)), "transposed_otherwise": lambda n, x: (n.transpose(n.transpose(x, (0, 3, 1, 2)), (0, 3, 1, 2)),),
        "reshaped_output": lambda n, x: (lambda y: (n.reshape(y, (-1 + 13, 35)), y))(n.relu(x)), "two_views": lambda n, x: (lambda y: (n.reshape(y, (84, 5)), n.reshape(y, (2, 210))))(n.neg(x)),
        "view_of_view": lambda n, x: (n.neg(n.reshape(n.reshape(n.relu(x), (84, 5)), (2, 42, 5))),), "view_then_in_place": lambda n, x: (lambda y: (n.neg(n.reshape(y, (84, 5))), n.relu(y)))(n.abs(x)),
        "flatten_then_product": lambda n, x: (n.fc(n.reshape(n.conv(x, 4, strides=(2, 2), act=1), (2, 24)), 9),), "around_convolution": lambda n, x: (n.transpose(n.conv(n.transpose(n.transpose(x, (0, 3, 1, 2)), (0, 2, 3, 1)), 6, mode=0), (0, 3, 1, 2)),),
        "around_elements": lambda n, x: (n.transpose(n.relu(n.add(n.transpose(x, (0, 3, 1, 2)), n.const((5, 1, 1)))), (0, 2, 3, 1)),), "before_sum": lambda n, x: (n.reduce("REDUCE_SUM", n.transpose(x, (3, 0, 1, 2)), (1,)),), "before_concat": lambda n, x: (n.concat([n.transpose(x, (0, 2, 1, 3)), n.transpose(n.relu(x), (0, 2, 1, 3))], 1),),
        "swapped_image": lambda n, x: (n.conv(n.transpose(x, (0, 2, 1, 3)), 4, (2, 3), strides=(1, 2)),), "before_reshape": lambda n, x: (n.reshape(n.transpose(n.conv(x, 4, mode=0), (0, 3, 1, 2)), (2, 168)), ), "through_pool": lambda n, x: (n.transpose(n.pool("MAX_POOL", n.transpose(n.transpose(n.conv(x, 6), (0, 3, 1, 2)), (0, 2, 3, 1)), (2, 2), (2, 2)), (0, 3, 1, 2)),),
        "moved_by_one": lambda n, x: (n.transpose(n.conv(n.transpose(x, (1, 2, 3, 0)), 3, (2, 2)), (3, 0, 1, 2)),), "whole_slice": lambda n, x: (lambda y: (n.slice(y, (0, 0, 0, 0), shape), n.relu(y)))(n.neg(x)),
        "squeezed": lambda n, x: (lambda y: (n.op("SQUEEZE", [y], y.real[:, 0, 0], ("AXIS", "int64", [1, 2])), n.op("UNSQUEEZE", [y], y.real[:, None], ("AXIS", "int64", [1]))))(n.reduce("REDUCE_SUM", x, (1, 2), True)),
        "product_transposed": lambda n, x: (n.matmul(n.transpose(n.reshape(x, (2, 42, 5)), (0, 2, 1)), n.reshape(n.relu(x), (2, 42, 5))),),
    }
    for name, f in nets.items():
        n = Net(f"views/{name}")
        n.done(*f(n, n.input(shape)))


def constants():
    """What is known before the run: weights that operations make, constants beside inputs, outputs that are constant."""
    def weights(n, x, w):
        return n.conv(x, w.shape[0], w.shape[1:3], w=w, b=n.const((w.shape[0],)), mode=0)
    nets = {
        "transposed_weights": lambda n, x: weights(n, x, n.transpose(n.const((3, 3, 5, 4)), (3, 0, 1, 2))), "reshaped_weights": lambda n, x: weights(n, x, n.reshape(n.const((4, 45)), (4, 3, 3, 5))), "scaled_weights": lambda n, x: weights(n, x, n.binary("MUL", n.const((4, 3, 3, 5)), n.const((4, 1, 1, 1)))),
        "negated_weights": lambda n, x: weights(n, x, n.neg(n.const((4, 3, 3, 5)))), "joined_weights": lambda n, x: weights(n, x, n.concat([n.const((3, 3, 3, 5)), n.const((2, 3, 3, 5))], 0)), "shared_weights": lambda n, x: (lambda w: n.add(weights(n, x, w), weights(n, n.relu(x), w)))(n.const((4, 3, 3, 5))),
        "shared_by_two_operators": lambda n, x: (lambda w: n.add(n.reduce("REDUCE_SUM", n.add(weights(n, x, w), n.value([1.0])), (0, 1, 2)), n.reduce("REDUCE_SUM", w, (1, 2, 3))))(n.const((4, 3, 3, 5))),
        "sum_of_constants": lambda n, x: n.add(x, n.add(n.const((5,)), n.const((7, 5)))), "relu_of_constant": lambda n, x: n.binary("MUL", x, n.relu(n.const((7, 5)))), "constants_in_a_row": lambda n, x: n.binary("MUL", n.add(n.add(x, n.value([3.0])), n.value([-1.0])), n.value([2.0])),
        "times_zero": lambda n, x: n.add(n.binary("MUL", x, n.value([0.0])), n.relu(x)), "times_one": lambda n, x: n.neg(n.binary("MUL", x, n.value([1.0]))), "plus_zero": lambda n, x: n.relu(n.add(x, n.value([0.0]))), "minus_itself": lambda n, x: n.add(n.binary("SUB", x, x), n.relu(x)),
        "zero_weights": lambda n, x: n.add(n.conv(x, 5, w=n.value(np.zeros((5, 3, 3, 5))), b=n.const((5,)), mode=0), x),
    }
    for name, f in nets.items():
        n = Net(f"constants/{name}")
        n.done(f(n, n.input((2, 6, 7, 5))))
    n = Net("constants/output")
    x, c = n.input((3, 4)), n.const((3, 4))
    n.done(n.neg(c), n.add(x, c))


def codes():
    """Chains of 8-bit codes: what is quantized again between them, with other scales at each step."""
    for dtype in (I8, U8):
        low, t = np.iinfo(dtype).min, str(np.dtype(dtype))
        q = lambda scale, zero: Q(scale, low + zero)
        def start(name, shape=(1, 7, 9, 8)):
            n = Net(f"codes/{t}_{name}")
            return n, n.input(shape, low, low + 255, dtype, q(0.25, 120))
        for act in (0, 1, 2):
            n, x = start(f"conv_chain_{act}")
            y = n.conv(x, 9, act=act, q=q(0.25, 20 if act else 125), mode=0)
            n.done(n.conv(n.conv(y, 8, kind=DEPTH, act=1, q=q(0.25, 11), mode=0), 6, (1, 1), q=q(0.5, 130)), y)
        n, x = start("relu_behind")
        n.done(n.relu(n.conv(x, 9, q=q(0.5, 140), mode=0)))
        n, x = start("relu_of_another_scale")
        n.done(n.relu6(n.conv(x, 9, q=q(0.5, 140), mode=0), q=q(0.125, 30)))
        n, x = start("residual")
        n.done(n.add(x, n.conv(x, 8, q=q(0.5, 122), mode=0), 1, q=q(0.25, 60)))
        n, x = start("residual_then_relu")
        n.done(n.relu(n.add(n.conv(x, 8, q=q(0.5, 122), mode=0), x, q=q(0.25, 128))))
        n, x = start("pool")
        y = n.pool("MAX_POOL", n.conv(x, 17, act=1, q=q(0.5, 10), mode=0), (2, 2), (2, 2))
        n.done(n.conv(y, 5, q=q(1.0, 120)))
        n, x = start("concat")
        n.done(n.concat([n.conv(x, 5, (1, 1), q=q(0.5, 122)), n.conv(x, 4, mode=0, act=1, q=q(0.5, 122))], 3))
        n, x = start("concat_of_other_scales")
        a, b = n.conv(x, 5, (1, 1), q=q(0.5, 122)), n.conv(x, 4, mode=0, q=q(1.0, 100))
        n.done(n.op("CONCAT", [a, b], np.concatenate([a.real, b.real], 3), ("AXIS", "int64", [3]), q=q(0.5, 131)))
        n, x = start("views")
        y = n.conv(x, 6, q=q(0.5, 122))
        n.done(n.reshape(n.transpose(y, (0, 3, 1, 2)), (6, 35)), n.transpose(x, (0, 2, 1, 3)))
        n, x = start("read_twice")
        y = n.conv(x, 8, q=q(0.5, 122), mode=0)
        n.done(n.add(y, y, q=q(1.0, 122)), n.relu(y), y)
        n = Net(f"codes/{t}_from_floats_and_back")
        x = n.input((1, 7, 9, 8), -60, 60, step=0.25)
        y = n.conv(quantized(n, x, dtype, q(0.25, 120)), 9, act=1, q=q(0.5, 30), mode=0)
        n.done(n.add(floats(n, y), n.const((9,))), y)


CODE, FLOAT = 32, 43


def floats(n, y):
    """The reals of codes as floats."""
    return n.op("QUANT_DTYPE_CAST", [y], y.real, ("SRC_T", "int64", [CODE]), ("DST_T", "int64", [FLOAT]), dtype=F32)


def quantized(n, y, dtype, q):
    """The codes of floats, halves away from zero."""
    return n.op("QUANT_DTYPE_CAST", [y], y.real, ("SRC_T", "int64", [FLOAT]), ("DST_T", "int64", [CODE]), dtype=dtype, q=q)


def floats_between_codes():
    """Operators on floats between casts from codes and to codes, which a device may compute as codes. Filters are such that
    no algorithm rounds on the way: halves are frequent."""
    for dtype in (I8, U8):
        low, t = np.iinfo(dtype).min, str(np.dtype(dtype))
        q = lambda scale, zero: Q(scale, low + zero)
        for c, name in ((8, ""), (33, "_33")):
            def start(kind, shape=(2, 7, 9, c)):
                n = Net(f"casts/{t}_{kind}{name}")
                x = n.input(shape, low, low + 255, dtype, q(0.25, 120))
                return n, x, floats(n, x)
            def weights(n, shape):
                return floats(n, n.const(shape, low + 125, low + 131, dtype, q(0.25, 128)))
            for act in (0, 1, 2):
                out = q(0.5 if act < 2 else 0.125, 122 if act == 0 else 30)
                for kind, k, o in (("conv", (2, 3), {"mode": 0}), ("pointwise", (1, 1), {}), ("strided", (3, 3), {"strides": (2, 2), "pads": (1, 1, 0, 1)})):
                    n, x, f = start(f"{kind}_{act}")
                    n.done(quantized(n, n.conv(f, 9, k, act=act, w=weights(n, (9, *k, c)), **o), dtype, out))
                n, x, f = start(f"depthwise_{act}")
                n.done(quantized(n, n.conv(f, c, kind=DEPTH, act=act, w=weights(n, (c, 3, 3, 1)), mode=0), dtype, out))
                n, x, f = start(f"matmul_{act}", (5, c))
                n.done(quantized(n, n.matmul(f, weights(n, (c, 19)), act=act), dtype, out))
            n, x, f = start("residual")
            y = n.add(n.conv(f, c, (2, 3), w=weights(n, (c, 2, 3, c)), mode=0), f, 1)
            n.done(quantized(n, y, dtype, q(1.0, 20)))
            n, x, f = start("chain")
            y = quantized(n, n.conv(f, 9, (2, 3), act=1, w=weights(n, (9, 2, 3, c)), mode=0), dtype, q(0.5, 20))
            g = floats(n, y)
            n.done(quantized(n, n.conv(n.pool("MAX_POOL", g, (2, 2), (2, 2)), 5, w=weights(n, (5, 2, 2, 9)), k=(2, 2)), dtype, q(2.0, 128)), y)
            n, x, f = start("elements")
            n.done(quantized(n, n.relu(f), dtype, q(0.5, 30)), quantized(n, n.neg(f), dtype, q(0.5, 125)), quantized(n, n.add(f, f), dtype, q(1.0, 99)))
            n, x, f = start("pad")
            n.done(quantized(n, n.conv(n.pad(f, [(0, 0), (1, 2), (0, 1), (0, 0)]), 6, (3, 2), w=weights(n, (6, 3, 2, c))), dtype, q(1.0, 140)))
            n, x, f = start("again")  # another scale, without anything between
            n.done(quantized(n, f, dtype, q(0.5, 99)))


def parts():
    """Functions spelled out in simpler operations, and what only looks like them."""
    from elementwise import erf, sigmoid
    def mean(n, x, axes):
        return n.op("REDUCE_MEAN", [x, n.value(np.array(axes, I32), I32)], x.real.mean(axis=tuple(axes), keepdims=True), ("KEEP_DIMS", "bool", [1]))
    def norm(n, x, axes=(-1,), other=False):
        d = n.binary("SUB", x, mean(n, x, axes))
        e = n.binary("SUB", x, n.const(x.shape[-1:], -0.5, 0.5)) if other else d
        v = mean(n, n.unary("SQUARE", e, np.square), axes)
        s = n.unary("SQRT", n.add(v, n.value([0.01])), np.sqrt)
        return n.add(n.binary("MUL", n.binary("DIV", d, s), n.const(x.shape[-1:], 0.5, 2)), n.const(x.shape[-1:], -1, 1))
    def attention(n, x, mask=False, scale=True, axis=-1):
        q, k, v = (n.matmul(x, n.const((16, 16), -0.25, 0.25)) for _ in range(3))
        s = n.matmul(q, k, tb=True)
        s = n.binary("MUL", s, n.value([0.25])) if scale else s
        s = n.add(s, n.const((9, 9), -3, 3)) if mask else s
        e = np.exp(s.real - s.real.max(axis=axis, keepdims=True))
        return n.add(x, n.matmul(n.op("SOFTMAX", [s], e / e.sum(axis=axis, keepdims=True), ("AXIS", "int64", [axis])), v))
    sig = lambda n, x: n.unary("SIGMOID", x, sigmoid)
    nets = {
        "layer_norm": lambda n, x: norm(n, x), "layer_norm_of_rows": lambda n, x: norm(n, x, (1,)), "layer_norm_of_two": lambda n, x: norm(n, x, (1, 2)), "not_a_layer_norm": lambda n, x: norm(n, x, other=True),
        "attention": lambda n, x: attention(n, x), "attention_masked": lambda n, x: attention(n, x, mask=True), "attention_unscaled": lambda n, x: attention(n, x, scale=False), "attention_over_queries": lambda n, x: attention(n, x, axis=1),
        "swish": lambda n, x: n.binary("MUL", x, sig(n, x)), "swish_turned": lambda n, x: n.binary("MUL", sig(n, x), x), "not_a_swish": lambda n, x: n.binary("MUL", x, sig(n, n.neg(x))), "gate": lambda n, x: n.binary("MUL", n.input(x.shape, -1, 1), sig(n, x)),
        "gelu": lambda n, x: n.binary("MUL", n.binary("MUL", x, n.value([0.5])), n.add(n.unary("ERF", n.binary("MUL", x, n.value([np.sqrt(0.5)])), erf), n.value([1.0]))),
        "not_a_gelu": lambda n, x: n.binary("MUL", n.binary("MUL", x, n.value([0.5])), n.add(n.unary("ERF", n.binary("MUL", x, n.value([0.9])), erf), n.value([1.0]))),
        "hard_swish": lambda n, x: n.binary("MUL", x, n.binary("MUL", n.relu6(n.add(x, n.value([3.0]))), n.value([1 / 6]))), "not_a_hard_swish": lambda n, x: n.binary("MUL", x, n.binary("MUL", n.relu6(n.add(x, n.value([2.0]))), n.value([1 / 6]))),
        "swish_of_convolution": lambda n, x: (lambda y: n.binary("MUL", y, sig(n, y)))(n.conv(n.reshape(x, (2, 9, 4, 4)), 6, mode=0)), "sigmoid_of_residual": lambda n, x: (lambda y: sig(n, n.add(y, n.conv(y, 4, mode=0))))(n.reshape(x, (2, 9, 4, 4))),
        "tanh_of_product": lambda n, x: n.unary("TANH", n.add(n.matmul(x, n.const((16, 18), -0.3, 0.3)), n.const((18,))), np.tanh),
    }
    for name, f in nets.items():
        n = Net(f"parts/{name}", exact=False)
        y = f(n, n.input((2, 9, 16), -2, 2))
        n.done(y, rel=1e-4, abs=1e-4, why="several float32 operations, each of which rounds, stand behind one another")


def walks():
    """Random walks over the operators on images: 6 to 26 operations, whose values stay small and exact."""
    for seed in range(48):
        g = np.random.default_rng(1000 + seed)
        pick = lambda *v: v[int(g.integers(len(v)))]
        n = Net(f"walks/{seed}")
        x = n.input((pick(1, 2), int(g.integers(6, 20)), int(g.integers(5, 18)), pick(3, 8, 17, 32, 35)))
        values, used = [x], set()

        def grid(v):
            return next((2.0**-i for i in range(9) if (v.real * 2**i == np.round(v.real * 2**i)).all()), 0)

        def conv(v):
            kind = pick("CONV2D", "CONV2D", DEPTH)
            k = pick((1, 1), (3, 3), (3, 3), (2, 3), (5, 1))
            if v.shape[1] < 6 or v.shape[2] < 6:
                k = (1, 1)
            o = pick({"mode": 0}, {"mode": 1}, {"pads": (1, 0, 0, 1)}, {"mode": 0, "strides": (2, 1)}, {"pads": (1, 1, 1, 1), "strides": (2, 2)}, {"pads": (2, 1, 1, 2), "dil": (2, 1)})
            return n.conv(v, pick(5, 8, 16, 33), k, pick(0, 0, 1, 2), kind=kind, **o)

        def pad(v):
            return n.pad(v, [(0, 0), (pick(0, 1), pick(1, 2)), (pick(0, 2), 1), (0, pick(0, 0, 0, 1))], pick(0.0, 0.0, 2.0, -1.0))

        def pool(v):
            if v.shape[1] < 5 or v.shape[2] < 5:
                raise ValueError
            return n.pool("MAX_POOL", v, pick((2, 2), (3, 2), (3, 3)), pick((1, 1), (2, 2), (2, 1)), **pick({"mode": 0}, {"mode": 1}, {"pads": (1, 0, 1, 0)}))

        def binary(v):
            others = [w for w in values if w.shape == v.shape]
            w = pick(*others, n.const(v.shape[-1:]), n.const((v.shape[2], 1)))
            a, b = (v, w) if pick(True, False) else (w, v)
            return n.binary(pick("ADD", "ADD", "SUB", "MAXIMUM", "MINIMUM"), a, b) if pick(0, 1) else n.add(a, b, pick(0, 1, 2))

        def concat(v):
            axis = pick(1, 2, 3, 3)
            others = [w for w in values if all(p == q or i == axis for i, (p, q) in enumerate(zip(w.shape, v.shape)))]
            return n.concat([v, *(pick(*others) for _ in range(pick(1, 2)))], axis)

        def cut(v):
            return n.slice(v, (0, pick(0, 1), 1, 0), (v.shape[0], v.shape[1] - 2, v.shape[2] - 1, v.shape[3] - pick(0, 1)))

        def turn(v):
            perm = pick((0, 2, 1, 3), (0, 3, 1, 2), (0, 2, 3, 1))
            return n.transpose(v, perm)

        def unary(v):
            return pick(n.relu, n.relu6, n.neg, n.abs, n.bias, n.prelu, n.norm, n.scale, n.leaky)(v)

        target = int(g.integers(6, 27))
        while len(n.ops) < target:
            v = pick(*values[-4:], values[-1])
            try:
                marks = len(n.tensors), len(n.ops)
                y = pick(conv, conv, conv, pad, pool, binary, binary, binary, concat, cut, turn, unary, unary, unary)(v)
                if y.real.size > 40000 or min(y.shape) < 1 or grid(y) < 1 / 16 or np.unique(y.real).size < 3:
                    raise ValueError
            except ValueError:
                del n.tensors[marks[0]:], n.ops[marks[1]:]
                continue
            if np.abs(y.real).max() > 300:
                y = n.clip(y, -40.0, 37.0)
            for o in n.ops[marks[1]:]:
                used.update(o["in"])
            values.append(y)
        last = [v for v in values if v.i not in used and v.i != x.i]
        if seed % 4 == 0 and len(values) > 5:
            last += [v for v in values[2:5] if v not in last]  # read, and outputs as well
        n.done(*last)


if __name__ == "__main__":
    for make in (padding, endings, values, branches, views, constants, codes, floats_between_codes, parts, walks):
        make()
    print(f"{write(sys.argv[1])} networks")
