"""One layer of a language model as Llama has it; quantized, its products have weights of 4 bits."""
import math

import numpy as np

from sequence_layers import cut, join, plain_input, scaled, spread

DIM, HEADS, HIDDEN, PAST, BLOCK = 2048, 32, 5632, 512, 32
WIDTH = DIM // HEADS


def linear(g, x, co, gain=1.0):
    """A product without bias; quantized, each block of 32 weights has a scale, and code 8 is zero."""
    shape = g.shape[x]
    ci = shape[-1]
    g.macs += math.prod(shape) * co
    if not g.quant:
        return g.op("MatMul", [x, g.const(g.normal((ci, co), gain / math.sqrt(ci)), "w", True)], shape[:-1] + (co,))
    w = g.normal((co, ci // BLOCK, BLOCK), gain / math.sqrt(ci))
    scales = np.abs(w).max(axis=2, keepdims=True) / np.float32(7)
    codes = (np.rint(w / scales) + 8).astype(np.uint8)
    packed = g.const(codes[:, :, 0::2] | codes[:, :, 1::2] << 4, "wq")
    g.params += w.size
    return g.op("MatMulNBits", [x, packed, g.const(scales.ravel(), "ws", True)], shape[:-1] + (co,),
                domain="com.microsoft", K=ci, N=co, bits=4, block_size=BLOCK, accuracy_level=4)


def rms_norm(g, x):
    shape = g.shape[x]
    one = shape[:-1] + (1,)
    y = g.op("ReduceMean", [g.op("Pow", [x, g._f(2.0)], shape)], one, axes=[-1], keepdims=1)
    y = g.op("Sqrt", [g.op("Add", [y, g._f(1e-5)], one)], one)
    y = g.op("Mul", [x, g.op("Div", [g._f(1.0), y], one)], shape)
    return g.op("Mul", [g.const(np.float32(1.0) + g.normal((DIM,), 0.1), "g", True), y], shape)


def turns(g, first, tokens):
    """Cosines and sines of the places from first on."""
    angles = np.arange(first, first + tokens)[:, None] * 10000.0 ** -(np.arange(0, WIDTH, 2) / WIDTH)
    angles = np.concatenate([angles, angles], axis=1)[None, None]
    names = [g.const(f(angles).astype(np.float32), "rotary") for f in (np.cos, np.sin)]
    for name in names:
        g.shape[name] = (1, 1, tokens, WIDTH)
    return names


def rotated(g, x, cos, sin):
    left, right = cut(g, x, 3, 0, WIDTH // 2), cut(g, x, 3, WIDTH // 2, 2 ** 63 - 1)
    half = join(g, [g.op("Neg", [right], g.shape[right]), left], 3)
    return g.op("Add", [spread(g, "Mul", x, cos), spread(g, "Mul", half, sin)], g.shape[x])


def layer(tokens, past):
    """tokens words after past ones, whose keys and values are inputs."""
    def build(g):
        x = plain_input(g, "input", (1, tokens, DIM))
        y = rms_norm(g, x)
        q, k, v = (g.transpose(g.reshape(linear(g, y, DIM), (1, tokens, HEADS, WIDTH)), [0, 2, 1, 3]) for _ in range(3))
        places = turns(g, past, tokens)
        q, k = rotated(g, q, *places), rotated(g, k, *places)
        if past:
            k = join(g, [plain_input(g, "past_key", (1, HEADS, past, WIDTH)), k], 2)
            v = join(g, [plain_input(g, "past_value", (1, HEADS, past, WIDTH)), v], 2)
        s = scaled(g, g.matmul(q, g.transpose(k, [0, 1, 3, 2])), WIDTH ** -0.5)
        if tokens > 1:
            mask = g.const(np.triu(np.full((1, 1, tokens, tokens), -10000.0, np.float32), 1), "mask")
            s = g.op("Add", [s, mask], g.shape[s])
        s = g.op("Softmax", [s], g.shape[s], axis=-1)
        y = g.reshape(g.transpose(g.matmul(s, v), [0, 2, 1, 3]), (1, tokens, DIM))
        x = g.op("Add", [x, linear(g, y, DIM)], g.shape[x])
        y = rms_norm(g, x)
        y = g.op("Mul", [g.act(linear(g, y, HIDDEN), "silu"), linear(g, y, HIDDEN)], (1, tokens, HIDDEN))
        g.output(g.op("Add", [x, linear(g, y, DIM)], g.shape[x]))
        g.output(k)
        g.output(v)
    return build


NETWORKS = {
    "llm_layer_4bit_m1": layer(1, PAST),
    "llm_layer_4bit_m64": layer(64, 0),
}
