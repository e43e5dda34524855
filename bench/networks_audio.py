"""Networks of sound that attend: Whisper, Conformer, wav2vec 2.0."""
import math

import numpy as np

from sequence_layers import (attend, conv1d, cut, feed_forward, gelu, heads_of, join, norm, post_norm_layer, quantized,
                             reshape, residual, scaled, silu, split, spread, tensor, transpose, unsqueeze, weigh)


def sinusoids(tokens, dim):
    """The sines and cosines that say the place of a word."""
    angles = np.arange(tokens)[:, None] * np.exp(np.arange(dim // 2) * -(math.log(10000.0) / (dim // 2 - 1)))
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)


# -- Whisper -----------------------------------------------------------------
def scaled_query(g, x, heads):
    """Queries, divided by the root of their width before the product."""
    dim = g.shape[x][-1]
    return heads_of(g, quantized(g, scaled(g, g.linear(x, dim), (dim // heads) ** -0.5), -1.0, 1.0), heads)


def whisper_attention(g, x, heads, gain=0.5):
    """Keys have no bias."""
    dim = g.shape[x][-1]
    q = scaled_query(g, x, heads)
    k = heads_of(g, g.linear(x, dim, bias=False), heads, (0, 2, 3, 1))
    v = heads_of(g, g.linear(x, dim), heads)
    return g.linear(attend(g, q, k, v, divide=False), dim, gain=gain)


def whisper_encoder(g):
    x = g.input("mel", (1, 80, 3000), -1.5, 1.5)
    x = gelu(g, conv1d(g, x, 384, 3, gain=2.0))
    x = gelu(g, conv1d(g, x, 384, 3, 2, gain=2.0))
    x = g.add(transpose(g, x, [0, 2, 1]), tensor(g, sinusoids(1500, 384)))
    for _ in range(4):
        x = residual(g, x, whisper_attention(g, norm(g, x), 6))
        x = residual(g, x, feed_forward(g, norm(g, x), 1536))
    g.output(norm(g, x))


def whisper_decoder_step(g):
    """One word: keys and values of 447 words before it and of 1500 frames of sound are inputs."""
    heads, dim = 6, 384
    x = g.add(g.input("input", (1, 1, dim), -1.5, 1.5), tensor(g, g.normal((1, 1, dim), 0.2)))
    caches = []
    for i in range(4):
        past, sound = ([g.input(f"{kind}_{what}_{i}", (1, heads, tokens, dim // heads), -2.0, 2.0)
                        for what in ("key", "value")] for kind, tokens in (("past", 447), ("cross", 1500)))
        y = norm(g, x)
        q = scaled_query(g, y, heads)
        k = join(g, [past[0], heads_of(g, g.linear(y, dim, bias=False), heads)], 2)
        v = join(g, [past[1], heads_of(g, g.linear(y, dim), heads)], 2)
        caches += [k, v]
        y = attend(g, q, transpose(g, k, [0, 1, 3, 2]), v, divide=False)
        x = residual(g, x, g.linear(y, dim, gain=0.5))
        q = scaled_query(g, norm(g, x), heads)
        y = attend(g, q, transpose(g, sound[0], [0, 1, 3, 2]), sound[1], divide=False)
        x = residual(g, x, g.linear(y, dim, gain=0.5))
        x = residual(g, x, feed_forward(g, norm(g, x), 4 * dim))
    g.output(g.linear(norm(g, x), 51865, bias=False))
    for cache in caches:
        g.output(cache)


# -- Conformer ---------------------------------------------------------------
def half_feed_forward(g, x, hidden):
    y = feed_forward(g, norm(g, x), hidden, act=silu)
    return residual(g, x, scaled(g, y, 0.5))


def relative_attention(g, x, heads, places):
    """Attention whose scores have a part by distance: products with all distances, of which each row takes its own."""
    _, tokens, dim = g.shape[x]
    width, far = dim // heads, g.shape[places][1]
    q = heads_of(g, g.linear(x, dim), heads, (0, 1, 2, 3))
    k = heads_of(g, g.linear(x, dim), heads, (0, 2, 3, 1))
    v = heads_of(g, g.linear(x, dim), heads)
    p = heads_of(g, g.linear(places, dim, bias=False), heads, (0, 2, 3, 1))

    def biased():
        y = spread(g, "Add", q, tensor(g, g.normal((heads, width), 0.1)))
        return transpose(g, quantized(g, y), [0, 2, 1, 3])

    content = quantized(g, g.matmul(biased(), k), -32.0, 32.0)
    y = quantized(g, g.matmul(biased(), p), -32.0, 32.0)
    y = g.op("Pad", [y, g.const(np.array([0, 0, 0, 1, 0, 0, 0, 0], np.int64), "pads"), g._f(0.0)],
             (1, heads, tokens, far + 1), mode="constant")
    y = g.reshape(y, (1, heads, far + 1, tokens))
    y = g.reshape(cut(g, y, 2, 1, 2 ** 31), (1, heads, tokens, far))
    s = spread(g, "Add", content, cut(g, y, 3, 0, tokens))
    s = g.op("Div", [quantized(g, s, -32.0, 32.0), g._f(math.sqrt(width))], g.shape[s])
    return g.linear(weigh(g, s, v), dim, gain=0.5)


def convolution_module(g, x):
    """Pointwise, gate, 31 frames of one channel, pointwise: on (1, channels, frames), batch normalization folded."""
    dim = g.shape[x][-1]
    y = transpose(g, norm(g, x), [0, 2, 1])
    a, b = split(g, conv1d(g, y, 2 * dim, gain=1.5), 1, (dim, dim))
    b = quantized(g, g.op("Sigmoid", [b], g.shape[b]), 0.0, 1.0)
    y = quantized(g, spread(g, "Mul", a, b))
    y = silu(g, conv1d(g, y, dim, 31, groups=dim, gain=1.5))
    return transpose(g, conv1d(g, y, dim, gain=0.5), [0, 2, 1])


def conformer_s(g):
    """Sixteen layers on 200 frames, made of 800 spectra by two convolutions."""
    dim, heads, tokens = 144, 4, 200
    x = unsqueeze(g, g.input("mel", (1, 800, 80), -1.5, 1.5), 1)
    x = g.conv(g.conv(x, dim, 3, 2), dim, 3, 2)
    n, _, h, w = g.shape[x]
    x = reshape(g, transpose(g, x, [0, 2, 1, 3]), (n, h, dim * w))
    x = g.linear(x, dim)
    places = tensor(g, sinusoids(2 * tokens - 1, dim)[None])
    for _ in range(16):
        x = half_feed_forward(g, x, 4 * dim)
        x = residual(g, x, relative_attention(g, norm(g, x), heads, places))
        x = residual(g, x, convolution_module(g, x))
        x = norm(g, half_feed_forward(g, x, 4 * dim))
    g.output(x)


# -- wav2vec 2.0 -------------------------------------------------------------
def channel_norm(g, x):
    """GroupNorm of one channel each, as it is exported: an instance normalization between two Reshapes."""
    _, c, _ = g.shape[x]
    y = reshape(g, x, (1, c, g.shape[x][2]))
    ones, zeros = g.const(np.ones(c, np.float32), "g"), g.const(np.zeros(c, np.float32), "be")
    y = quantized(g, g.op("InstanceNormalization", [y, ones, zeros], g.shape[y], epsilon=1e-5))
    y = reshape(g, y, g.shape[x])
    y = spread(g, "Mul", y, tensor(g, 1.0 + g.normal((c, 1), 0.1), 0.0, 2.0))
    return quantized(g, spread(g, "Add", y, tensor(g, g.normal((c, 1), 0.1))))


def wav2vec2(g):
    """A second of sound: seven convolutions to 49 frames, a wide one for places, four of the twelve layers, letters."""
    x = unsqueeze(g, g.input("sound", (1, 16000), -1.5, 1.5), 1)
    x = gelu(g, channel_norm(g, conv1d(g, x, 512, 10, 5, 0, bias=False)))
    for k in (3, 3, 3, 3, 2, 2):
        x = gelu(g, conv1d(g, x, 512, k, 2, 0, bias=False, gain=2.0))
    x = g.linear(norm(g, transpose(g, x, [0, 2, 1])), 768)
    y = conv1d(g, transpose(g, x, [0, 2, 1]), 768, 128, 1, 64, groups=16)
    y = gelu(g, cut(g, y, 2, 0, -1))
    x = norm(g, g.add(x, transpose(g, y, [0, 2, 1])))
    for _ in range(4):
        x = post_norm_layer(g, x, 12, 3072)
    g.output(g.linear(x, 32))


NETWORKS = {
    "whisper_tiny_encoder": whisper_encoder,
    "whisper_tiny_decoder_step": whisper_decoder_step,
    "conformer_s": conformer_s,
    "wav2vec2_base_1s": wav2vec2,
}
