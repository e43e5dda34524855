"""Networks of images in the wide set, with the layer shapes of the published ones and random weights."""
import networks_classify
import networks_detect
from networks_classify import SMOOTH, mobilenet_v3_stages


def unet(g):
    """U-Net with 32 channels at first, as published for 256x256 slices of brains."""
    def twice(x, co):
        return g.conv(g.conv(x, co), co)

    x, kept = g.input("input", (1, 3, 256, 256), -1.0, 1.0), []
    for co in (32, 64, 128, 256):
        kept.append(twice(x, co))
        x = g.pool(kept[-1], 2, 2, alike=True)
    x = twice(x, 512)
    for y in reversed(kept):
        co = g.shape[y][1]
        x = twice(g.concat([g.conv_transpose(x, co, act=None), y]), co)
    g.output(g.act(g.conv(x, 1, 1, act=None), "sigmoid"))


def deeplabv3p_mobilenet(g):
    """DeepLabv3+ on MobileNetV2 with an output stride of 16, for the 21 classes of VOC."""
    x = g.conv(g.input("input", (1, 3, 513, 513), -1.0, 1.0), 32, 3, 2, act="relu6", gain=1.7)
    for t, c, n, s, d in [(1, 16, 1, 1, 1), (6, 24, 2, 2, 1), (6, 32, 3, 2, 1), (6, 64, 4, 2, 1), (6, 96, 3, 1, 1),
                          (6, 160, 3, 1, 2), (6, 320, 1, 1, 2)]:
        for i in range(n):
            stride, ci, y = (s if i == 0 else 1), g.shape[x][1], x
            if t != 1:
                y = g.conv(y, ci * t, 1, act="relu6")
            y = g.conv(y, ci * t, 3, stride, g=ci * t, act="relu6", d=1 if c == 160 and i == 0 else d)
            residual = stride == 1 and ci == c
            y = g.conv(y, c, 1, act=None, gain=0.5 if residual else 1.0)
            x = g.add(x, y) if residual else y
        if c == 24:
            low = x
    _, c, h, w = g.shape[x]
    mean = g.ranged(g.op("GlobalAveragePool", [x], (1, c, 1, 1)), -4.0, 4.0)
    parts = [g.conv(x, 256, 1), *[g.conv(x, 256, 3, d=d) for d in (6, 12, 18)],
             g.resize(g.conv(mean, 256, 1), h, w, "linear")]
    x = g.conv(g.concat(parts), 256, 1)
    low = g.conv(low, 48, 1)
    x = g.concat([low, g.resize(x, *g.shape[low][2:], "linear")])
    x = g.conv(g.conv(x, 256, 3), 21, 1, act=None)
    g.output(g.resize(x, 513, 513, "linear"))


def ppocr_det(g):
    """PP-OCRv3's finder of text: half of MobileNetV3-Large, a pyramid with squeeze-and-excite, a head of thresholds."""
    def excited(x, co, k):
        x = g.conv(x, co, k, act=None, gain=0.6)
        return g.add(x, g.squeeze_excite(x, co // 4, gate="hard_sigmoid"))

    def bigger(x, by):
        _, _, h, w = g.shape[x]
        return g.resize(x, by * h, by * w)

    made = mobilenet_v3_stages(g, g.input("x", (1, 3, 640, 640), -1.0, 1.0), 0.5, False)
    last = g.conv(made[14], 480, 1, act="hard_swish", gain=SMOOTH)
    c2, c3, c4, c5 = [excited(y, 96, 1) for y in (made[2], made[5], made[11], last)]
    c4 = g.add(c4, bigger(c5, 2))
    c3 = g.add(c3, bigger(c4, 2))
    c2 = g.add(c2, bigger(c3, 2))
    parts = [excited(y, 24, 3) for y in (c5, c4, c3, c2)]
    x = g.concat([*[bigger(y, by) for y, by in zip(parts, (8, 4, 2))], parts[3]])
    x = g.conv_transpose(g.conv(x, 24, gain=0.2), 24)
    g.output(g.act(g.conv_transpose(x, 1, act=None), "sigmoid"))


def ppocr_rec(g):
    """PP-OCRv3's reader of lines: a light backbone 3 rows high at its end, two blocks of attention, 6625 characters."""
    def smooth(x, co, k=1, s=1, groups=1, act="hard_swish", gain=1.0):
        return g.conv(x, co, k, s, g=groups, act=act, gain=gain * 1.1 * SMOOTH)

    x = smooth(g.input("x", (1, 3, 48, 320), -1.0, 1.0), 16, 3, 2)
    for co, k, s, excite in [(32, 3, 1, 0), (64, 3, 1, 0), (64, 3, 1, 0), (128, 3, (2, 1), 0), (128, 3, 1, 0),
                             (256, 3, (2, 1), 0), *[(256, 5, 1, 0)] * 5, (512, 5, (2, 1), 1), (512, 5, (1, 2), 1)]:
        ci = g.shape[x][1]
        x = smooth(x, ci, k, s, ci)
        if excite:
            x = g.squeeze_excite(x, ci // 4, gate="hard_sigmoid")
        x = smooth(x, co, gain=2.0 if excite else 1.0)
    short = g.pool(x, 2, 2, kind="AveragePool", alike=True)
    _, c, h, w = g.shape[short]
    x = smooth(smooth(short, 64, 3, act="silu", gain=1.5), 120, act="silu", gain=1.5)
    x = g.permute(g.view(x, (1, 120, h * w)), [0, 2, 1])
    for _ in range(2):
        x = attention_block(g, x, 8, 2)
    x = g.permute(g.view(g.ranged(g.layernorm(x), -4.0, 4.0), (1, h, w, 120)), [0, 3, 1, 2])
    x = g.concat([short, smooth(x, c, act="silu")])
    x = smooth(smooth(x, 64, 3, act="silu", gain=1.2), 64, act="silu", gain=1.2)
    x = g.permute(g.view(x, (1, 64, h * w)), [0, 2, 1])
    x = g.linear(x, 6625, gain=0.5)
    g.output(g.op("Softmax", [x], g.shape[x], axis=2))


def attention_block(g, x, heads, ratio):
    """Attention and two layers with SiLU between, each added to its argument and normalized."""
    _, n, c = g.shape[x]
    d = c // heads
    y = g.permute(g.view(g.linear(x, 3 * c), (1, n, 3, heads, d)), [2, 0, 3, 1, 4])
    q, k, v = [g.view(part, (1, heads, n, d)) for part in g.split(y, (1, 1, 1), 0)]
    q = g.mul(q, g.constant(d ** -0.5))
    s = g.softmax(g.ranged(g.matmul(q, g.permute(k, [0, 1, 3, 2])), -4.0, 4.0))
    y = g.ranged(g.matmul(s, v), -4.0, 4.0)
    y = g.linear(g.view(g.permute(y, [0, 2, 1, 3]), (1, n, c)), c)
    x = g.ranged(g.layernorm(g.add(x, y)), -4.0, 4.0)
    y = g.linear(g.act(g.linear(x, ratio * c), "silu"), c)
    return g.ranged(g.layernorm(g.add(x, y)), -4.0, 4.0)


NETWORKS = {
    **networks_classify.NETWORKS,
    **networks_detect.NETWORKS,
    "unet_256": unet,
    "deeplabv3p_mobilenet_513": deeplabv3p_mobilenet,
    "ppocr_det_640": ppocr_det,
    "ppocr_rec_48x320": ppocr_rec,
}
