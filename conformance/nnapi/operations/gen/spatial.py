"""Convolutions, pooling, matrix products and resizing of images."""
import numpy as np

from case import F64, FLOATS, STD, Operand, act, case, fails, flag, fx, given, half_away, i32, ints, like, out, unknown, x

# Of input, filter and bias, by the type of the input; Q8C stands for a filter with a scale for each channel.
KINDS = ("F32", "F16", "Q8", "Q8S", "Q8:Q8C", "Q8S:Q8C")
CODES = {"Q8": ((0.05, 121), (0.03, 100), (0.11, 110)), "Q8S": ((0.04, -7), (0.06, 11), (0.13, -20))}


def weights(kind, dims, channel):
    """An image's type, and a filter and a bias of a kind. The bias has an element for each index of channel."""
    t, _, per = kind.partition(":")
    n = dims[channel]
    if t in FLOATS:
        return t, x(t, dims, -1, 1), x(t, (n,))
    scale = CODES[t][0][0]
    if per:
        f = x("Q8Y", dims, -2, 2, 0.05)
        f.type, f.scale, f.channel = "Q8C", 0.0, channel
        f.scales = [round(0.01 * (k % 5 + 1), 4) for k in range(n)]
        b = x("I32", (n,), -200, 200)
        b.means = b.value * np.float32(scale).astype(F64) * np.asarray(f.scales, np.float32).astype(F64)
        return t, f, b
    f = x(t, dims, -1, 1, *CODES[t][1])
    product = np.float64(np.float32(scale)) * np.float64(np.float32(CODES[t][1][0]))
    b = x("I32", (n,), -300, 300, float(np.float32(product)))
    return t, f, b


def means(b):
    """The real numbers of a bias."""
    return b.means if hasattr(b, "means") else b.value * (b.scale or 1.0)


def image(t, dims, lo=-2, hi=2):
    s = CODES.get(t, ((None, None),))[0]
    return x(t, dims, lo, hi, *s)


def result(t, y, **flags):
    return out(t, y, *(CODES[t][2] if t in CODES else (None, None)), **flags)


def nchw(o):
    """The same image with the channels first."""
    return Operand(o.type, np.ascontiguousarray(np.moveaxis(o.value, 3, 1)), o.scale, o.zero, **o.flags)


def pads_of(scheme, size, kernel, stride, dilation=1):
    """Before and behind, by an implicit scheme: 1 SAME, 2 VALID."""
    if scheme == 2:
        return 0, 0
    whole = max(0, (-(-size // stride) - 1) * stride + (kernel - 1) * dilation + 1 - size)
    return whole // 2, whole - whole // 2


def windows(v, kernel, stride, pads, dilation=(1, 1), fill=0.0):
    """[b, oh, ow, kh, kw, c] of an image [b, h, w, c]."""
    v = np.pad(v, ((0, 0), pads[0], pads[1], (0, 0)), constant_values=fill)
    eff = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
    size = [(n - e) // s + 1 for n, e, s in zip(v.shape[1:3], eff, stride)]
    out = np.empty((v.shape[0], *size, *kernel, v.shape[3]), F64)
    for i in range(size[0]):
        for j in range(size[1]):
            out[:, i, j] = v[:, i * stride[0]:i * stride[0] + eff[0]:dilation[0],
                             j * stride[1]:j * stride[1] + eff[1]:dilation[1]]
    return out


def arguments(head, pads, scheme, stride, middle, code, first, dilation, flags):
    """The scalars of a convolution; flags: whether the optional layout and dilations are there."""
    args = [*head]
    if scheme:
        args += [i32(scheme)]
    else:
        args += [i32(p) for p in (*pads[1], *pads[0])]  # left, right, top, bottom
    args += [i32(stride[1]), i32(stride[0]), *map(i32, middle), i32(code)]
    if flags >= 1:
        args += [flag(first)]
    if flags >= 2:
        args += [i32(dilation[1]), i32(dilation[0])]
    return args


# name, input, filter height and width, stride, explicit paddings or a scheme, dilation, number of optional arguments
FORMS = [
    ("plain", (1, 4, 5, 2), (3, 2), (1, 1), ((0, 0), (0, 0)), (1, 1), 0),
    ("pads", (2, 3, 4, 3), (2, 3), (1, 1), ((1, 0), (1, 2)), (1, 1), 1),
    ("strides", (1, 5, 6, 2), (3, 3), (2, 3), ((1, 1), (0, 2)), (1, 1), 0),
    ("dilated", (1, 5, 6, 2), (2, 2), (1, 1), ((0, 0), (1, 0)), (2, 3), 2),
    ("same", (1, 4, 5, 2), (3, 2), (1, 1), 1, (1, 1), 0),
    ("same_strides", (2, 5, 4, 1), (3, 3), (2, 2), 1, (1, 1), 1),
    ("same_dilated", (1, 4, 4, 2), (2, 3), (1, 1), 1, (2, 1), 2),
    ("valid", (1, 4, 5, 3), (1, 1), (1, 2), 2, (1, 1), 0),
    ("valid_strides", (1, 5, 5, 2), (3, 2), (2, 1), 2, (1, 1), 1),
]


def sides(form):
    _, dims, kernel, stride, pads, dilation, _ = form
    if isinstance(pads, int):
        return tuple(pads_of(pads, n, k, s, d) for n, k, s, d in zip(dims[1:3], kernel, stride, dilation))
    return pads


def convolution(op, kind, form, code, first, filter_dims, channel, f, middle=(), constant=True, more=""):
    label, dims, kernel, stride, pads, dilation, flags = form
    t, w, b = weights(kind, filter_dims, channel)
    a = image(t, dims)
    cols = windows(a.real(), kernel, stride, sides(form), dilation)
    y = result(t, act(code, f(cols, w.real()) + means(b)))
    if constant:
        w, b = w.const(), b.const()
    if first:
        a, y = nchw(a), nchw(y)
    scheme = pads if isinstance(pads, int) else 0
    case(op, f"{kind.replace(':', '_')}_{label}{more}{'_nchw' if first else ''}",
         arguments([a, w, b], pads if not scheme else None, scheme, stride, middle, code, first, dilation, flags), [y])


def convolutions():
    n = 0
    for kind in KINDS:
        for form in FORMS:
            label, dims, kernel, stride, pads, dilation, flags = form
            for first in (False, True) if flags else (False,):
                n += 1
                convolution("CONV_2D", kind, form, n % 4, first, (3, *kernel, dims[3]), 0,
                            lambda c, w: np.einsum("bijyxk,cyxk->bijc", c, w))
                m = 1 + n % 2
                depth = lambda c, w: np.einsum("bijyxk,yxkm->bijkm", c, w[0].reshape(*w.shape[1:3], c.shape[-1],
                                                                                     -1)).reshape(
                    *c.shape[:3], -1)
                convolution("DEPTHWISE_CONV_2D", kind, form, n % 4, first, (1, *kernel, dims[3] * m), 3, depth, (m,))
        for first in (False, True):
            for form in (FORMS[1], FORMS[2], FORMS[4], FORMS[8]):
                n += 1
                groups, per = (2, 2) if n % 2 else (3, 1)
                dims = (*form[1][:3], groups * per)
                form = (*form[:1], dims, *form[2:6], 1)

                def grouped(c, w):
                    parts = [np.einsum("bijyxk,cyxk->bijc", u, v) for u, v in zip(np.split(c, groups, 5),
                                                                                  np.split(w, groups, 0))]
                    return np.concatenate(parts, 3)

                convolution("GROUPED_CONV_2D", kind, form, n % 4, first, (groups * 2, *form[2], per), 0, grouped,
                            (groups,))
    for kind in KINDS:
        dims, kernel = (1, 4, 3, 2), (2, 2)
        if kind.endswith("Q8C"):
            continue
        convolution("CONV_2D", kind, ("given", dims, kernel, (1, 1), 1, (1, 1), 0), 1, False, (2, *kernel, 2), 0,
                    lambda c, w: np.einsum("bijyxk,cyxk->bijc", c, w), constant=False)
    for t in FLOATS:
        for op, filter_dims, more in (("CONV_2D", (2, 1, 1, 3), ()), ("DEPTHWISE_CONV_2D", (1, 1, 1, 3), (i32(1),))):
            a, f, b = x(t, (0, 2, 2, 3)), x(t, filter_dims).const(), x(t,
                                                                       (filter_dims[0] if op == "CONV_2D"
                                                                        else 3,)).const()
            case(op, f"{t}_empty", [a, f, b, i32(2), i32(1), i32(1), *more, i32(0)],
                 [out(t, np.zeros((0, 2, 2, b.shape[0])))])
        a, f, b = x(t, (0, 2, 2, 3)), x(t, (2, 2, 2, 3)).const(), x(t, (2,)).const()
        case("TRANSPOSE_CONV_2D", f"{t}_empty", [a, f, b, *map(i32, (0, 0, 0, 0, 2, 2, 0)), flag(False)],
             [out(t, np.zeros((0, 4, 4, 2)))])
    w, b = x("F32", (2, 2, 2, 3)).const(), x("F32", (2,)).const()
    fails("CONV_2D", "F32_channels", [x("F32", (1, 4, 4, 2)), w, b, i32(1), i32(1), i32(1), i32(0)],
          [unknown("F32", 4)])
    fails("CONV_2D", "F32_stride_0", [x("F32", (1, 4, 4, 3)), w, b, i32(1), i32(0), i32(1), i32(0)],
          [unknown("F32", 4)])
    fails("DEPTHWISE_CONV_2D", "F32_multiplier", [x("F32", (1, 4, 4, 2)), x("F32", (1, 2, 2, 3)).const(),
                                                  x("F32", (3,)).const(),
                                                   i32(1), i32(1), i32(1), i32(2), i32(0)], [unknown("F32", 4)])
    fails("GROUPED_CONV_2D", "F32_groups", [x("F32", (1, 4, 4, 4)), x("F32", (3, 2, 2, 2)).const(),
                                            x("F32", (3,)).const(), i32(1),
                                             i32(1), i32(1), i32(2), i32(0), flag(False)], [unknown("F32", 4)])


def refusals():
    """Filters and biases whose dimensions do not go together, or not with the image."""
    a = x("F32", (1, 4, 4, 4))
    y = [unknown("F32", 4)]
    one = [i32(1), i32(1), i32(1)]  # VALID, strides of 1
    for name, f, b in (("bias", (2, 3, 3, 4), (3,)), ("depth", (2, 3, 3, 1), (2,))):
        f, b = x("F32", f).const(), x("F32", b).const()
        fails("CONV_2D", f"F32_dims_{name}", [a, f, b, *one, i32(0)], y)
        fails("TRANSPOSE_CONV_2D", f"F32_dims_{name}", [a, f, b, given("I32", [1, 6, 6, 2]).const(), *one, i32(0),
                                                        flag(False)], y)
    for name, f, b, groups in (("bias", (4, 3, 3, 2), (2,), 2), ("depth", (4, 3, 3, 4), (4,), 2),
                               ("filters", (3, 3, 3, 2), (3,), 2), ("no_groups", (4, 3, 3, 4), (4,), 0)):
        fails("GROUPED_CONV_2D", f"F32_dims_{name}", [a, x("F32", f).const(), x("F32", b).const(), *one, i32(groups), i32(0),
                                                      flag(False)], y)
    for name, f, b, times in (("bias", (1, 3, 3, 8), (4,), 2), ("two_filters", (2, 3, 3, 4), (4,), 1),
                              ("two_of_two", (2, 3, 3, 8), (8,), 2)):
        fails("DEPTHWISE_CONV_2D", f"F32_dims_{name}", [a, x("F32", f).const(), x("F32", b).const(), *one, i32(times),
                                                        i32(0)], y)
    fails("FULLY_CONNECTED", "F32_dims_bias", [x("F32", (3, 4)), x("F32", (2, 4)).const(), x("F32", (3,)).const(), i32(0)],
          [unknown("F32", 2)])
    fails("BATCH_MATMUL", "F32_dims_batch", [x("F32", (2, 3, 4)), x("F32", (3, 4, 2)), flag(False), flag(False)],
          [unknown("F32", 3)])


def scattered(v, w, stride, pads, size):
    """A transposed convolution of [b, h, w, k] with a filter [c, fh, fw, k]."""
    y = np.zeros((v.shape[0], v.shape[1] * stride[0] + w.shape[1] + 9, v.shape[2] * stride[1] + w.shape[2] + 9,
                  w.shape[0]))
    for i in range(v.shape[1]):
        for j in range(v.shape[2]):
            y[:, i * stride[0]:i * stride[0] + w.shape[1], j * stride[1]:j * stride[1] + w.shape[2]] += np.einsum(
                "bk,cyxk->byxc", v[:, i, j], w)
    top, left = pads[0][0], pads[1][0]
    return y[:, top:top + size[0], left:left + size[1]]


def transposed():
    forms = [("plain", (1, 2, 3, 2), (3, 2), (1, 1), ((0, 0), (0, 0))),
             ("strides", (2, 2, 2, 1), (3, 3), (2, 3), ((0, 0), (0, 0))),
             ("pads", (1, 3, 3, 2), (3, 3), (2, 2), ((1, 0), (1, 1))), ("negative", (1, 2, 2, 1), (2, 2), (2, 2),
                                                                        ((0, -1), (0, -1))),
             ("same", (1, 2, 3, 2), (3, 3), (2, 2), (1, 4, 6)), ("same_odd", (1, 3, 2, 1), (2, 3), (2, 3), (1, 5, 5)),
             ("valid", (1, 2, 2, 2), (3, 2), (2, 2), (2, 5, 4))]
    n = 0
    for kind in KINDS:
        for label, dims, kernel, stride, pads in forms:
            for first in (False, True):
                n += 1
                t, w, b = weights(kind, (2, *kernel, dims[3]), 0)
                a = image(t, dims)
                if isinstance(pads[0], int):
                    scheme, size = pads[0], pads[1:]
                    around = [(0, 0), (0, 0)]
                    if scheme == 1:
                        whole = [(-(-o // s) - 1) * s + k - o for o, s, k in zip(size, stride, kernel)]
                        around = [(max(0, p) // 2, p - max(0, p) // 2) for p in whole]
                    shape = (dims[0], *size, 2)
                    shape = (shape[0], shape[3], *shape[1:3]) if first else shape
                    head = [ints(*shape), i32(scheme)]
                else:
                    size = [d * s + k - s - sum(p) for d, s, k, p in zip(dims[1:3], stride, kernel, pads)]
                    around, head = pads, [i32(p) for p in (*pads[1], *pads[0])]
                y = result(t, act(n % 4, scattered(a.real(), w.real(), stride, around, size) + means(b)))
                if first:
                    a, y = nchw(a), nchw(y)
                case("TRANSPOSE_CONV_2D", f"{kind.replace(':', '_')}_{label}{'_nchw' if first else ''}",
                     [a, w.const(), b.const(), *head, i32(stride[1]), i32(stride[0]), i32(n % 4), flag(first)], [y])


def pooled(op, t, a, cols, inside):
    """Results of windows of real numbers, and of a mask of what lies in the image."""
    n = inside.sum((3, 4))
    if op == "MAX_POOL_2D":
        return np.where(inside > 0, cols, -np.inf).max((3, 4))
    if op == "L2_POOL_2D":
        return np.sqrt((cols ** 2 * inside).sum((3, 4)) / n)
    if t in FLOATS:
        return (cols * inside).sum((3, 4)) / n
    codes = (cols * inside).sum((3, 4))  # of codes
    return np.trunc((codes + np.copysign(n // 2, codes)) / n)


def pools():
    n = 0
    for op in ("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"):
        for t in FLOATS if op == "L2_POOL_2D" else STD:
            for label, dims, kernel, stride, pads, _, flags in FORMS:
                if label == "dilated" or label == "same_dilated":
                    flags = 1
                if t in ("F16", "Q8") and label in ("valid", "valid_strides", "plain"):
                    continue
                for first in (False, True) if flags else (False,):
                    n += 1
                    a = x(t, dims, -3, 8)
                    form = (label, dims, kernel, stride, pads, (1, 1), flags)
                    v = a.value.astype(F64)
                    cols = windows(v, kernel, stride, sides(form))
                    inside = windows(np.ones(dims), kernel, stride, sides(form))
                    raw = pooled(op, t, a, cols, inside)
                    lo, hi = act(n % 4, -np.inf), act(n % 4, np.inf)
                    if a.scale:
                        lo, hi = (a.zero + half_away(np.clip(b / a.scale, -999, 999)) for b in (lo, hi))
                    y = like(a, np.clip(raw, lo, hi))
                    if a.scale:
                        y.value = y.value.astype(int)
                    if first:
                        a, y = nchw(a), nchw(y)
                    args = [i32(pads)] if isinstance(pads, int) else [i32(p) for p in (*pads[1], *pads[0])]
                    args += [i32(v) for v in (stride[1], stride[0], kernel[1], kernel[0], n % 4)]
                    more = {"exact": True} if op == "MAX_POOL_2D" else {}
                    case(op, f"{t}_{label}{'_nchw' if first else ''}", [a, *args, *([flag(first)] if flags else [])],
                         [y], **more)
            a = x(t, (0, 2, 2, 3))
            case(op, f"{t}_empty", [a, i32(2), i32(1), i32(1), i32(1), i32(1), i32(0)],
                 [like(a, np.zeros((0, 2, 2, 3)))])
    fails("MAX_POOL_2D", "F32_large", [x("F32", (1, 2, 2, 1)), i32(2), i32(1), i32(1), i32(3), i32(3), i32(0)],
          [unknown("F32", 4)])


def products():
    n = 0
    for t in STD:
        for dims, units in (((3, 4), 5), ((2, 2, 6), 2), ((2, 1, 3, 2), 3), ((1, 7), 1), ((4, 3), 3)):
            for constant in (True, False):
                n += 1
                inside = 6 if len(dims) == 4 else dims[-1]
                _, w, b = weights(t, (units, inside), 0)
                a = image(t, dims)
                y = act(n % 4, a.real().reshape(-1, inside) @ w.real().T + means(b))
                w, b = (w.const(), b.const()) if constant else (w, b)
                case("FULLY_CONNECTED", f"{t}_{'x'.join(map(str, dims))}_{units}{'' if constant else '_given'}",
                     [a, w, b, i32(n % 4)],
                     [result(t, y)])
        _, w, b = weights(t, (2, 3), 0)
        case("FULLY_CONNECTED", f"{t}_empty", [image(t, (0, 3)), w.const(), b.const(), i32(0)],
             [result(t, np.zeros((0, 2)))])
    for t in ("F32", "F16", "I32", "Q8S"):
        for batch in ((), (2,), (2, 3)):
            for p in (False, True):
                for q in (False, True):
                    a, b = (3, 4)[::-1 if p else 1], (4, 2)[::-1 if q else 1]
                    a = x(t, (*batch, *a), -3, 3, *(CODES[t][0] if t in CODES else (None, None)))
                    b = x(t, (*batch, *b), -3, 3, *(CODES[t][1] if t in CODES else (None, None)))
                    v, w = a.real(), b.real()
                    y = (v.swapaxes(-1, -2) if p else v) @ (w.swapaxes(-1, -2) if q else w)
                    y = like(a, y.astype(int)) if t == "I32" else out(t, y,
                                                                      *((0.2, -9) if t == "Q8S" else (None, None)))
                    case("BATCH_MATMUL", f"{t}_{len(batch) + 2}_{int(p)}{int(q)}", [a, b, flag(p), flag(q)], [y])
    fails("FULLY_CONNECTED", "F32_sizes", [x("F32", (3, 4)), x("F32", (2, 5)).const(), x("F32", (2,)).const(), i32(0)],
          [unknown("F32", 2)])
    fails("BATCH_MATMUL", "F32_sizes", [x("F32", (3, 4)), x("F32", (3, 4)), flag(False), flag(False)],
          [unknown("F32", 2)])


def scaled(size, to, align, half, o):
    step = (size - 1) / (to - 1) if align and to > 1 else size / to
    return (o + 0.5) * step if half else o * step


def bilinear(v, height, width, align, half):
    def line(v, to, axis):
        rows = []
        for o in range(to):
            at = np.float32(scaled(v.shape[axis], to, align, half, o)) - (0.5 if half else 0)
            lo, hi = max(0, int(np.floor(at))), min(int(np.ceil(at)), v.shape[axis] - 1)
            w = max(at - lo, 0.0) if hi > lo else 0.0
            rows.append(np.take(v, lo, axis) * (1 - w) + np.take(v, hi, axis) * w)
        return np.stack(rows, axis)

    return line(line(v, height, 1), width, 2)


def nearest(v, height, width, align, half):
    def places(size, to):
        at = [scaled(size, to, align, half, o) for o in range(to)]
        return [min(int(half_away(a)) if align else int(np.floor(a + 1e-9)), size - 1) for a in at]

    return v[:, places(v.shape[1], height)][:, :, places(v.shape[2], width)]


def resizes():
    sizes = [((1, 3, 4, 2), (6, 5)), ((2, 4, 2, 1), (2, 4)), ((1, 2, 5, 2), (3, 3))]
    for op, f in (("RESIZE_BILINEAR", bilinear), ("RESIZE_NEAREST_NEIGHBOR", nearest)):
        for t in STD:
            for k, (dims, to) in enumerate(sizes):
                for align, half in ((None, None), (False, False), (True, None), (False, True)):
                    for first in (False, True):
                        if first and align is None and op == "RESIZE_BILINEAR" and k:
                            continue
                        a = x(t, dims, -3, 3)
                        v = f(a.value.astype(F64), *to, bool(align), bool(half))
                        y = like(a, half_away(v) if a.scale else v)
                        args = [i32(to[1]), i32(to[0])]
                        if op != "RESIZE_BILINEAR" or first or align is not None:
                            args.append(flag(first))
                        if align is not None:
                            args.append(flag(align))
                        if half is not None:
                            args.append(flag(half))
                        if first:
                            a, y = nchw(a), nchw(y)
                        label = {None: "", False: "_plain", True: "_align"}[align] + ("_half" if half else "")
                        more = {"exact": True} if op != "RESIZE_BILINEAR" else {}
                        case(op, f"{t}_{k}{label}{'_nchw' if first else ''}", [a, *args], [y], **more)
            for up, left, more in ((2.0, 1.5, ()), (0.5, 2.5, (False,)), (1.5, 3.0, (False, True)),
                                   (0.5, 1.5, (False, False, True))):
                if op != "RESIZE_BILINEAR" and not more:
                    more = (False,)
                a = x(t, (1, 4, 2, 2), -3, 3)
                v = f(a.value.astype(F64), int(4 * up), int(2 * left), more[1:2] == (True,), more[2:] == (True,))
                case(op, f"{t}_by_{up}_{len(more)}", [a, fx(t, left), fx(t, up), *map(flag, more)],
                     [like(a, half_away(v) if a.scale else v)])
            a = x(t, (0, 2, 2, 1))
            flags = [flag(False)] if op != "RESIZE_BILINEAR" else []
            case(op, f"{t}_empty", [a, i32(3), i32(2), *flags], [like(a, np.zeros((0, 2, 3, 1)))])
        a = given("F32", np.arange(25).reshape(1, 5, 5, 1) % 7)  # 7 of 7.5 rows, 3 of 3.75 columns
        v = f(a.value.astype(F64), 7, 3, False, False)
        case(op, "F32_by_half", [a, fx("F32", 0.75), fx("F32", 1.5), *([] if op == "RESIZE_BILINEAR" else [flag(False)])],
             [like(a, v)])
        fails(op, "F32_both", [x("F32", (1, 2, 2, 1)), i32(3), i32(3), flag(False), flag(True), flag(True)],
              [unknown("F32", 4)])
        fails(op, "F32_size_0", [x("F32", (1, 2, 2, 1)), i32(0), i32(3), flag(False)], [unknown("F32", 4)])


def make():
    for f in (convolutions, transposed, pools, products, resizes, refusals):
        f()
