"""Steps that take images: convolutions, pools, resizes, borders and blocks, with the channels last or first."""
import numpy as np

from case import FLOATS, STD, act, flag, i32, ints, x
from network import of, short, want
from spatial import arguments, bilinear, nearest, pads_of, pooled, scattered, windows


def weights(n, a, dims, channel, depth, per):
    """A filter of dims with outputs along a channel, each of which sums depth products, and its bias."""
    far = short(1.7 / max(1, depth) ** 0.5)
    count = dims[channel]
    if a.type in FLOATS:
        return n.constant(a.type, dims, -far, far), n.constant(a.type, (count,), -0.5, 0.5)
    if per:
        f = x("Q8Y", dims, -far, far, short(far / 120))
        f.type, f.scale, f.channel = "Q8C", 0.0, channel
        f.scales = [short(far / n.rng.uniform(70, 127)) for _ in range(count)]
        b = of(x("I32", (count,), -90, 90))
        b.exact = b.near = b.code * (a.scale * np.asarray(f.scales, np.float32).astype(np.float64))
        return of(f), b
    f = n.constant(a.type, dims, -far, far, short(far / 110), int(n.rng.integers(-9, 9)) + (128 if a.type == "Q8" else 0))
    return f, of(x("I32", (count,), -90, 90, float(np.float32(a.scale * f.scale))))


class Image:
    """An image that an operation reads with its channels last or first."""

    def __init__(self, n, types, told=True, fits=lambda v: True):
        self.value = n.take(types, (4,), fits)
        self.first = told and n.chance(0.35)
        s = self.value.shape
        self.dims = (s[0], s[2], s[3], s[1]) if self.first else s

    def inward(self, v):
        return np.moveaxis(v, 1, 3) if self.first else v

    def outward(self, v):
        return np.moveaxis(v, 3, 1) if self.first else v


def frame(n, dims, dilate):
    """A kernel with strides, dilation, and paddings or a scheme (None: paddings), and the paddings that come of it."""
    kernel = tuple(int(n.rng.integers(1, min(4, d + 1))) for d in dims[1:3])
    stride = n.pick((1, 1), (1, 1), (2, 2), (1, 2))
    dilation = n.pick((1, 1), (2, 1), (2, 2)) if dilate and n.chance(0.3) else (1, 1)
    scheme = n.pick(0, 1, 2)
    if scheme:
        pads = tuple(pads_of(scheme, d, k, s, e) for d, k, s, e in zip(dims[1:3], kernel, stride, dilation))
    else:
        pads = tuple(tuple(int(p) for p in n.rng.integers(0, k, 2)) for k in kernel)
    want(all((k - 1) * e + 1 <= d + sum(p) for d, k, e, p in zip(dims[1:3], kernel, dilation, pads)))
    return kernel, stride, dilation, scheme, pads


def convolution(n):
    im = Image(n, STD)
    a, channels = im.value, im.dims[3]
    kernel, stride, dilation, scheme, pads = frame(n, im.dims, True)
    op = n.pick("CONV_2D", "CONV_2D", "CONV_2D", "DEPTHWISE_CONV_2D", "DEPTHWISE_CONV_2D", "GROUPED_CONV_2D")
    code, area = n.pick(0, 0, 1, 2, 3), kernel[0] * kernel[1]
    middle, flags = (), 2 if dilation != (1, 1) else 1 if im.first or n.chance(0.5) else 0
    per = a.type[0] == "Q" and n.chance(0.5)
    if op == "CONV_2D":
        w, b = weights(n, a, (int(n.rng.integers(1, 10)), *kernel, channels), 0, area * channels, per)
        f = lambda c, w: np.einsum("bijyxk,cyxk->bijc", c, w)
    elif op == "DEPTHWISE_CONV_2D":
        times = n.pick(1, 1, 2)
        middle = (times,)
        w, b = weights(n, a, (1, *kernel, channels * times), 3, area, per)
        f = lambda c, w: np.einsum("bijyxk,yxkm->bijkm", c, w[0].reshape(*kernel, channels, times)).reshape(
            *c.shape[:3], -1)
    else:
        groups = n.pick(*([g for g in (2, 3, 4) if channels % g == 0] or [1]))
        want(groups > 1 and dilation == (1, 1))
        middle, flags = (groups,), 1
        w, b = weights(n, a, (groups * n.pick(1, 2), *kernel, channels // groups), 0, area * channels // groups, per)

        def f(c, w):
            parts = zip(np.split(c, groups, 5), np.split(w, groups, 0))
            return np.concatenate([np.einsum("bijyxk,cyxk->bijc", u, v) for u, v in parts], 3)

    rest = arguments([], pads, scheme, stride, middle, code, im.first, dilation, flags)
    n.emit(op, [a, w, b], rest, lambda v, w, b: im.outward(
        act(code, f(windows(im.inward(v), kernel, stride, pads, dilation), w) + b)))


def transposed(n):
    im = Image(n, STD)
    a = im.value
    kernel, stride = n.pick((2, 2), (3, 2), (3, 3)), n.pick((1, 1), (2, 2), (2, 1))
    pads = tuple(tuple(int(p) for p in n.rng.integers(0, 2, 2)) for _ in kernel)
    size = [(d - 1) * s + k - sum(p) for d, s, k, p in zip(im.dims[1:3], stride, kernel, pads)]
    want(min(size) > 0)
    w, b = weights(n, a, (int(n.rng.integers(1, 4)), *kernel, im.dims[3]), 0, 4 * im.dims[3], a.type[0] == "Q" and
                   n.chance(0.5))
    code = n.pick(0, 1, 3)
    rest = [i32(p) for p in (*pads[1], *pads[0])] + [i32(stride[1]), i32(stride[0]), i32(code), flag(im.first)]
    n.emit("TRANSPOSE_CONV_2D", [a, w, b], rest, lambda v, w, b: im.outward(
        act(code, scattered(im.inward(v), w, stride, pads, size) + b)))


def pool(n):
    op = n.pick("AVERAGE_POOL_2D", "MAX_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D")
    im = Image(n, FLOATS if op == "L2_POOL_2D" else STD)
    a = im.value
    kernel, stride, _, scheme, pads = frame(n, im.dims, False)
    want(kernel != (1, 1))
    code = n.pick(0, 0, 1, 2, 3)
    inside = windows(np.ones(im.dims), kernel, stride, pads)
    want((inside.sum((3, 4)) > 0).all())
    flags = 1 if im.first or n.chance(0.3) else 0
    rest = [i32(scheme)] if scheme else [i32(p) for p in (*pads[1], *pads[0])]
    rest += [i32(v) for v in (stride[1], stride[0], kernel[1], kernel[0], code)] + [flag(im.first)] * flags
    n.emit(op, [a], rest, lambda v: im.outward(
        act(code, pooled(op, "F32", None, windows(im.inward(v), kernel, stride, pads), inside))), scale="same")


def resize(n):
    im = Image(n, STD)
    op, f = n.pick(("RESIZE_BILINEAR", bilinear), ("RESIZE_NEAREST_NEIGHBOR", nearest))
    to = [int(n.rng.integers(2, 2 * d + 1)) for d in im.dims[1:3]]
    align, half = n.pick((False, False), (True, False), (False, True))
    want(op == "RESIZE_BILINEAR" or all(t % d == 0 or d % t == 0 for t, d in zip(to, im.dims[1:3])) and not align)
    n.emit(op, [im.value], [i32(to[1]), i32(to[0]), flag(im.first), flag(align), flag(half)],
           lambda v: im.outward(f(im.inward(v), *to, align, half)), scale="same")


def border(n):
    op = n.pick("PAD", "PAD", "PAD_V2", "MIRROR_PAD")
    a = n.take((*STD, "I32") if op == "MIRROR_PAD" else STD, (2, 3, 4))
    want(op != "PAD_V2" or a.type in FLOATS)
    pads = [(0, 0)] * len(a.shape)
    axis = int(n.rng.integers(len(a.shape)))
    want(a.shape[axis] > 2)
    pads[axis] = tuple(int(p) for p in n.rng.integers(0, 3, 2))
    want(sum(pads[axis]))
    table = ints(*np.ravel(pads), dims=(len(pads), 2))
    if op == "MIRROR_PAD":
        mode = n.pick(0, 1)
        n.emit(op, [a], [table, i32(mode)], lambda v: np.pad(v, pads, ("reflect", "symmetric")[mode]), scale="same")
    else:
        fill = n.constant(a.type, (), -1, 1) if op == "PAD_V2" else None
        rest = [table]
        if fill is not None:
            fill.operand.type = {"F32": "f32", "F16": "f16"}[a.type]
            rest.append(fill.operand)
        by = float(fill.exact) if fill is not None else 0.0
        n.emit(op, [a], rest, lambda v: np.pad(v, pads, constant_values=by), scale="same")


def blocks(n):
    op = n.pick("DEPTH_TO_SPACE", "SPACE_TO_DEPTH", "SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND", "CHANNEL_SHUFFLE")
    if op == "CHANNEL_SHUFFLE":
        a = n.take(STD, (2, 3, 4))
        axis = int(n.rng.integers(len(a.shape)))
        groups = n.pick(*([g for g in (2, 3) if a.shape[axis] % g == 0 and a.shape[axis] > g] or [0]))
        want(groups)

        def shuffle(v):
            v = np.moveaxis(v, axis, 0)
            v = v.reshape(groups, -1, *v.shape[1:]).swapaxes(0, 1).reshape(v.shape)
            return np.moveaxis(v, 0, axis)

        n.emit(op, [a], [i32(groups), i32(axis)], shuffle, scale="same")
        return
    im = Image(n, STD)
    k, h, w, c = im.dims
    if op == "DEPTH_TO_SPACE":
        want(c % 4 == 0)
        rest = [i32(2)]
        f = lambda v: v.reshape(k, h, w, 2, 2, c // 4).transpose(0, 1, 3, 2, 4, 5).reshape(k, h * 2, w * 2, c // 4)
    elif op == "BATCH_TO_SPACE_ND":
        want(k % 2 == 0)
        p, q = n.pick((2, 1), (1, 2))
        rest = [ints(p, q)]
        f = lambda v: v.reshape(p, q, k // 2, h, w, c).transpose(2, 3, 0, 4, 1, 5).reshape(k // 2, h * p, w * q, c)
    else:
        want(h % 2 == 0 and w % 2 == 0)
        split = lambda v: v.reshape(k, h // 2, 2, w // 2, 2, c)
        if op == "SPACE_TO_DEPTH":
            rest = [i32(2)]
            f = lambda v: split(v).transpose(0, 1, 3, 2, 4, 5).reshape(k, h // 2, w // 2, 4 * c)
        else:
            rest = [ints(2, 2), ints(0, 0, 0, 0, dims=(2, 2))]
            f = lambda v: split(v).transpose(2, 4, 0, 1, 3, 5).reshape(4 * k, h // 2, w // 2, c)
    n.emit(op, [im.value], [*rest, flag(im.first)], lambda v: im.outward(f(im.inward(v))), scale="same")


STEPS = [convolution, convolution, convolution, convolution, transposed, pool, pool, resize, border, blocks]
