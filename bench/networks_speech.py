"""Recurrent networks of sound: a voice detector of two sample rates, the acoustic model of a speaker."""
import numpy as np
from onnx import TensorProto, helper

from sequence_layers import conv1d, cut, plain_input, quantized, transpose, unsqueeze


def weights(g, *shape):
    """Weights of a recurrent layer, uniform as frameworks begin."""
    bound = shape[-1] ** -0.5
    return g.const(g.rng.uniform(-bound, bound, shape).astype(np.float32), "w", True)


# -- voice detector ----------------------------------------------------------
def branch(g, name, build):
    """The subgraph of what build appends; its outputs are float32."""
    nodes, inits = g.nodes, g.inits
    g.nodes, g.inits = [], []
    outs = [helper.make_tensor_value_info(o, TensorProto.FLOAT, list(g.shape[o])) for o in build()]
    graph = helper.make_graph(g.nodes, name, [], outs, g.inits)
    g.nodes, g.inits = nodes, inits
    return graph


def magnitudes(g, x, window):
    """The short-time spectrum: a convolution with sines and cosines, and the length of each pair."""
    bins = window // 2 + 1
    size = g.shape[x][-1]
    pad = np.array([0, 0, 0, window // 4], np.int64)
    x = g.op("Pad", [x, g.const(pad, "pads")], (1, size + window // 4), mode="reflect")
    x = unsqueeze(g, quantized(g, x, -1.5, 1.5), 1)
    y = conv1d(g, x, 2 * bins, window, window // 2, 0, bias=False, gain=1.5)
    real, other = cut(g, y, 1, 0, bins), cut(g, y, 1, bins, 2 ** 31)
    real, other = (g.op("Pow", [t, g._f(2.0)], g.shape[t]) for t in (real, other))
    s = g.op("Add", [real, other], g.shape[real])
    return quantized(g, g.op("Sqrt", [s], g.shape[s]), 0.0, 6.0)


def detector(g, x, state, window):
    """Spectrum, four convolutions, an LSTM of 128 with its state, the probability of speech."""
    x = magnitudes(g, x, window)
    for co, stride in ((128, 1), (64, 2), (64, 2), (128, 1)):
        y = conv1d(g, x, co, 3, stride, gain=1.4)
        x = quantized(g, g.op("Relu", [y], g.shape[y]), 0.0, 4.0)
    x = transpose(g, x, [2, 0, 1])
    h, c = (cut(g, state, 0, i, i + 1) for i in range(2))
    ins = [x, weights(g, 1, 512, 128), weights(g, 1, 512, 128), weights(g, 1, 1024), "", h, c]
    y, h, c = g.op("LSTM", ins, [(1, 1, 1, 128), (1, 1, 128), (1, 1, 128)], outs=3, hidden_size=128)
    g.macs += 2 * 512 * 128
    y = transpose(g, g.op("Squeeze", [y, g.const(np.array([1], np.int64), "i")], (1, 1, 128)), [1, 2, 0])
    y = quantized(g, g.op("Relu", [y], g.shape[y]), 0.0, 1.0)
    y = conv1d(g, y, 1)
    y = g.op("Sigmoid", [y], g.shape[y])
    y = g.op("ReduceMean", [y], (1, 1), axes=[2], keepdims=0)
    return y, g.op("Concat", [h, c], (2, 1, 128), axis=0)


def voice_detector(g):
    """Two detectors, of 16 and of 8 kHz, of which a number chooses: above zero, the second."""
    x = plain_input(g, "input", (1, 576))
    state = plain_input(g, "state", (2, 1, 128))
    rate = plain_input(g, "rate", (1,))
    slow = g.op("Greater", [rate, g.const(np.float32(0.0), "zero")], (1,))
    then = branch(g, "rate_8k", lambda: detector(g, cut(g, x, 1, -288, 2 ** 31), state, 128))
    g.macs = 0  # one of them is computed: those of the larger count
    other = branch(g, "rate_16k", lambda: detector(g, x, state, 256))
    y, state = g.op("If", [slow], [(1, 1), (2, 1, 128)], outs=2, then_branch=then, else_branch=other)
    g.output(y)
    g.output(state)


# -- speaker -----------------------------------------------------------------
def gru(g, x, hidden):
    """A GRU of both directions over (tokens, 1, channels), its results side by side."""
    tokens, _, ci = g.shape[x]
    ins = [x, weights(g, 2, 3 * hidden, ci), weights(g, 2, 3 * hidden, hidden), weights(g, 2, 6 * hidden)]
    y = g.op("GRU", ins, (tokens, 2, 1, hidden), hidden_size=hidden, direction="bidirectional", linear_before_reset=1)
    g.nodes[-1].output.append(g.uid("state"))
    g.macs += 2 * tokens * 3 * hidden * (ci + hidden)
    return g.reshape(g.transpose(y, [0, 2, 1, 3]), (tokens, 1, 2 * hidden))


def speaker(g):
    """200 letters: three convolutions, a GRU of 256 in each direction, 80 bands, and five convolutions to refine."""
    x = transpose(g, g.input("input", (1, 200, 256), -1.5, 1.5), [0, 2, 1])
    for _ in range(3):
        y = conv1d(g, x, 256, 5, gain=1.4)
        x = quantized(g, g.op("Relu", [y], g.shape[y]), 0.0, 4.0)
    x = gru(g, transpose(g, x, [2, 0, 1]), 256)
    x = g.linear(quantized(g, g.transpose(x, [1, 0, 2]), -1.0, 1.0), 80)
    y = x = transpose(g, x, [0, 2, 1])
    for _ in range(4):
        y = conv1d(g, y, 512, 5, gain=1.5)
        y = quantized(g, g.op("Tanh", [y], g.shape[y]), -1.0, 1.0)
    g.output(transpose(g, g.add(x, conv1d(g, y, 80, 5)), [0, 2, 1]))


NETWORKS = {
    "silero_like_vad": voice_detector,
    "gru_tts_like": speaker,
}
