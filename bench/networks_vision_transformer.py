"""Networks of images that attend: patches as words, windows of patches."""
import numpy as np

from sequence_layers import (as_before, cut, feed_forward, join, norm, pick, pre_norm_layer, quantized, reshape, scaled,
                             spread, tensor, transpose, weigh)


def packed(g, x, heads):
    """Queries, keys and values of one product: (tokens of n sequences, dim) to three of (n, heads, tokens, width)."""
    n, tokens, dim = g.shape[x]
    qkv = reshape(g, g.linear(x, 3 * dim), (n, tokens, 3, heads, dim // heads))
    qkv = transpose(g, qkv, [2, 0, 3, 1, 4])
    return [pick(g, qkv, 0, i) for i in range(3)]


def packed_scores(g, q, k):
    """Products of queries, scaled before, and keys."""
    width = g.shape[q][-1]
    q = quantized(g, scaled(g, q, width ** -0.5), -1.0, 1.0)
    return quantized(g, g.matmul(q, transpose(g, k, [0, 1, 3, 2])), -8.0, 8.0)


def packed_attention(g, x, heads):
    q, k, v = packed(g, x, heads)
    return g.linear(weigh(g, packed_scores(g, q, k), v), g.shape[x][-1], gain=0.5)


def patches(g, dim, size):
    """The input image as (1, patches, dim)."""
    x = g.conv(g.input("input", (1, 3, 224, 224)), dim, size, size, p=0, act=None)
    n, _, h, w = g.shape[x]
    return transpose(g, reshape(g, x, (n, dim, h * w)), [0, 2, 1])


def vit(dim, heads, layers=12, **kind):
    def build(g):
        x = patches(g, dim, 16)
        x = g.concat([tensor(g, g.normal((1, 1, dim), 0.5), -4.0, 4.0), x])
        x = g.add(x, tensor(g, g.normal((1, 197, dim), 0.2)))
        for _ in range(layers):
            x = pre_norm_layer(g, x, heads, 4 * dim, **kind)
        g.output(g.gemm(pick(g, norm(g, x), 1, 0), 1000))
    return build


# -- Swin --------------------------------------------------------------------
WINDOW = 7


def roll(g, x, axis, by):
    """What torch.roll exports as: the end in front of the beginning."""
    return join(g, [cut(g, x, axis, by, 2 ** 31), cut(g, x, axis, 0, by)], axis)


def windows(g, x):
    """(1, side, side, dim) as (windows, patches of a window, dim)."""
    _, side, _, dim = g.shape[x]
    n = side // WINDOW
    x = transpose(g, reshape(g, x, (1, n, WINDOW, n, WINDOW, dim)), [0, 1, 3, 2, 4, 5])
    return reshape(g, x, (n * n, WINDOW * WINDOW, dim))


def unwindowed(g, x, side):
    dim, n = g.shape[x][-1], side // WINDOW
    x = transpose(g, reshape(g, x, (1, n, n, WINDOW, WINDOW, dim)), [0, 1, 3, 2, 4, 5])
    return reshape(g, x, (1, side, side, dim))


def shift_mask(side, shift):
    """-100 between patches of a window that were not neighbours before the roll."""
    edges = (slice(0, -WINDOW), slice(-WINDOW, -shift), slice(-shift, None))
    region = np.zeros((side, side), np.int64)
    for i, rows in enumerate(edges):
        for j, columns in enumerate(edges):
            region[rows, columns] = 3 * i + j
    n = side // WINDOW
    region = region.reshape(n, WINDOW, n, WINDOW).transpose(0, 2, 1, 3).reshape(n * n, WINDOW * WINDOW)
    return np.where(region[:, :, None] == region[:, None, :], 0.0, -100.0).astype(np.float32)


def window_attention(g, x, heads, side, shift):
    """Attention within windows, with a bias by distance and, when windows are shifted, a mask."""
    q, k, v = packed(g, x, heads)
    n, tokens = g.shape[x][:2]
    s = packed_scores(g, q, k)
    s = quantized(g, spread(g, "Add", s, tensor(g, g.normal((1, heads, tokens, tokens), 0.3), -2.0, 2.0)), -8.0, 8.0)
    if shift:
        mask = g.const(shift_mask(side, shift)[None, :, None], "mask")
        g.shape[mask] = (1, n, 1, tokens, tokens)
        s = g.reshape(spread(g, "Add", reshape(g, s, (1, n, heads, tokens, tokens)), mask), g.shape[s])
    return g.linear(weigh(g, s, v), g.shape[x][-1], gain=0.5)


def swin_layer(g, x, heads, side, shift):
    _, tokens, dim = g.shape[x]
    y = reshape(g, norm(g, x), (1, side, side, dim))
    if shift:
        y = roll(g, roll(g, y, 1, shift), 2, shift)
    y = unwindowed(g, window_attention(g, windows(g, y), heads, side, shift), side)
    if shift:
        y = roll(g, roll(g, y, 1, -shift), 2, -shift)
    x = g.add(x, reshape(g, y, (1, tokens, dim)))
    return g.add(x, feed_forward(g, norm(g, x), 4 * dim))


def merged(g, x, side):
    """Every second patch of both axes, side by side, then half as wide."""
    dim = g.shape[x][-1]
    x = reshape(g, x, (1, side, side, dim))
    parts = [cut(g, cut(g, x, 1, i, 2 ** 31, 2), 2, j, 2 ** 31, 2) for i, j in ((0, 0), (1, 0), (0, 1), (1, 1))]
    x = reshape(g, join(g, parts, -1), (1, side * side // 4, 4 * dim))
    return g.linear(norm(g, x), 2 * dim, bias=False)


def swin_t(g):
    x = norm(g, patches(g, 96, 4))
    side = 56
    for stage, (depth, heads) in enumerate(((2, 3), (2, 6), (6, 12), (2, 24))):
        if stage:
            x = merged(g, x, side)
            side //= 2
        for i in range(depth):
            x = swin_layer(g, x, heads, side, WINDOW // 2 if i % 2 and side > WINDOW else 0)
    x = transpose(g, norm(g, x), [0, 2, 1])
    y = quantized(g, g.op("GlobalAveragePool", [x], (1, 768, 1)))
    g.output(g.gemm(as_before(g, g.op("Flatten", [y], (1, 768), axis=1), y), 1000))


NETWORKS = {
    "vit_ti_224": vit(192, 3, attention=packed_attention),
    "deit_s_224": vit(384, 6),
    "swin_t_224": swin_t,
}
