"""A small convolutional network in numpy: forward, gradient, and a training step. Images are [N, H, W, C], float32."""

import numpy as np

# Shapes as OH_NN takes them: filters [out, height, width, in], the fully connected layer [out, in] over H, W, C.
SHAPES = {
    "conv1.weight": (16, 3, 3, 1),
    "conv1.bias": (16,),
    "conv2.weight": (32, 3, 3, 16),
    "conv2.bias": (32,),
    "fc.weight": (10, 512),
    "fc.bias": (10,),
}


def initial(rng):
    """Weights drawn for ReLU layers (variance 2 / fan-in), zero biases."""
    weights = {}
    for name, shape in SHAPES.items():
        fan_in = int(np.prod(shape[1:]))
        values = rng.normal(0, np.sqrt(2 / fan_in), shape) if name.endswith("weight") else np.zeros(shape)
        weights[name] = values.astype(np.float32)
    return weights


def patches(x):
    """[N,H,W,C] -> [N,H,W,9*C]: the 3x3 neighbourhood of every pixel, zeros outside (padding SAME)."""
    n, h, w, _ = x.shape
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    return np.concatenate([padded[:, i:i + h, j:j + w] for i in range(3) for j in range(3)], axis=3)


def patches_gradient(g, channels):
    """The transpose of patches: adds every neighbourhood back to its pixels."""
    n, h, w, _ = g.shape
    padded = np.zeros((n, h + 2, w + 2, channels), np.float32)
    for k in range(9):
        i, j = divmod(k, 3)
        padded[:, i:i + h, j:j + w] += g[..., k * channels:(k + 1) * channels]
    return padded[:, 1:-1, 1:-1]


def convolve(columns, weight, bias):
    return columns @ weight.reshape(weight.shape[0], -1).T + bias


def pool(x):
    """Maximum over 2x2 windows, and which pixels held it."""
    n, h, w, c = x.shape
    blocks = x.reshape(n, h // 2, 2, w // 2, 2, c)
    top = blocks.max(axis=(2, 4), keepdims=True)
    return top[:, :, 0, :, 0], blocks == top


def forward(weights, x):
    """Returns the ten logits of every image and what the gradient needs."""
    columns1 = patches(x)
    conv1 = np.maximum(convolve(columns1, weights["conv1.weight"], weights["conv1.bias"]), 0)
    pooled, where = pool(conv1)
    columns2 = patches(pooled)
    conv2 = np.maximum(convolve(columns2, weights["conv2.weight"], weights["conv2.bias"]), 0)
    flat = conv2.reshape(len(x), -1)
    logits = flat @ weights["fc.weight"].T + weights["fc.bias"]
    return logits, (columns1, conv1, where, columns2, conv2, flat)


def softmax(logits):
    e = np.exp(logits - logits.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def gradient(weights, x, labels):
    """Gradient of the mean cross entropy."""
    logits, (columns1, conv1, where, columns2, conv2, flat) = forward(weights, x)
    g = softmax(logits)
    g[np.arange(len(x)), labels] -= 1
    g /= len(x)
    out = {"fc.weight": g.T @ flat, "fc.bias": g.sum(axis=0)}

    g = (g @ weights["fc.weight"]).reshape(conv2.shape) * (conv2 > 0)
    out["conv2.weight"], out["conv2.bias"] = filter_gradient(g, columns2, "conv2.weight")
    g = patches_gradient(g @ weights["conv2.weight"].reshape(g.shape[3], -1), SHAPES["conv2.weight"][3])

    n, h, w, c = g.shape
    share = where / where.sum(axis=(2, 4), keepdims=True)
    g = (share * g.reshape(n, h, 1, w, 1, c)).reshape(conv1.shape) * (conv1 > 0)
    out["conv1.weight"], out["conv1.bias"] = filter_gradient(g, columns1, "conv1.weight")
    return out


def filter_gradient(g, columns, name):
    rows = g.reshape(-1, g.shape[3])
    return (rows.T @ columns.reshape(len(rows), -1)).reshape(SHAPES[name]), rows.sum(axis=0)


class Adam:
    """Adam with decoupled weight decay."""

    def __init__(self, weights, decay):
        self.mean = {k: np.zeros_like(v) for k, v in weights.items()}
        self.square = {k: np.zeros_like(v) for k, v in weights.items()}
        self.decay, self.step_number = decay, 0

    def step(self, weights, gradients, rate):
        self.step_number += 1
        for k, g in gradients.items():
            self.mean[k] = 0.9 * self.mean[k] + 0.1 * g
            self.square[k] = 0.999 * self.square[k] + 0.001 * g * g
            mean = self.mean[k] / (1 - 0.9**self.step_number)
            square = self.square[k] / (1 - 0.999**self.step_number)
            change = mean / (np.sqrt(square) + 1e-8) + self.decay * weights[k]
            weights[k] = (weights[k] - rate * change).astype(np.float32)
