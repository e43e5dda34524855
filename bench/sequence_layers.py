"""Layers that networks of sequences share: attention, feed-forward, convolution over time; quantized as tools do."""
import math

import numpy as np
from onnx import TensorProto, helper


# -- tensors -----------------------------------------------------------------
def tensor(g, values, lo=-1.0, hi=1.0):
    """A constant that is an operand like any other: with a shape, quantized in a quantized graph."""
    name = g.const(np.asarray(values, np.float32), count=True)
    g.shape[name] = np.shape(values)
    return g.q(name, lo, hi) if g.quant else name


def ints(g, *values):
    return g.const(np.array(values, np.int64), "i")


def plain_input(g, name, shape):
    """An input that stays float32 in a quantized graph."""
    g.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape)))
    g.shape[name] = tuple(shape)
    return name


def quantized(g, x, lo=-4.0, hi=4.0):
    return g.q(x, lo, hi) if g.quant else x


def as_before(g, y, x):
    """y in the codes of x, of which it holds the same numbers."""
    if x not in g.qscale:
        return y
    s, z, _ = g.qscale[x]
    codes = g.op("QuantizeLinear", [y, s, z], g.shape[y], "q")
    d = g.op("DequantizeLinear", [codes, s, z], g.shape[y], "dq")
    g.qscale[d] = g.qscale[x]
    return d


def reshape(g, x, shape):
    return as_before(g, g.reshape(x, shape), x)


def transpose(g, x, perm):
    return as_before(g, g.transpose(x, perm), x)


def cut(g, x, axis, start, end, step=1):
    """Slice of one axis."""
    shape = list(g.shape[x])
    size = shape[axis]
    shape[axis] = len(range(size)[start:end:step])
    y = g.op("Slice", [x, ints(g, start), ints(g, end), ints(g, axis), ints(g, step)], shape)
    return as_before(g, y, x)


def pick(g, x, axis, index):
    """Element index of an axis, which goes."""
    shape = list(g.shape[x])
    del shape[axis]
    y = g.op("Gather", [x, g.const(np.int64(index), "i")], shape, axis=axis)
    return as_before(g, y, x)


def join(g, xs, axis):
    """Concat of operands that have one range."""
    shape = list(g.shape[xs[0]])
    shape[axis] = sum(g.shape[x][axis] for x in xs)
    y = g.op("Concat", xs, shape, axis=axis)
    return as_before(g, y, xs[0])


def unsqueeze(g, x, axis):
    shape = list(g.shape[x])
    shape.insert(axis, 1)
    return as_before(g, g.op("Unsqueeze", [x, ints(g, axis)], shape), x)


def split(g, x, axis, sizes):
    shapes = []
    for size in sizes:
        shape = list(g.shape[x])
        shape[axis] = size
        shapes.append(shape)
    ys = g.op("Split", [x, ints(g, *sizes)], shapes, outs=len(sizes), axis=axis)
    return [as_before(g, y, x) for y in ys]


def spread(g, kind, a, b):
    """Result of an operator of two operands, one of them broadcast."""
    return g.op(kind, [a, b], np.broadcast_shapes(g.shape[a], g.shape[b]))


def scaled(g, x, factor):
    return g.op("Mul", [x, g._f(float(factor))], g.shape[x])


# -- layers ------------------------------------------------------------------
def norm(g, x):
    return quantized(g, g.layernorm(x))


def gelu(g, x):
    return quantized(g, g.gelu(x), -0.25, 4.0)


def silu(g, x):
    return quantized(g, g.act(x, "silu"), -0.5, 4.0)


def residual(g, a, b):
    """A sum that stays in float32: of many layers, each rounds the sum of all before it otherwise."""
    return g.op("Add", [a, b], g.shape[a])


def feed_forward(g, x, hidden, gain=0.5, act=gelu):
    return g.linear(act(g, g.linear(x, hidden)), g.shape[x][-1], gain=gain)


def heads_of(g, x, heads, perm=(0, 2, 1, 3)):
    """(1, tokens, dim) as (1, heads, tokens, dim of a head), or with another order."""
    n, tokens, dim = g.shape[x]
    return transpose(g, reshape(g, x, (n, tokens, heads, dim // heads)), list(perm))


def weigh(g, scores, values):
    """Softmax of the scores, the values' sum that it weighs, and the heads side by side."""
    tokens = g.shape[scores][-1]
    p = g.op("Softmax", [scores], g.shape[scores], axis=-1)
    p = quantized(g, p, 0.0, min(1.0, 16.0 / tokens))
    y = quantized(g, g.matmul(p, values), -1.0, 1.0)
    n, heads, rows, width = g.shape[y]
    return reshape(g, transpose(g, y, [0, 2, 1, 3]), (n, rows, heads * width))


def attend(g, q, k, v, masks=(), divide=True):
    """Attention of queries to keys that are transposed; divide: by the root of the width, after the product."""
    s = quantized(g, g.matmul(q, k), -32.0, 32.0)
    if divide:
        s = g.op("Div", [s, g._f(math.sqrt(g.shape[q][-1]))], g.shape[s])
    for mask in masks:
        s = spread(g, "Add", s, mask)
    return weigh(g, s, v)


def self_attention(g, x, heads, masks=(), gain=0.5, position=None):
    """Three products of x, attention, one product; position is added to what makes queries and keys."""
    dim = g.shape[x][-1]
    at = x if position is None else quantized(g, spread(g, "Add", x, position))
    q = heads_of(g, g.linear(at, dim), heads)
    k = heads_of(g, g.linear(at, dim), heads, (0, 2, 3, 1))
    v = heads_of(g, g.linear(x, dim), heads)
    return g.linear(attend(g, q, k, v, masks), dim, gain=gain)


def post_norm_layer(g, x, heads, hidden, masks=()):
    x = norm(g, g.add(x, self_attention(g, x, heads, masks, gain=1.0)))
    return norm(g, g.add(x, feed_forward(g, x, hidden, gain=1.0)))


def pre_norm_layer(g, x, heads, hidden, attention=self_attention):
    x = g.add(x, attention(g, norm(g, x), heads))
    return g.add(x, feed_forward(g, norm(g, x), hidden))


def conv1d(g, x, co, k=1, s=1, p=None, groups=1, bias=True, gain=1.0):
    """Convolution over the last axis of (1, channels, time)."""
    n, ci, size = g.shape[x]
    p = k // 2 if p is None else p
    out = (size + 2 * p - k) // s + 1
    fan = ci // groups * k
    w = g.normal((co, ci // groups, k), gain / math.sqrt(fan))
    g.macs += n * co * out * fan
    if g.quant:
        ws, scales = g.qweight(w, 0)
        ins = [x, ws]
        if bias:
            ins.append(g.qbias(g.normal((co,), 0.05), x, scales))
    else:
        ins = [x, g.const(w, "w", True)]
        if bias:
            ins.append(g.const(g.normal((co,), 0.05), "b", True))
    y = g.op("Conv", ins, (n, co, out), kernel_shape=[k], strides=[s], pads=[p, p], group=groups, dilations=[1])
    return quantized(g, y)
