"""Pairs of parameters of operators that move data. NumPy's own indexing, padding and joining is what they are compared with."""

import numpy as np

from case import BOOL, F32, F64, I8, I32, I64, Q, T, const, param
from pairs import PAIRS, all_pairs
from pairs_others import NO, SHAPES, known
from pattern import Exact, ints

Q8 = Q(0.25, 3)


def data(name, shape, dtype, quantized=True, dyn=()):
    if dtype == I8:
        return ints(name, shape, -128, 127, I8, q=Q8 if quantized else None, dyn=dyn)
    return ints(name, shape, -9999, 9999, dtype, dyn=dyn)


def same(x, y):
    return Exact(y, x.value.dtype, x.q)


def strided(begin, end, strides, bm, em, ellipsis, new, shrink):
    """The index of NumPy that is TensorFlow's strided slice."""
    out = []
    for i, (b, e, s) in enumerate(zip(begin, end, strides)):
        if ellipsis >> i & 1:
            out.append(Ellipsis)
        elif new >> i & 1:
            out.append(None)
        elif shrink >> i & 1:
            out.append(b)
        else:
            out.append(slice(None if bm >> i & 1 else b, None if em >> i & 1 else e, s))
    return tuple(out)


for name, c in all_pairs("strided", {"begin": [(0, 1, 0), (-1, -2, 3), (4, 0, -1), (2, 9, 9), (-9, 1, 2)], "end": [(5, 5, 4), (-1, 9, -9), (0, -1, 1), (-9, -9, -9), (3, 4, 2)], "strides": [(1, 1, 1), (2, 1, 3), (-1, -1, -1), (-2, 1, -1), (1, -3, 2)],
                                     "bm": [NO, 0, 1, 2, 5, 7], "em": [NO, 0, 1, 2, 6, 7], "ellipsis": [NO, 0, 1, 2, 4], "new": [NO, 0, 1, 2, 4], "shrink": [NO, 0, 1, 2, 4], "entries": [3, 2, 1], "known": [True, False], "dtype": [F32, I8, I32], "index": [I32, I64]},
                         lambda begin, bm, strides, ellipsis, new, shrink, entries, **_: ((bm or 0) & (shrink or 0)) == 0 and ((ellipsis or 0) & ((new or 0) | (shrink or 0))) == 0 and ((new or 0) & (shrink or 0)) == 0
                         and max(ellipsis or 0, new or 0, shrink or 0) < 1 << entries and all(strides[i] > 0 for i in range(3) if (shrink or 0) >> i & 1)):
    n = c["entries"]
    x = data("strided" + name, (6, 5, 4) if not c["ellipsis"] else (6, 5, 4, 3), c["dtype"], c["dtype"] == I8)
    spec = [c[k][:n] for k in ("begin", "end", "strides")]
    masks = [c[k] or 0 for k in ("bm", "em", "ellipsis", "new", "shrink")]
    try:
        y = x.value[strided(*spec, *masks)]
    except IndexError:  # a single index beyond its dimension
        continue
    if y.size < 2 or y.ndim == 0 or np.unique(y).size < 2 or y.shape == x.value.shape and (y == x.value).all():
        continue
    ps = [param(f"STRIDED_SLICE_{k}_MASK", c[v], I64) for k, v in (("BEGIN", "bm"), ("END", "em"), ("ELLIPSIS", "ellipsis"), ("NEW_AXIS", "new"), ("SHRINK_AXIS", "shrink")) if c[v] is not NO]
    PAIRS.case("STRIDED_SLICE", name, [x] + [known(c["known"], np.array(v, c["index"])) for v in spec], [same(x, y)], ps)

PADS = {2: [[1, 0], [2, 3]], 3: [[0, 1], [2, 0], [1, 3]], 4: [[0, 0], [1, 2], [3, 1], [0, 2]], 1: [[2, 4]]}
for name, c in all_pairs("pad", {"rank": [1, 2, 3, 4], "mode": [NO, 0, 1, 2], "value": [NO, 0.0, 2.25, -3.5], "known": [True, False], "index": [I32, I64], "dtype": [F32, I8], "open": [False, True]}):
    pads = np.array(PADS[c["rank"]], c["index"])
    shape = {1: (7,), 2: (5, 6), 3: (3, 5, 4), 4: (2, 4, 5, 4)}[c["rank"]]
    x = data("pad" + name, shape, c["dtype"], dyn=(0,) if c["open"] else ())
    fill = c["value"] or 0.0
    fill = Q8.quantize(fill, I8) if c["dtype"] == I8 else fill
    y = np.pad(x.value, pads, mode="constant", constant_values=fill) if not c["mode"] else np.pad(x.value, pads, mode=("", "reflect", "symmetric")[c["mode"]])
    ps = ([] if c["value"] is NO else [param("PAD_CONSTANT_VALUE", c["value"], F32)]) + ([] if c["mode"] is NO else [param("PAD_PADDING_MODE", c["mode"], I32)])
    PAIRS.case("PAD", name, [x, known(c["known"], pads)], [Exact(y, c["dtype"], x.q, dyn=(0,) if c["open"] else ())], ps)

for name, c in all_pairs("gather", {"rank": [1, 2, 3, 4], "axis": [0, 1, 2, -1, -2], "idx": [(1,), (5,), (2, 3), (2, 1, 3)], "known": [True, False], "axis_known": [True, False], "index": [I32, I64], "dtype": [F32, I8, I32]}, lambda rank, axis, **_: -rank <= axis < rank):
    x, axis = data("gather" + name, SHAPES[c["rank"]], c["dtype"]), c["axis"]
    idx = ints("gathi" + name, c["idx"], 0, x.value.shape[axis] - 1, c["index"], const=c["known"])
    y = x.value.take(idx.value, axis)
    if np.unique(y).size > 1 or y.size == 1:
        PAIRS.case("GATHER", name, [x, idx, known(c["axis_known"], np.array([axis], c["index"]))], [same(x, y)])
for op in ("CONCAT", "STACK"):
    for name, c in all_pairs(op, {"rank": [1, 2, 3, 4], "axis": [NO, 0, 1, 2, 3, -1, -2, -3], "count": [2, 3, 5], "const": [NO, 0, 1], "dtype": [F32, I8, I32], "open": [False, True]},
                             lambda rank, axis, **_: axis is NO or (-rank <= axis < rank if op == "CONCAT" else -rank - 1 <= axis <= rank)):
        axis = c["axis"] or 0
        shapes = [tuple(n + (k if op == "CONCAT" and d == axis % c["rank"] else 0) for d, n in enumerate(SHAPES[c["rank"]])) for k in range(c["count"])]
        xs = [data(f"{op}{name}{k}", s, c["dtype"], dyn=(0,) if c["open"] and k != c["const"] else ()) for k, s in enumerate(shapes)]
        if c["const"] is not NO:
            xs[c["const"]].const = True
        y = (np.concatenate if op == "CONCAT" else np.stack)([x.value for x in xs], axis)
        PAIRS.case(op, name, xs, [Exact(y, c["dtype"], xs[0].q, dyn=range(y.ndim) if c["open"] else ())], [] if c["axis"] is NO else [param(op + "_AXIS", c["axis"], I64)])
for name, c in all_pairs("split", {"rank": [1, 2, 3], "axis": [NO, 0, 1, 2, -1, -2], "sizes": [NO, (1, 3, 2), (2, -1, 1), (4, 2)], "num": [NO, 0, 3, 2], "dtype": [F32, I8]},
                         lambda rank, axis, sizes, num, **_: (axis is NO or -rank <= axis < rank) and (sizes is NO or num in (NO, 0, len(sizes)))):
    axis, n = c["axis"] or 0, len(c["sizes"] or ()) or c["num"] or 2
    shape = tuple(6 if d == axis % c["rank"] else m for d, m in enumerate((3, 5, 4)[:c["rank"]]))
    x = data("split" + name, shape, c["dtype"])
    sizes = [6 // n] * n if c["sizes"] is NO else list(c["sizes"])
    if -1 in sizes:
        sizes[sizes.index(-1)] = 6 - sum(sizes) - 1
    ys = np.split(x.value, np.cumsum(sizes)[:-1], axis)
    ps = [param("SPLIT_" + k, c[v], I64) for k, v in (("AXIS", "axis"), ("OUTPUT_NUM", "num"), ("SIZE_SPLITS", "sizes")) if c[v] is not NO]
    PAIRS.case("SPLIT", name, [x], [same(x, y) for y in ys], ps)

for name, c in all_pairs("tile", {"rank": [1, 2, 3], "times": [(2,), (3, 2), (2, 1, 3), (2, 2, 1, 2)], "dims": [NO, "same", "reversed"], "known": [True, False], "dtype": [F32, I8]}, lambda rank, times, dims, **_: dims is NO and len(times) >= rank or dims is not NO and len(times) <= rank):
    x, n = data("tile" + name, SHAPES[c["rank"]], c["dtype"]), len(c["times"])
    at = [] if c["dims"] is NO else list(range(n))[:: -1 if c["dims"] == "reversed" else 1]
    times = list(c["times"]) if c["dims"] is NO else [c["times"][at.index(d)] if d in at else 1 for d in range(c["rank"])]
    PAIRS.case("TILE", name, [x, known(c["known"], np.array(c["times"], I32))], [same(x, np.tile(x.value, times))], [] if c["dims"] is NO else [param("TILE_DIMS", at, I64)])
for name, c in all_pairs("b2s", {"block": [(2, 2), (2, 3), (3, 1)], "crops": [((0, 0), (0, 0)), ((1, 0), (0, 2)), ((0, 2), (1, 1))], "n": [1, 2], "c": [1, 3], "dtype": [F32, I8]}):
    (bh, bw), ((t, b), (left, r)) = c["block"], c["crops"]
    x = data("b2s" + name, (c["n"] * bh * bw, 3, 4, c["c"]), c["dtype"])
    y = x.value.reshape(bh, bw, c["n"], 3, 4, c["c"]).transpose(2, 3, 0, 4, 1, 5).reshape(c["n"], 3 * bh, 4 * bw, c["c"])[:, t:3 * bh - b, left:4 * bw - r]
    PAIRS.case("BATCH_TO_SPACE_ND", name, [x], [same(x, y)], [param("BATCH_TO_SPACE_ND_BLOCKSIZE", c["block"], I64), param("BATCH_TO_SPACE_ND_CROPS", c["crops"], I64)])
    x = data("s2b" + name, (c["n"], 3 * bh - t - b + (bh if t + b > 3 * bh - 2 else 0), 4 * bw - left - r, c["c"]), c["dtype"])
    p = np.pad(x.value, [(0, 0), (t, b), (left, r), (0, 0)], constant_values=Q8.zero[0] if x.q else 0)
    hh, ww = p.shape[1] // bh, p.shape[2] // bw
    y = p.reshape(c["n"], hh, bh, ww, bw, c["c"]).transpose(2, 4, 0, 1, 3, 5).reshape(c["n"] * bh * bw, hh, ww, c["c"])
    PAIRS.case("SPACE_TO_BATCH_ND", name, [x], [same(x, y)], [param("SPACE_TO_BATCH_ND_BLOCK_SHAPE", c["block"], I64), param("SPACE_TO_BATCH_ND_PADDINGS", c["crops"], I64)])
for name, c in all_pairs("d2s", {"b": [2, 3], "mode": [NO, 0, 1], "n": [1, 2], "c": [1, 2, 5], "dtype": [F32, I8]}):
    b, m = c["b"], c["c"]
    x = data("d2s" + name, (c["n"], 3, 5, b * b * m), c["dtype"])
    v = x.value.reshape(c["n"], 3, 5, b, b, m).transpose(0, 1, 3, 2, 4, 5) if not c["mode"] else x.value.reshape(c["n"], 3, 5, m, b, b).transpose(0, 1, 4, 2, 5, 3)
    PAIRS.case("DEPTH_TO_SPACE", name, [x], [same(x, v.reshape(c["n"], 3 * b, 5 * b, m))], [param("DEPTH_TO_SPACE_BLOCK_SIZE", b, I64)] + ([] if c["mode"] is NO else [param("DEPTH_TO_SPACE_MODE", c["mode"], I32)]))
    x = data("s2d" + name, (c["n"], 3 * b, 5 * b, m), c["dtype"])
    PAIRS.case("SPACE_TO_DEPTH", name, [x], [same(x, x.value.reshape(c["n"], 3, b, 5, b, m).transpose(0, 1, 3, 2, 4, 5).reshape(c["n"], 3, 5, b * b * m))], [param("SPACE_TO_DEPTH_BLOCK_SIZE", b, I64)]) if c["mode"] is NO else None
for name, c in all_pairs("onehot", {"rank": [1, 2, 3], "axis": [NO, -1, 0, 1, 2, -2], "depth": [1, 4, 9], "index": [I32, I64], "dtype": [F32, I32]}, lambda rank, axis, **_: axis is NO or -rank - 1 <= axis <= rank):
    idx, axis = ints("onehot" + name, SHAPES[c["rank"]], -1, 4, c["index"]), -1 if c["axis"] is NO else c["axis"]
    y = np.moveaxis(np.where(idx.value[..., None] == np.arange(c["depth"]), 7, -2), -1, axis)
    PAIRS.case("ONE_HOT", name, [idx] + [const(np.array(v, d)) for v, d in ((c["depth"], I32), (7, c["dtype"]), (-2, c["dtype"]))], [Exact(y, c["dtype"])], [] if c["axis"] is NO else [param("ONE_HOT_AXIS", c["axis"], I64)]) if np.unique(y).size > 1 else None
for name, c in all_pairs("crop", {"rank": [2, 3, 4], "axis": [NO, 0, 1, 2, -1, -2], "offset": [NO, "one", "each"], "dtype": [F32, I8]}, lambda rank, axis, **_: axis is NO or -rank <= axis < rank):
    shape = tuple(n + 2 for n in SHAPES[c["rank"]])
    axis = (c["axis"] or 0) % c["rank"]
    offs = {"one": [1], "each": [(d + 1) % 3 for d in range(c["rank"] - axis)], NO: NO}[c["offset"]]
    full = [0] * axis + ([0] * (c["rank"] - axis) if offs is NO else offs * (c["rank"] - axis) if len(offs) == 1 else offs)
    to = tuple(n if d < axis else n - 2 for d, n in enumerate(shape))
    x = data("crop" + name, shape, c["dtype"])
    y = x.value[tuple(slice(o, o + n) for o, n in zip(full, to))]
    ps = ([] if c["axis"] is NO else [param("CROP_AXIS", c["axis"], I64)]) + ([] if offs is NO else [param("CROP_OFFSET", offs, I64)])
    PAIRS.case("CROP", name, [x, const(np.array(to, I32))], [same(x, y)], ps)
for name, c in all_pairs("slice", {"rank": [1, 2, 3], "axes": [NO, [0], [1], [-1], [1, 0], [2, 0]], "rest": [False, True], "known": [True, False], "index": [I32, I64], "dtype": [F32, I8]}, lambda rank, axes, **_: axes is NO or all(-rank <= a < rank for a in axes)):
    x = data("slice" + name, SHAPES[c["rank"]], c["dtype"])
    axes = list(range(c["rank"])) if c["axes"] is NO else c["axes"]
    begin = [1] * len(axes)
    size = [-1 if c["rest"] and i == 0 else x.value.shape[a] - 2 for i, a in enumerate(axes)]
    idx = [slice(None)] * c["rank"]
    for a, b, s in zip(axes, begin, size):
        idx[a] = slice(b, None if s == -1 else b + s)
    y = x.value[tuple(idx)]
    if np.unique(y).size > 1:
        PAIRS.case("SLICE", name, [x, known(c["known"], np.array(begin, c["index"])), known(c["known"], np.array(size, c["index"]))], [same(x, y)], [] if c["axes"] is NO else [param("SLICE_AXES", c["axes"], I64)])
