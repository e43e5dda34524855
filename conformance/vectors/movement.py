#!/usr/bin/env python3
"""Writes backends/cpu/ref/testdata/movement/movement.json: expected results of the data-movement, detection, control-flow and signal operators.

The expectations come from NumPy, from the ONNX reference evaluator or from ONNX Runtime, never from this project's kernels.
Run from the repository root with: numpy==2.4.6 onnx==1.23.2 onnxruntime==1.31.1

A case: op (core/op name), attrs (its exported fields), in (null for an absent input), out, tol (relative and absolute bound, 0 exact),
retype (inputs whose values 0..7 may be stored in any element type: the result must follow), fail (kind of error instead of out).
"""
import json
import sys

import numpy as np

from movement_common import CASES, RNG, case, fail, i32, i64, onnx_run, scalar, small
from movement_selections import detections, selections, sequences, signals


def shapes():
    x = small(2, 3, 4)
    case("reshape", {}, [x, i64(4, -1)], x.reshape(4, -1))
    case("reshape", {"ZeroCopies": True}, [x, i32(0, 2, -1)], x.reshape(2, 2, 6))
    case("reshape", {}, [small(0, 3), i64(3, 0, 2)], np.zeros((3, 0, 2), np.int32))
    fail("reshape", {}, [x, i64(5, -1)], "shape")
    fail("reshape", {}, [x, i64(-1, -1)], "argument")
    fail("reshape", {}, [x, i64(2, 3)], "shape")
    fail("reshape", {}, [small(0, 3), i64(0, -1)], "shape", "a size beside 0 cannot be inferred")
    for perm in [(2, 0, 1), (0, 2, 1)]:
        case("transpose", {}, [x, i64(*perm)], x.transpose(perm))
    case("transpose", {}, [x], x.transpose())
    case("transpose", {}, [small(2, 0, 3), i32(1, 2, 0)], np.zeros((0, 3, 2), np.int32))
    fail("transpose", {}, [x, i64(0, 0, 1)], "argument")
    fail("transpose", {}, [x, i64(1, 0)], "shape")
    y, z = small(2, 1, 4), small(2, 2, 4)
    case("concat", {"Axis": 1}, [x, y, z], np.concatenate([x, y, z], 1), retype=(0, 1, 2))
    case("concat", {"Axis": -1}, [x, x], np.concatenate([x, x], -1), retype=(0, 1))
    case("concat", {"Axis": 0}, [small(0, 4), y[:, 0]], y[:, 0], retype=(0, 1))
    fail("concat", {"Axis": 0}, [x, y], "shape")
    fail("concat", {"Axis": 3}, [x, x], "argument")
    fail("concat", {"Axis": 0}, [x, x.astype(np.int64)], "type")
    w = small(5, 6)
    case("split", {"Axis": 1}, [w], np.split(w, 3, 1))
    case("split", {"Axis": -2}, [w, i64(1, 0, 4)], [w[:1], w[1:1], w[1:]])
    case("split", {"Axis": 0}, [w, i32(2, -1, 1)], [w[:2], w[2:4], w[4:]])
    case("split", {"Axis": 0, "Ragged": True}, [w], [w[:2], w[2:4], w[4:]])
    fail("split", {"Axis": 0}, [w, i64(2, 2)], "argument", "as many sizes as outputs")
    case("flatten", {"Axis": 1}, [x], x.reshape(2, 12))
    case("flatten", {"Axis": 0}, [x], x.reshape(1, 24))
    case("flatten", {"Axis": 3}, [x], x.reshape(24, 1))
    case("flatten", {"Axis": -1}, [x], x.reshape(6, 4))
    case("flatten", {}, [scalar(3, np.int32)], np.full((1, 1), 3, np.int32))
    fail("flatten", {"Axis": 4}, [x], "argument")
    s = small(1, 3, 1, 2)
    case("squeeze", {}, [s], s.squeeze())
    case("squeeze", {}, [s, np.zeros(0, np.int64)], s.squeeze())
    case("squeeze", {}, [s, i64(-2)], s.squeeze(-2))
    fail("squeeze", {}, [s, i64(1)], "shape")
    fail("squeeze", {}, [s, i64(4)], "argument")
    case("unsqueeze", {}, [x, i64(4, 0)], np.expand_dims(x, (4, 0)))
    case("unsqueeze", {}, [x, i64(-1, -4)], np.expand_dims(x, (-1, -4)))
    case("unsqueeze", {}, [scalar(2, np.int32), scalar(0, np.int32)], np.full(1, 2, np.int32))
    fail("unsqueeze", {}, [x, i64(1, 1)], "argument")
    fail("unsqueeze", {}, [x, i64(4)], "argument")
    e = small(3, 1)
    case("expand", {}, [e, i64(2, 1, 4)], np.broadcast_to(e, (2, 3, 4)))
    case("expand", {}, [e, i64(1)], e, note="the shape may be the smaller side")
    case("expand", {}, [e, i64(3, 0)], np.zeros((3, 0), np.int32))
    fail("expand", {}, [x, i64(5, 4)], "shape")
    fail("expand", {}, [e, i64(-1, 4)], "argument")
    fail("expand", {}, [e, i64(1 << 20, 3, 1 << 20)], "memory")
    t = small(2, 3)
    case("tile", {}, [t, i64(2, 3)], np.tile(t, (2, 3)))
    case("tile", {}, [t, i32(2)], np.tile(t, 2))
    case("tile", {}, [t, i64(2, 1, 2)], np.tile(t, (2, 1, 2)))
    case("tile", {}, [t, i64(0, 2)], np.tile(t, (0, 2)))
    fail("tile", {}, [t, i64(1, -1)], "argument")
    fail("tile", {}, [t, i64(1 << 40, 1 << 40)], "memory")
    fail("tile", {}, [t, i64(1 << 20, 1 << 20)], "memory")
    case("shape", {}, [x], i64(2, 3, 4), retype=())
    case("shape", {"Start": -2, "HasEnd": True, "End": -1, "To": 4}, [x], i32(3), retype=())
    case("shape", {"Start": 2, "HasEnd": True, "End": 1}, [x], np.zeros(0, np.int64), retype=())
    case("size", {}, [x], scalar(24), retype=())
    case("size", {"To": 4}, [small(0, 5)], scalar(0, np.int32), retype=())
    case("rank", {}, [x], scalar(3), retype=())
    case("fill", {}, [i64(2, 3), scalar(5, np.int32)], np.full((2, 3), 5, np.int32), retype=(1,))
    case("fill", {}, [np.zeros(0, np.int32), scalar(5, np.int32)], scalar(5, np.int32), retype=(1,))
    fail("fill", {}, [i64(2, -3), scalar(5, np.int32)], "argument")
    fail("fill", {}, [i64(1 << 31, 2), scalar(5, np.int32)], "memory")


def slices():
    x = small(5, 6, 3)
    big = np.iinfo(np.int64)
    case("slice", {}, [x, i64(1, -3), i64(4, big.max)], x[1:4, -3:])
    case("slice", {}, [x, i64(-1), i64(big.min), i64(1), i64(-2)], x[:, -1::-2])
    case("slice", {}, [x, i64(100, -100), i64(-100, 100), i64(-1, 0), i64(-1, 3)], x[-100:100:3, :, ::-1])
    case("slice", {}, [x, i32(3), i32(1)], x[3:1])
    case("slice", {}, [x, i64(0), i64(5), i64(0), i64(big.max)], x[:1])
    case("slice", {}, [x, i64(4), i64(big.min), i64(0), i64(big.min)], x[4:5])
    case("slice", {}, [small(0, 2), i64(-1), i64(-9), i64(0), i64(-1)], np.zeros((0, 2), np.int32))
    for start, end in [(-100, -200), (-6, -100), (3, -100)]:  # NumPy starts before the first index otherwise
        args = [x, i64(start), i64(end), i64(0), i64(-1)]
        case("slice", {}, args, onnx_run("Slice", {}, args, runtime=True)[0])
    fail("slice", {}, [x, i64(0), i64(2), i64(0), i64(0)], "argument")
    fail("slice", {}, [x, i64(0, 0), i64(2)], "argument")
    fail("slice", {}, [x, i64(0, 0), i64(2, 2), i64(1, -2)], "argument", "one axis twice")
    fail("slice", {}, [x, i64(0), i64(2), i64(3)], "argument")
    for mode, name in [(0, "constant"), (1, "reflect"), (2, "symmetric"), (3, "edge"), (4, "wrap")]:
        kw = {"constant_values": 6} if mode == 0 else {}
        for pads in [[(1, 2), (0, 1), (2, 2)], [(9, 12), (0, 0), (7, 5)]]:
            p = [b for b, _ in pads] + [e for _, e in pads]
            val = [scalar(6, np.int32)] if mode == 0 else []
            case("pad", {"Mode": mode}, [x, i64(*p)] + val, np.pad(x, pads, mode=name, **kw), retype=(0, 2) if val else (0,))
        c = x[1:, :, :2]
        case("pad", {"Mode": mode}, [x, i32(-1, 0, 2, 0, 2, -1), scalar(6, np.int32)], np.pad(c, [(0, 0), (0, 2), (2, 0)], mode=name, **kw),
             retype=(0, 2), note="negative pads cut first")
    case("pad", {}, [x, i64(2, 1), None, i64(-2)], np.pad(x, [(0, 0), (2, 1), (0, 0)]))
    case("pad", {}, [x, i64(2, 1), scalar(3.7, np.float32), i64(0)], np.pad(x, [(2, 1), (0, 0), (0, 0)], constant_values=3), retype=())
    case("pad", {}, [small(0, 2), i64(1, 0, 1, 0)], np.zeros((2, 2), np.int32))
    v = np.arange(3, dtype=np.int32)
    case("pad", {"Mode": 1, "ClampMirror": True}, [v, i64(4, 4)], i32(2, 2, 2, 1, 0, 1, 2, 1, 0, 0, 0), note="clamped at the other edge")
    case("pad", {"Mode": 2, "ClampMirror": True}, [v, i64(4, 4)], i32(2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0))
    case("pad", {"Mode": 1}, [i32(7), i64(2, 1)], i32(7, 7, 7, 7))
    fail("pad", {}, [x, i64(1, 1)], "shape")
    fail("pad", {"Mode": 3}, [small(0, 2), i64(1, 0, 1, 0)], "shape")
    fail("pad", {}, [x, i64(-3, 0, 0, -3, 0, 0)], "shape")
    fail("pad", {"Mode": 9}, [x, i64(0, 0, 0, 0, 0, 0)], "argument")
    fail("pad", {}, [i32(1), i64(1 << 40, 1 << 40)], "memory")


def gathers():
    x = small(4, 3, 2)
    idx = i64(3, 0, 3, 1)
    case("gather", {}, [x, idx], np.take(x, idx, 0))
    case("gather", {}, [x, i32(2, 0).reshape(1, 2), scalar(-2)], np.take(x, [[2, 0]], 1))
    case("gather", {"NegativeWraps": True}, [x, scalar(-1), scalar(2, np.int32)], x[:, :, -1])
    case("gather", {}, [x, np.zeros((0, 2), np.int64), scalar(1)], np.zeros((4, 0, 2, 2), np.int32))
    fail("gather", {}, [x, i64(-1)], "data")
    fail("gather", {"NegativeWraps": True}, [x, i64(4)], "data")
    fail("gather", {}, [x, i64(0), scalar(3)], "argument")
    fail("gather", {}, [scalar(3, np.int32), i64(0)], "shape")


def strided(x, note, index, begin, end, strides, **masks):
    case("strided_slice", masks, [x, i32(*begin), i32(*end), i32(*strides)], x[index], note=note)


def strided_slices():
    x = small(4, 5, 3)
    n = np.newaxis
    strided(x, "x[1:3]", np.s_[1:3], [1], [3], [1])
    strided(x, "x[::-2]", np.s_[::-2], [9], [9], [-2], BeginMask=1, EndMask=1)
    strided(x, "x[-100:100:3]", np.s_[-100:100:3], [-100], [100], [3])
    strided(x, "x[-100::-1]", np.s_[-100::-1], [-100], [0], [-1], EndMask=1)
    strided(x, "x[2:0:-1, 4:-6:-2]", np.s_[2:0:-1, 4:-6:-2], [2, 4], [0, -6], [-1, -2])
    strided(x, "x[3, 1:]", np.s_[3, 1:], [3, 1], [0, 0], [1, 1], ShrinkAxisMask=1, EndMask=2)
    strided(x, "x[..., -1]", np.s_[..., -1], [0, -1], [0, 0], [1, 1], EllipsisMask=1, ShrinkAxisMask=2)
    strided(x, "x[1, ..., 1:2]", np.s_[1, ..., 1:2], [1, 7, 1], [1, 7, 2], [1, 7, 1], EllipsisMask=2, ShrinkAxisMask=1)
    strided(x, "x[:, None, 1]", np.s_[:, n, 1], [0, 0, 1], [0, 0, 0], [1, 1, 1], BeginMask=1, EndMask=1, NewAxisMask=2, ShrinkAxisMask=6)
    strided(x, "x[None, ..., None]", np.s_[n, ..., n], [0, 0, 0], [0, 0, 0], [1, 1, 1], NewAxisMask=5, EllipsisMask=2)
    strided(x, "x[:, :, :, ...]", np.s_[:, :, :, ...], [0] * 4, [9] * 4, [1] * 4, EllipsisMask=8)
    strided(x, "x[3:1]", np.s_[3:1], [3], [1], [1])
    strided(x[1, 2], "x[1]", np.s_[1], [1], [2], [1], ShrinkAxisMask=1)
    v = scalar(1, np.int32)
    bad = lambda m, b, e, s, kind, note="": fail("strided_slice", m, [x, i32(*b), i32(*e), i32(*s)], kind, note)
    bad({}, [0], [1], [0], "argument")
    bad({"ShrinkAxisMask": 1}, [4], [5], [1], "argument", "index 4 of 4")
    bad({"ShrinkAxisMask": 1}, [1], [0], [-1], "argument")
    bad({"EllipsisMask": 3}, [0, 0], [1, 1], [1, 1], "argument")
    bad({}, [0] * 4, [1] * 4, [1] * 4, "shape")
    bad({}, [0, 0], [1], [1, 1], "argument")


def np_scatter(data, indices, updates, axis, f):
    y = data.copy()
    for idx in np.ndindex(indices.shape):
        to = list(idx)
        to[axis] = indices[idx]
        y[tuple(to)] = f(y[tuple(to)], updates[idx])
    return y


REDUCTIONS = {0: lambda a, b: b, 1: lambda a, b: a + b, 2: lambda a, b: a * b, 3: max, 4: min}


def elements():
    x = small(3, 4)
    idx = i64(2, 0, 0, 1, 1, 2).reshape(2, 3)
    case("gather_elements", {"Axis": 0}, [x, idx], np.take_along_axis(x[:, :3], idx, 0))
    case("gather_elements", {"Axis": -1, "NegativeWraps": True}, [x, (idx - 2).astype(np.int32)], np.take_along_axis(x[:2], idx - 2, 1))
    fail("gather_elements", {"Axis": 0}, [x, idx - 1], "data")
    fail("gather_elements", {"Axis": 0}, [x, idx.reshape(6)], "shape")
    fail("gather_elements", {"Axis": 1}, [x, np.zeros((4, 1), np.int64)], "shape")
    case("gather_elements", {"Axis": 0}, [x, np.zeros((0, 4), np.int64)], np.zeros((0, 4), np.int32))
    z = small(2, 3, 4)
    pos = i64(1, 2, 0, 0).reshape(2, 2)
    case("gather_nd", {}, [z, pos], z[pos[:, 0], pos[:, 1]])
    case("gather_nd", {}, [z, i32(1, 2, 3)], z[1, 2, 3])
    case("gather_nd", {"NegativeWraps": True}, [z, i64(-1).reshape(1, 1, 1)], z[-1:].reshape(1, 1, 3, 4))
    case("gather_nd", {"BatchDims": 1}, [z, i64(2, 0).reshape(2, 1)], np.stack([z[0, 2], z[1, 0]]))
    case("gather_nd", {"BatchDims": 1}, [z, i64(2, 3, 0, 1).reshape(2, 1, 2)], np.stack([z[0, 2, 3:], z[1, 0, 1:2]]))
    case("gather_nd", {}, [z, np.zeros((2, 0), np.int64)], np.stack([z, z]))
    fail("gather_nd", {}, [z, i64(2)], "data")
    fail("gather_nd", {}, [z, i64(0, 0, 0, 0)], "shape")
    fail("gather_nd", {"BatchDims": 1}, [z, i64(0, 0, 0).reshape(3, 1)], "shape")
    fail("gather_nd", {}, [z, scalar(0)], "shape")
    data, up = small(3, 4), small(2, 3)
    for r, f in REDUCTIONS.items():
        dup = i64(1, 0, 2, 1, 0, 2).reshape(2, 3)
        case("scatter_elements", {"Axis": 0, "Reduction": r}, [data, dup, up], np_scatter(data, dup, up, 0, f), retype=(0, 2) if r == 0 else ())
        fd, fu = RNG.standard_normal((3, 4)).astype(np.float32), RNG.standard_normal((2, 3)).astype(np.float32)
        same = i64(3, 3, 0, 1, 1, 1).reshape(2, 3)
        case("scatter_elements", {"Axis": 1, "Reduction": r, "NegativeWraps": True}, [fd, same - 4, fu], np_scatter(fd, same - 4, fu, 1, f), tol=1e-6, retype=())
        vec = i64(2, 0, 2).reshape(3, 1)
        rows = small(3, 4)
        want = data.copy()
        for i, k in enumerate(vec[:, 0]):
            want[k] = [f(a, b) for a, b in zip(want[k], rows[i])]
        case("scatter_nd", {"Reduction": r}, [data, vec, rows], want, retype=(0, 2) if r == 0 else ())
        pts = i32(2, 3, 0, 1, 2, 3).reshape(3, 2)
        vals = RNG.standard_normal(3).astype(np.float64)
        want = np.ones((3, 4))
        for k, u in zip(pts, vals):
            want[tuple(k)] = f(want[tuple(k)], u)
        case("scatter_nd", {"Reduction": r}, [np.ones((3, 4)), pts, vals], want, tol=1e-12, retype=())
    case("scatter_elements", {"Axis": 1, "Reduction": 1}, [np.array([[120, -120]], np.int8), i64(0, 1).reshape(1, 2), np.array([[10, -10]], np.int8)],
         np.array([[-126, 126]], np.int8), note="wraps", retype=())
    fail("scatter_elements", {"Axis": 0}, [data, idx + 1, up], "data")
    fail("scatter_elements", {"Axis": 0}, [data, idx, small(3, 2)], "shape")
    fail("scatter_elements", {"Axis": 0, "Reduction": 5}, [data, idx, up], "argument")
    fail("scatter_elements", {"Axis": 0, "Reduction": 1}, [data > 0, idx, up > 0], "type")
    fail("scatter_nd", {}, [data, i64(3).reshape(1, 1), small(1, 4)], "data")
    fail("scatter_nd", {}, [data, i64(1).reshape(1, 1), small(1, 3)], "shape")
    fail("scatter_nd", {}, [data, i64(1).reshape(1, 1), small(1, 4).astype(np.int64)], "type")


def makers():
    for a, b, d in [(0, 10, 3), (10, 0, -3), (5, 5, 1), (0, 5, -1)]:
        case("range", {}, [scalar(a), scalar(b), scalar(d)], np.arange(a, b, d), retype=())
        case("range", {}, [scalar(a, np.int16), scalar(b, np.int16), scalar(d, np.int16)], np.arange(a, b, d, dtype=np.int16), retype=())
    case("range", {}, [scalar(0.5, np.float32), scalar(-1.2, np.float32), scalar(-0.25, np.float32)], np.arange(0.5, np.float32(-1.2), -0.25, dtype=np.float32), retype=())
    for bad, kind in [((0, 1, 0), "argument"), ((0, 1 << 40, 1), "memory"), ((-1 << 63, (1 << 63) - 1, 1), "memory")]:
        fail("range", {}, [scalar(v) for v in bad], kind)
    k = i64(1, 5, -2, 0).reshape(2, 2)
    on, off = scalar(7, np.int32), scalar(2, np.int32)
    hot = lambda ids, depth, axis: np.moveaxis(np.where(ids[..., None] == np.arange(depth), on, off), -1, axis).astype(np.int32)
    case("one_hot", {"Axis": -1}, [k, scalar(4), on, off], hot(k, 4, -1), retype=(2, 3))
    case("one_hot", {"Axis": 1, "Outside": 1}, [k, scalar(4), on, off], hot(np.where((k >= -4) & (k < 0), k + 4, k), 4, 1), retype=(2, 3))
    case("one_hot", {"Axis": -3}, [k.astype(np.float32), i32(3), on, off], hot(k, 3, 0), retype=(2, 3))
    case("one_hot", {}, [k, scalar(0), on, off], np.zeros((0, 2, 2), np.int32), retype=(2, 3))
    fail("one_hot", {"Axis": 3}, [k, scalar(4), on, off], "argument")
    fail("one_hot", {}, [k, scalar(-1), on, off], "argument")
    fail("one_hot", {}, [k, scalar(1 << 40), on, off], "memory")
    e = np.zeros((3, 5), np.float32)
    case("eye_like", {}, [e], np.eye(3, 5, dtype=np.float32), retype=())
    case("eye_like", {"K": 2, "To": 5}, [e], np.eye(3, 5, 2, dtype=np.int64), retype=())
    case("eye_like", {"K": -1}, [e.astype(np.int8)], np.eye(3, 5, -1, dtype=np.int8), retype=())
    case("eye_like", {"K": 9}, [e], np.zeros((3, 5), np.float32), retype=())
    fail("eye_like", {}, [np.zeros(3, np.float32)], "shape")
    m = small(2, 3, 4)
    case("trilu", {"Upper": True}, [m], np.triu(m))
    case("trilu", {}, [m, scalar(-1)], np.tril(m, -1))
    case("trilu", {"Upper": True}, [m, i32(2)], np.triu(m, 2))
    case("trilu", {}, [m, scalar(100)], m)
    fail("trilu", {}, [i32(1)], "shape")


def blocks():
    x = small(2, 12, 2, 3)
    last = lambda a: np.moveaxis(a, 1, -1)
    for mode, name in enumerate(["DCR", "CRD"]):
        y = onnx_run("DepthToSpace", {"blocksize": 2, "mode": name}, [x])[0]
        case("depth_to_space", {"Block": 2, "Mode": mode}, [x], y)
        case("depth_to_space", {"Block": 2, "Mode": mode, "ChannelsLast": True}, [last(x)], last(y))
    fail("depth_to_space", {"Block": 5}, [x], "shape")
    fail("depth_to_space", {}, [x], "argument")
    fail("depth_to_space", {"Block": 2}, [x[0]], "shape")
    z = small(1, 2, 4, 6)
    y = onnx_run("SpaceToDepth", {"blocksize": 2}, [z])[0]
    case("space_to_depth", {"Block": 2}, [z], y)
    case("space_to_depth", {"Block": 2, "ChannelsLast": True}, [last(z)], last(y))
    fail("space_to_depth", {"Block": 4}, [z], "shape")
    h = small(2, 3, 4, 2)

    def space_to_batch(a, block, pads):  # by the definition: pad, cut into blocks, move the block offsets to the front
        a = np.pad(a, [(0, 0)] + pads + [(0, 0)] * (a.ndim - 1 - len(block)))
        n, rest = a.shape[0], a.shape[1 + len(block):]
        parts = []
        for off in np.ndindex(*block):
            parts.append(a[(slice(None),) + tuple(slice(o, None, b) for o, b in zip(off, block))])
        return np.concatenate(parts, 0)

    pads = [(1, 0), (2, 2)]
    y = space_to_batch(h, (2, 4), pads)
    case("space_to_batch", {"ChannelsLast": True}, [h, i64(2, 4), i64(1, 0, 2, 2).reshape(2, 2)], y)
    case("batch_to_space", {"ChannelsLast": True}, [y, i32(2, 4), i64(1, 0, 2, 2).reshape(2, 2)], h)
    first = lambda a: np.moveaxis(a, -1, 1)
    case("space_to_batch", {}, [first(h), i64(2, 4), i64(1, 0, 2, 2).reshape(2, 2)], first(y))
    case("batch_to_space", {}, [first(y), i64(2, 4), i64(1, 0, 2, 2).reshape(2, 2)], first(h))
    case("space_to_batch", {"ChannelsLast": True}, [h[:, :2], i32(1, 2)], space_to_batch(h[:, :2], (1, 2), [(0, 0), (0, 0)]))
    w = space_to_batch(h, (3,), [(0, 0)])
    case("space_to_batch", {"ChannelsLast": True}, [h, i64(3)], w)
    case("batch_to_space", {"ChannelsLast": True}, [w, i64(3)], h)
    case("space_to_batch", {"ChannelsLast": True, "Truncate": True}, [h, i64(2, 2)], space_to_batch(h[:, :2], (2, 2), [(0, 0), (0, 0)]), note="3 rows hold one block of 2")
    fail("space_to_batch", {"ChannelsLast": True}, [h, i64(2, 2)], "shape")
    fail("space_to_batch", {"ChannelsLast": True}, [h, i64(0, 2)], "argument")
    fail("space_to_batch", {}, [h, i64(1, 1, 1)], "shape")
    fail("space_to_batch", {"ChannelsLast": True}, [h, i64(1, 1), i64(-1, 0, 0, 0).reshape(2, 2)], "argument")
    fail("batch_to_space", {"ChannelsLast": True}, [h, i64(2, 2)], "shape", "2 images, 4 parts")
    fail("batch_to_space", {"ChannelsLast": True}, [h, i64(1, 2), i64(2, 2, 0, 0).reshape(2, 2)], "shape", "cropped to less than nothing")


GROUPS = [shapes, slices, gathers, strided_slices, elements, makers, blocks, sequences, selections, detections, signals]

if __name__ == "__main__":
    for g in GROUPS:
        g()
    path = sys.argv[1] if len(sys.argv) > 1 else "backends/cpu/ref/testdata/movement/movement.json"
    with open(path, "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in CASES) + "\n]\n")
    print(len(CASES), "cases")
