"""Networks of text: encoders, and layers of language models; their inputs are what the embedding of words gives."""
import math

import numpy as np
from onnx import TensorProto

from sequence_layers import heads_of, plain_input, post_norm_layer, spread, unsqueeze


def minilm(g):
    """A sentence encoder: the mean of the last layer's words, of length one."""
    x = g.input("input", (1, 128, 384))
    for _ in range(6):
        x = post_norm_layer(g, x, 12, 1536)
    y = g.op("ReduceMean", [x], (1, 384), axes=[1], keepdims=0)
    length = g.op("ReduceL2", [y], (1, 1), axes=[1], keepdims=1)
    length = g.op("Clip", [length, g._f(1e-3)], (1, 1))
    length = g.op("Expand", [length, g.const(np.array([1, 384], np.int64), "shp")], (1, 384))
    g.output(g.op("Div", [y, length], (1, 384)))


# -- products that are quantized as they are computed --------------------------
class DynamicLinear:
    """Linear layers as quantize_dynamic writes them: the codes of an operand are made once, with its own range."""

    def __init__(self, g):
        self.g = g
        self.codes = {}

    def __call__(self, x, co):
        g = self.g
        if not g.quant:
            return g.linear(x, co)
        if x not in self.codes:
            self.codes[x] = g.op("DynamicQuantizeLinear", [x], [g.shape[x], (), ()], outs=3)
        codes, scale, zero = self.codes[x]
        shape = g.shape[x][:-1] + (co,)
        ci = g.shape[x][-1]
        w = g.normal((ci, co), 1.0 / math.sqrt(ci))
        b = g.normal((co,), 0.05)
        g.macs += int(np.prod(g.shape[x])) * co
        step = np.abs(w).max() / np.float32(g.qmax)
        wq = g.const(np.rint(w / step).astype(np.int8), "wq", True)
        y = g.op("MatMulInteger", [codes, wq, zero, g.const(np.int8(0), "wz")], shape)
        y = g.op("Cast", [y], shape, to=TensorProto.FLOAT)
        y = g.op("Mul", [y, g.op("Mul", [scale, g.const(np.float32(step), "ws")], ())], shape)
        return g.op("Add", [g.const(b, "b", True), y], shape)


def bert(g):
    """Four layers of BERT base, with a mask of words; quantized, its linear layers are so dynamically."""
    dim, heads = 768, 12
    linear = DynamicLinear(g)
    x = g.layernorm(plain_input(g, "input", (1, 128, dim)))
    mask = unsqueeze(g, unsqueeze(g, plain_input(g, "mask", (1, 128)), 1), 2)
    mask = g.op("Mul", [g.op("Sub", [g._f(1.0), mask], g.shape[mask]), g._f(-8.0)], g.shape[mask])
    for _ in range(4):
        q = heads_of(g, linear(x, dim), heads)
        k = heads_of(g, linear(x, dim), heads, (0, 2, 3, 1))
        v = heads_of(g, linear(x, dim), heads)
        s = g.matmul(q, k)
        s = g.op("Div", [s, g._f(math.sqrt(dim // heads))], g.shape[s])
        s = spread(g, "Add", s, mask)
        s = g.op("Softmax", [s], g.shape[s], axis=-1)
        y = g.reshape(g.transpose(g.matmul(s, v), [0, 2, 1, 3]), (1, 128, dim))
        x = g.layernorm(g.op("Add", [linear(y, dim), x], g.shape[x]))
        y = linear(g.gelu(linear(x, 4 * dim)), dim)
        x = g.layernorm(g.op("Add", [y, x], g.shape[x]))
    g.output(x)


NETWORKS = {
    "minilm_l6_s128": minilm,
    "bert_base_dynamic": bert,
}
