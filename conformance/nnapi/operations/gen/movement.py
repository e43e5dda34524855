"""Operations that move elements, or repeat and select them."""
import numpy as np

from case import FLOATS, STD, case, fails, flag, fx, given, i32, ints, like, none, out, unknown, value, x

FIVE = (1, 2, 3, 1, 2)
ALL = (*STD, "I32")


def name(t, *parts):
    return "_".join([t, *("x".join(map(str, p)) if isinstance(p, (tuple, list)) else str(p) for p in parts)])


def moved(op, label, a, rest, y, **flags):
    """A case whose result has elements of a."""
    case(op, label, [a, *rest], [like(a, y, **flags)], exact=True)


def shapes():
    for t in ALL:
        for dims, to, want in (((3, 4), (2, 6), (2, 6)), ((2, 3, 2), (4, -1), (4, 3)),
                               ((12,), (2, 1, 3, 2), (2, 1, 3, 2)),
                               ((2, 2, 3, 1), (-1,), (12,))):
            a = x(t, dims, -9, 9)
            moved("RESHAPE", name(t, dims, len(to)), a, [ints(*to)], a.value.reshape(want))
        a = x(t, (6,), -9, 9)
        case("RESHAPE", name(t, "computed"), [a, given("I32", [3, 2])], [like(a, a.value.reshape(3, 2), open=True)],
             exact=True)
    fails("RESHAPE", "F32_other_count", [x("F32", (2, 3)), ints(4, 2)], [unknown("F32", 2)])
    fails("RESHAPE", "F32_two_open", [x("F32", (2, 3)), ints(-1, -1)], [unknown("F32", 2)])
    for t in STD:
        for dims, axes in (((1, 3, 1, 2), None), ((1, 3, 1, 2), (0,)), ((1, 3, 1, 2), (-2,)), ((1, 5, 1), (2, 0, 2)),
                           ((1, 1), None), ((4, 1), (1,))):
            a = x(t, dims, -9, 9)
            at = tuple(i for i, n in enumerate(dims) if n == 1) if axes is None else tuple({k % len(dims)
                                                                                            for k in axes})
            y = a.value.squeeze(at).reshape([n for i, n in enumerate(dims) if i not in at] or [1])
            moved("SQUEEZE", name(t, dims, "all" if axes is None else axes), a,
                  [none("I32") if axes is None else ints(*axes)], y)
    fails("SQUEEZE", "F32_not_one", [x("F32", (1, 3)), ints(1)], [unknown("F32", 1)])
    for t in ALL:
        for dims, axis in (((5,), 0), ((5,), -1), ((2, 3), 2), ((2, 3), -3), ((2, 3, 2), 1), ((2, 1, 3, 2), -2)):
            a = x(t, dims, -9, 9)
            moved("EXPAND_DIMS", name(t, dims, axis), a, [i32(axis)], np.expand_dims(a.value, axis))
    fails("EXPAND_DIMS", "F32_beyond", [x("F32", (2, 3)), i32(3)], [unknown("F32", 3)])
    for t in STD:
        for dims, perm in (((3, 4), None), ((3, 4), (1, 0)), ((2, 3, 4), (2, 0, 1)), ((2, 3, 4), None),
                           ((2, 3, 2, 2), (0, 3, 1, 2)),
                           ((5,), (0,)), ((2, 1, 3, 2), (3, 2, 1, 0))):
            a = x(t, dims, -9, 9)
            moved("TRANSPOSE", name(t, dims, "reversed" if perm is None else perm), a,
                  [none("I32") if perm is None else ints(*perm)], np.transpose(a.value, perm))
        a = x(t, (0, 2, 3))
        moved("TRANSPOSE", name(t, "empty"), a, [ints(0, 2, 1)], a.value.transpose(0, 2, 1))
    fails("TRANSPOSE", "F32_twice", [x("F32", (2, 3)), ints(0, 0)], [unknown("F32", 2)])


def joints():
    for t in STD:
        for dims, axis in ((((2, 3), (4, 3)), 0), (((2, 3), (2, 1), (2, 2)), 1), (((2, 2, 3), (2, 1, 3)), 1),
                           (((4,), (3,)), 0),
                           (((1, 2, 2, 1), (1, 2, 2, 3)), 3), (((3, 2),), 0)):
            parts = [x(t, d, -9, 9) for d in dims]
            case("CONCATENATION", name(t, len(dims), len(dims[0]), axis), [*parts, i32(axis)],
                 [like(parts[0], np.concatenate([p.value for p in parts], axis))], exact=True)
        a, b = x(t, (2, 3)), x(t, (2, 2))
        case("CONCATENATION", name(t, "constant"), [a.open(), b.const(), i32(1)],
             [like(a, np.concatenate([a.value, b.value], 1), open=True)], exact=True)
        a, b = x(t, (0, 3)), x(t, (2, 3))
        case("CONCATENATION", name(t, "empty_part"), [a, b, i32(0)], [like(b, b.value)], exact=True)
        if t in ("Q8", "Q8S"):
            a, b = x(t, (2, 3), -9, 9, 0.1, 3), x(t, (3, 3), -9, 9, 0.03, 90)
            case("CONCATENATION", name(t, "scales"), [a, b, i32(0)], [out(t, np.concatenate([a.real(), b.real()]), 0.05,
                                                                          20)])
    fails("CONCATENATION", "F32_negative", [x("F32", (2, 3)), x("F32", (2, 3)), i32(-1)], [unknown("F32", 2)])
    fails("CONCATENATION", "F32_dims", [x("F32", (2, 3)), x("F32", (2, 4)), i32(0)], [unknown("F32", 2)])
    for t in ALL:
        for dims, axis, n in (((6,), 0, 3), ((4, 3), 0, 2), ((2, 6), -1, 3), ((2, 3, 4), 1, 3), ((1, 2, 2, 4), 3, 2),
                              ((2, 4, 1, 1, 2), -4, 4)):
            a = x(t, dims, -9, 9)
            case("SPLIT", name(t, dims, axis, n), [a, i32(axis), i32(n)],
                 [like(a, v) for v in np.split(a.value, n, axis)],
                 exact=True)
        for dims, axis, n in (((3,), 0, 2), ((3,), 1, 3), ((2, 3), 1, 2), ((2, 3), 2, 2), ((2, 1, 3), 3, 2),
                              ((2, 2, 1, 2), 0, 2)):
            parts = [x(t, dims, -9, 9) for _ in range(n)]
            case("PACK", name(t, dims, axis, n), [i32(axis), *parts], [like(parts[0],
                                                                            np.stack([p.value for p in parts], axis))],
                 exact=True)
        a, b = x(t, (3, 2), -9, 9), x(t, (3, 2), -9, 9)
        case("PACK", name(t, "constant"), [i32(1), a, b.const()], [like(a, np.stack([a.value, b.value], 1))],
             exact=True)
    fails("SPLIT", "F32_uneven", [x("F32", (5,)), i32(0), i32(2)], [unknown("F32", 1), unknown("F32", 1)])
    fails("PACK", "F32_dims", [i32(0), x("F32", (2, 3)), x("F32", (2, 2))], [unknown("F32", 3)])


def sections():
    for t in ALL:
        for dims, begin, size in (((7,), (2,), (4,)), ((4, 5), (1, 0), (2, -1)), ((3, 3, 2), (0, 1, 1), (-1, 2, 1)),
                                  ((2, 3, 2, 4), (1, 0, 0, 2), (1, 2, -1, 2)), ((1, 3, 2, 2, 2), (0, 1, 0, 0, 1),
                                                                                (1, 2, 2, 1, 1))):
            a = x(t, dims, -9, 9)
            y = a.value[tuple(slice(b, None if s < 0 else b + s) for b, s in zip(begin, size))]
            moved("SLICE", name(t, dims), a, [ints(*begin), ints(*size)], y)
        a = x(t, (4, 3), -9, 9)
        bare = x(t, (0, 3))
        moved("SLICE", name(t, "empty"), bare, [ints(0, 1), ints(0, 2)], bare.value[:, 1:])
        moved("SLICE", name(t, "nothing"), a, [ints(1, 0), ints(0, 3)], a.value[1:1])
        case("SLICE", name(t, "computed"), [a, given("I32", [1, 1]), given("I32", [2, 2])],
             [like(a, a.value[1:3, 1:3], open=True)], exact=True)
    fails("SLICE", "F32_beyond", [x("F32", (4, 3)), ints(1, 0), ints(4, 3)], [unknown("F32", 2)])
    fails("SLICE", "F32_negative", [x("F32", (4, 3)), ints(-1, 0), ints(1, 3)], [unknown("F32", 2)])
    for t in STD:
        for label, dims, index, args in (
                ("ends", (3, 4), (slice(1, 3), slice(0, 4, 2)), ((1, 0), (3, 4), (1, 2), 0, 0, 0)),
                ("back", (3, 5), (slice(None, None, -1), slice(3, 0, -2)), ((-1, 3), (-9, 0), (-1, -2), 0, 0, 0)),
                ("negative", (6,), (slice(-4, -1),), ((-4,), (-1,), (1,), 0, 0, 0)),
                ("clamped", (4, 3), (slice(0, 4), slice(1, 3)), ((-9, 1), (9, 99), (1, 1), 0, 0, 0)),
                ("masks", (3, 4), (slice(None, 2), slice(1, None)), ((2, 1), (2, 2), (1, 1), 1, 2, 0)),
                ("masks_back", (3, 4), (slice(None, 0, -1), slice(None, None, -2)),
                 ((0, 1), (0, 3), (-1, -2), 3, 2, 0)),
                ("shrink", (3, 4, 2), (1, slice(0, 3), slice(0, 2)), ((1, 0, 0), (2, 3, 2), (1, 1, 1), 0, 0, 1)),
                ("shrink_last", (2, 3, 2, 4), (slice(0, 2), slice(0, 3), slice(1, 2), -1),
                 ((0, 0, 1, -1), (2, 3, 2, 4), (1, 1, 1, 1), 0, 0, 8)),
                ("shrink_all", (3, 4), (slice(2, 3), 1), ((2, 1), (3, 2), (1, 1), 0, 0, 3))):
            a = x(t, dims, -9, 9)
            begin, end, stride, *masks = args
            y = a.value[index].reshape(-1) if label == "shrink_all" else a.value[index]
            moved("STRIDED_SLICE", name(t, label), a, [ints(*begin), ints(*end), ints(*stride), *map(i32, masks)], y)
    fails("STRIDED_SLICE", "F32_stride_0", [x("F32", (4,)), ints(0), ints(4), ints(0), i32(0), i32(0), i32(0)],
          [unknown("F32", 1)])
    fails("STRIDED_SLICE", "F32_shrink_two", [given("F32", [1, 2, 3, 4]), ints(1), ints(3), ints(1), i32(0), i32(0), i32(1)],
          [unknown("F32", 1)])
    for t in ALL:
        for dims, n in (((4,), (3,)), ((2, 3), (2, 1)), ((2, 3), (1, 3)), ((1, 2, 2), (3, 1, 2)),
                        ((1, 2, 1, 2), (2, 2, 2, 1)),
                        (FIVE, (1, 2, 1, 2, 1))):
            a = x(t, dims, -9, 9)
            moved("TILE", name(t, dims, n), a, [ints(*n)], np.tile(a.value, n))
        for dims, axis, at in (((5,), 0, (4, 0, 2)), ((3, 4), 1, (3, 3, 0)), ((3, 4), -2, ((2, 0), (1, 2))),
                               ((2, 3, 2), 1, (1,)),
                               ((2, 2, 1, 3), -1, (2, 0)), (FIVE, 2, (2, 1))):
            a, k = x(t, dims, -9, 9), np.array(at)
            moved("GATHER", name(t, dims, axis), a, [i32(axis), ints(*k.reshape(-1), dims=k.shape)],
                  np.take(a.value, k, axis))
        a, k = x(t, (4, 2), -9, 9), given("I32", [[3, 1], [0, 3]])
        moved("GATHER", name(t, "computed"), a, [i32(0), k], a.value[k.value])
    fails("GATHER", "F32_beyond", [x("F32", (3, 2)), i32(0), given("I32", [0, 3])], [unknown("F32", 2)])
    fails("GATHER", "F32_negative", [x("F32", (3, 2)), i32(0), given("I32", [-1])], [unknown("F32", 2)])


def lookups():
    for t in ALL:
        for dims, at in (((4, 3), (3, 0, 3)), ((3, 2, 2), (1,)), ((5, 2, 1, 2), (4, 2))):
            k, a = given("I32", at), x(t, dims, -9, 9)
            case("EMBEDDING_LOOKUP", name(t, dims), [k, a], [like(a, a.value[k.value])], exact=True)
            case("EMBEDDING_LOOKUP", name(t, dims, "constant"), [given("I32", at[::-1]), a.const()],
                 [like(a, a.value[list(at[::-1])])], exact=True)
    fails("EMBEDDING_LOOKUP", "F32_beyond", [given("I32", [0, 4]), x("F32", (4, 2))], [unknown("F32", 2)])
    fails("EMBEDDING_LOOKUP", "F32_negative", [given("I32", [-1, 0]), given("F32", [[1, 2], [3, 4]])], [unknown("F32", 2)])
    for t in ("F32", "I32", "Q8"):
        for dims, keys, at in (((4, 3), (-5, 0, 7, 1000), (7, 3, -5, 1000)), ((3, 2, 2), (1, 2, 3), (2, 0)),
                               ((5,), (2, 4, 6, 8, 10), (4, 5, 10)),
                               ((3, 1, 2, 2), (-9, -8, 30), (30, 31, -9))):
            k, q, a = given("I32", at), given("I32", keys), x(t, dims, 1, 9)
            hits = np.array([n in keys for n in at])
            rows = [a.value[keys.index(n)] if n in keys else np.zeros(dims[1:]) for n in at]
            outs = [like(a, np.array(rows)), given("Q8", hits, 1, 0)]
            case("HASHTABLE_LOOKUP", name(t, dims), [k, q, a], outs, exact=True)
            case("HASHTABLE_LOOKUP", name(t, dims, "constant"), [k, q.const(), a.const()], outs, exact=True)


def borders():
    table = [((5,), ((2, 1),)), ((2, 3), ((0, 1), (2, 0))), ((2, 2, 3), ((1, 0), (0, 0), (1, 2))),
             ((1, 2, 2, 2), ((0, 0), (1, 1), (0, 1), (0, 0)))]
    for t in STD:
        for dims, pads in table:
            a = x(t, dims, -9, 9)
            moved("PAD", name(t, dims), a, [ints(*np.ravel(pads), dims=(len(pads), 2))],
                  np.pad(a.value, pads, constant_values=a.zero))
            for v in (3, -2):
                a = x(t, dims, -9, 9)
                s = fx(t, v) if t in FLOATS else i32(v + 50)
                moved("PAD_V2", name(t, dims, v), a, [ints(*np.ravel(pads), dims=(len(pads), 2)), s],
                      np.pad(a.value, pads, constant_values=value(s)))
    fails("PAD", "F32_negative", [x("F32", (4,)), ints(-1, 0, dims=(1, 2))], [unknown("F32", 1)])
    a = given("F32", [[1, 2], [3, 4]])
    before = ints(1, 0, 2, 0, dims=(2, 2))  # the last element is one of the tensor
    moved("PAD", "F32_before", a, [before], np.pad(a.value, ((1, 0), (2, 0))))
    moved("PAD_V2", "F32_before", a, [before, fx("F32", 9)], np.pad(a.value, ((1, 0), (2, 0)), constant_values=9))
    for op, more in (("PAD_V2", fx("F32", 9)), ("MIRROR_PAD", i32(0))):
        fails(op, "F32_negative", [given("F32", [1, 2, 3, 4]), given("I32", [[-1, 0]]), more], [unknown("F32", 1)])
    for t in ALL:
        for mode, label, table in ((0, "reflect", [((4,), ((3, 2),)), ((3, 4), ((2, 1), (0, 3))),
                                                   ((2, 3, 2), ((1, 0), (2, 2), (0, 1)))]),
                                   (1, "symmetric", [((4,), ((4, 2),)), ((2, 3), ((2, 1), (0, 3))),
                                                     ((2, 1, 2, 2), ((1, 0), (1, 1), (0, 2), (0, 0)))])):
            for dims, pads in table:
                a = x(t, dims, -9, 9)
                moved("MIRROR_PAD", name(t, label, dims), a, [ints(*np.ravel(pads), dims=(len(pads), 2)), i32(mode)],
                      np.pad(a.value, pads, label))
        for dims, axis in (((7,), 0), ((3, 4), 0), ((3, 4), 1), ((2, 3, 2), 1), ((2, 1, 2, 3), 3), (FIVE, 2)):
            a = x(t, dims, -9, 9)
            moved("REVERSE", name(t, dims, axis), a, [ints(axis)], np.flip(a.value, axis))
    fails("MIRROR_PAD", "F32_wide", [x("F32", (3,)), ints(3, 0, dims=(1, 2)), i32(0)], [unknown("F32", 1)])
    fails("REVERSE", "F32_negative", [x("F32", (3, 2)), ints(-1)], [unknown("F32", 2)])


def blocks():
    for t in STD:
        for dims, groups, axis in (((6,), 2, 0), ((2, 6), 3, 1), ((4, 3), 2, 0), ((2, 6, 2), 2, -2),
                                   ((1, 2, 2, 8), 4, 3), ((1, 6, 2, 1), 3, -3)):
            a = x(t, dims, -9, 9)
            v = np.moveaxis(a.value, axis, 0)
            c = v.shape[0] // groups
            y = np.moveaxis(v.reshape(groups, c, *v.shape[1:]).swapaxes(0, 1).reshape(v.shape), 0, axis)
            moved("CHANNEL_SHUFFLE", name(t, dims, groups, axis), a, [i32(groups), i32(axis)], y)
        for dims, b in (((1, 2, 3, 4), 2), ((2, 1, 2, 9), 3), ((1, 2, 1, 8), 2)):
            for nchw in (None, False, True):
                a = x(t, dims, -9, 9)
                n, h, w, c = dims
                y = a.value.reshape(n, h, w, b, b, c // (b * b)).transpose(0, 1, 3, 2, 4, 5).reshape(n, h * b, w * b,
                                                                                                     c // (b * b))
                placed("DEPTH_TO_SPACE", name(t, dims), a, [i32(b)], y, nchw)
        for dims, b in (((1, 4, 2, 2), 2), ((2, 3, 3, 1), 3)):
            for nchw in (None, False, True):
                a = x(t, dims, -9, 9)
                n, h, w, c = dims
                y = a.value.reshape(n, h // b, b, w // b, b, c).transpose(0, 1, 3, 2, 4, 5).reshape(n, h // b, w // b,
                                                                                                    b * b * c)
                placed("SPACE_TO_DEPTH", name(t, dims), a, [i32(b)], y, nchw)
        for dims, (p, q) in (((4, 2, 1, 2), (2, 2)), ((6, 1, 2, 1), (2, 3)), ((6, 2, 1, 1), (3, 1))):
            for nchw in (None, False, True):
                a = x(t, dims, -9, 9)
                n, h, w, c = dims
                y = a.value.reshape(p, q, n // (p * q), h, w, c).transpose(2, 3, 0, 4, 1, 5).reshape(n // (p * q),
                                                                                                     h * p, w * q, c)
                placed("BATCH_TO_SPACE_ND", name(t, dims), a, [ints(p, q)], y, nchw)
        for dims, (p, q), pads in (((1, 4, 2, 2), (2, 2), ((0, 0), (0, 0))), ((2, 3, 2, 1), (2, 3), ((1, 0), (0, 1))),
                                   ((1, 2, 3, 2), (3, 1), ((0, 1), (2, 1)))):
            for nchw in (None, False, True):
                a = x(t, dims, -9, 9)
                v = np.pad(a.value, ((0, 0), *pads, (0, 0)), constant_values=a.zero)
                n, h, w, c = v.shape
                y = v.reshape(n, h // p, p, w // q, q, c).transpose(2, 4, 0, 1, 3, 5).reshape(p * q * n, h // p, w // q,
                                                                                              c)
                placed("SPACE_TO_BATCH_ND", name(t, dims), a, [ints(p, q), ints(*np.ravel(pads), dims=(2, 2))], y, nchw)
    fails("DEPTH_TO_SPACE", "F32_uneven", [x("F32", (1, 2, 2, 6)), i32(2)], [unknown("F32", 4)])
    fails("SPACE_TO_DEPTH", "F32_uneven", [x("F32", (1, 3, 2, 1)), i32(2)], [unknown("F32", 4)])
    fails("BATCH_TO_SPACE_ND", "F32_uneven", [x("F32", (3, 2, 2, 1)), ints(2, 2)], [unknown("F32", 4)])
    fails("SPACE_TO_BATCH_ND", "F32_uneven", [x("F32", (1, 3, 2, 1)), ints(2, 2), ints(0, 0, 0, 0, dims=(2, 2))],
          [unknown("F32", 4)])


def placed(op, label, a, rest, y, nchw):
    """A case of an image in either layout; nchw None: without the flag."""
    if nchw:
        a = type(a)(a.type, np.moveaxis(a.value, 3, 1), a.scale, a.zero)
        y = np.moveaxis(y, 3, 1)
    more = [] if nchw is None else [flag(nchw)]
    moved(op, label + {None: "", False: "_nhwc", True: "_nchw"}[nchw], a, [*rest, *more], y)


def fills():
    for t, v in (("F32", 2.5), ("F16", -1.25), ("I32", 7)):
        for dims in ((5,), (2, 3), (2, 1, 3), (1, 2, 2, 2)):
            s = fx(t, v) if t in FLOATS else i32(v)
            case("FILL", name(t, dims), [given("I32", dims), s], [like(given(t, [0]), np.full(dims, v))])


def make():
    for f in (shapes, joints, sections, lookups, borders, blocks, fills):
        f()
