"""Networks that classify images, with the layer shapes of the published ones and random weights."""
import numpy as np

SMOOTH = 1.15  # keeps the size of numbers through SiLU and HardSwish, on top of what ReLU needs


def divisible(v, by=8):
    """The multiple of by nearest to v, at most a tenth below it."""
    near = max(by, int(v + by / 2) // by * by)
    return near + by if near < 0.9 * v else near


def efficientnet(excite, act):
    """EfficientNet-B0 of torchvision; without squeeze-and-excite and with ReLU6 it is EfficientNet-Lite0."""
    gain = SMOOTH if act == "silu" else 1.0
    stages = [(1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 3, 1, 5),
              (6, 192, 4, 2, 5), (6, 320, 1, 1, 3)]

    def build(g):
        x = g.conv(g.input("input", (1, 3, 224, 224), -1.0, 1.0), 32, 3, 2, act=act, gain=1.7 * gain)
        for t, c, n, s, k in stages:
            for i in range(n):
                stride, ci, y = (s if i == 0 else 1), g.shape[x][1], x
                if t != 1:
                    y = g.conv(y, ci * t, 1, act=act, gain=gain)
                y = g.conv(y, ci * t, k, stride, g=ci * t, act=act, gain=gain)
                if excite:
                    y = g.squeeze_excite(y, ci // 4, "silu")
                residual = stride == 1 and ci == c
                y = g.conv(y, c, 1, act=None, gain=(0.5 if residual else 1.0) * (1.8 if excite else 1.0))
                x = g.add(x, y) if residual else y
        x = g.conv(x, 1280, 1, act=act, gain=gain)
        g.output(g.gemm(g.gap_flat(x), 1000))
    return build


def mobilenet_v3_stages(g, x, scale=1.0, excite=True):
    """The stem and the blocks of MobileNetV3-Large; returns what each block makes."""
    def c(v):
        return divisible(v * scale)

    x = g.conv(x, c(16), 3, 2, act="hard_swish", gain=1.7 * SMOOTH)
    made = []
    for k, expanded, co, se, act, s in [
            (3, 16, 16, 0, "relu", 1), (3, 64, 24, 0, "relu", 2), (3, 72, 24, 0, "relu", 1), (5, 72, 40, 1, "relu", 2),
            (5, 120, 40, 1, "relu", 1), (5, 120, 40, 1, "relu", 1), (3, 240, 80, 0, "hard_swish", 2),
            (3, 200, 80, 0, "hard_swish", 1), (3, 184, 80, 0, "hard_swish", 1), (3, 184, 80, 0, "hard_swish", 1),
            (3, 480, 112, 1, "hard_swish", 1), (3, 672, 112, 1, "hard_swish", 1), (5, 672, 160, 1, "hard_swish", 2),
            (5, 960, 160, 1, "hard_swish", 1), (5, 960, 160, 1, "hard_swish", 1)]:
        y, e, ci, gain = x, c(expanded), g.shape[x][1], SMOOTH if act == "hard_swish" else 1.0
        if expanded != 16:
            y = g.conv(y, e, 1, act=act, gain=gain)
        y = g.conv(y, e, k, s, g=e, act=act, gain=gain)
        if se and excite:
            y = g.squeeze_excite(y, divisible(e / 4), gate="hard_sigmoid")
        residual = s == 1 and ci == c(co)
        y = g.conv(y, c(co), 1, act=None, gain=(0.5 if residual else 1.0) * (1.7 if se and excite else 1.0))
        x = g.add(x, y) if residual else y
        made.append(x)
    return made


def mobilenet_v3(g):
    x = mobilenet_v3_stages(g, g.input("input", (1, 3, 224, 224), -1.0, 1.0))[-1]
    x = g.gap_flat(g.conv(x, 960, 1, act="hard_swish", gain=SMOOTH))
    g.output(g.gemm(g.act(g.gemm(x, 1280), "hard_swish"), 1000))


def shufflenet_v2(g):
    def shuffle(x):
        n, c, h, w = g.shape[x]
        return g.view(g.permute(g.view(x, (n, 2, c // 2, h, w)), [0, 2, 1, 3, 4]), (n, c, h, w))

    x = g.conv(g.input("input", (1, 3, 224, 224), -1.0, 1.0), 24, 3, 2, gain=1.7)
    x = g.pool(x, 3, 2, 1)
    for co, n in [(116, 4), (232, 8), (464, 4)]:
        h = co // 2
        for i in range(n):
            if i == 0:
                ci = g.shape[x][1]
                a = g.conv(g.conv(x, ci, 3, 2, g=ci, act=None), h, 1)
                b = x
            else:
                a, b = g.split(x, (h, h))
            b = g.conv(g.conv(b, h, 1), h, 3, 2 if i == 0 else 1, g=h, act=None)
            x = shuffle(g.concat([a, g.conv(b, h, 1)]))
    x = g.conv(x, 1024, 1)
    x = g.op("ReduceMean", [x], (1, 1024), axes=[2, 3], keepdims=0)
    g.output(g.gemm(g.ranged(x, 0.0, 6.0), 1000))


def regnety_400mf(g):
    x = g.conv(g.input("input", (1, 3, 224, 224), -1.0, 1.0), 32, 3, 2, gain=1.7)
    for co, n in [(48, 1), (104, 3), (208, 6), (440, 6)]:
        for i in range(n):
            s, ci = (2 if i == 0 else 1), g.shape[x][1]
            y = g.conv(g.conv(x, co, 1), co, 3, s, g=co // 8)
            y = g.conv(g.squeeze_excite(y, round(ci / 4)), co, 1, act=None, gain=0.8)
            idn = g.conv(x, co, 1, s, act=None) if i == 0 else x
            x = g.relu(g.op("Add", [y, idn], g.shape[y]))
    g.output(g.gemm(g.gap_flat(x), 1000))


def convnext_t(g):
    last, first = [0, 2, 3, 1], [0, 3, 1, 2]  # the axis of channels

    def norm(x):
        return g.ranged(g.layernorm(x), -4.0, 4.0)

    def norm_channels(x):
        return g.permute(norm(g.permute(x, last)), first)

    def block(x):
        c = g.shape[x][1]
        y = norm(g.permute(g.conv(x, c, 7, g=c, act=None), last))
        y = g.ranged(g.gelu(g.linear(y, 4 * c)), -0.5, 4.0)
        y = g.permute(g.linear(y, c, gain=1.5), first)
        scale = g.constant(0.2 + 0.3 * g.rng.random((c, 1, 1), dtype=np.float32), True)
        return g.add(x, g.mul(y, scale))

    x = g.conv(g.input("input", (1, 3, 224, 224), -1.0, 1.0), 96, 4, 4, 0, act=None, gain=1.7)
    x = norm_channels(x)
    for c, n in [(96, 3), (192, 3), (384, 9), (768, 3)]:
        if c != 96:
            x = g.conv(norm_channels(x), c, 2, 2, 0, act=None)
        for _ in range(n):
            x = block(x)
    x = g.ranged(g.op("GlobalAveragePool", [x], (1, 768, 1, 1)), -4.0, 4.0)
    x = norm_channels(x)
    x = g.alike(g.op("Flatten", [x], (1, 768), axis=1), x)
    g.output(g.gemm(x, 1000))


NETWORKS = {
    "efficientnet_b0_224": efficientnet(True, "silu"),
    "efficientnet_lite0_224": efficientnet(False, "relu6"),
    "mobilenet_v3_large_224": mobilenet_v3,
    "shufflenet_v2_x1_224": shufflenet_v2,
    "regnety_400mf_224": regnety_400mf,
    "convnext_t_224": convnext_t,
}
