"""Networks that find objects in images, up to their boxes: layer shapes of the published ones, random weights."""
import numpy as np

CLASSES, SIDE, STRIDES = 80, 640, (8, 16, 32)
SMOOTH = 1.08  # as networks_classify's, for networks that concatenate where those add


def cv(g, x, co, k=1, s=1, p=None, act="silu", gain=1.0):
    return g.conv(x, co, k, s, p, act=act, gain=gain * (SMOOTH if act else 1.0))


def depthwise(g, x, k=3, s=1, act="silu"):
    c = g.shape[x][1]
    return g.conv(x, c, k, s, g=c, act=act, gain=SMOOTH if act else 1.0)


def image(g):
    return g.input("images", (1, 3, SIDE, SIDE), -1.0, 1.0)


def up(g, x):
    _, _, h, w = g.shape[x]
    return g.resize(x, 2 * h, 2 * w)


def bottleneck(g, x, hidden, shortcut):
    c = g.shape[x][1]
    y = cv(g, cv(g, x, hidden, 3), c, 3, gain=0.6 if shortcut else 1.0)
    return g.add(x, y) if shortcut else y


def c3(g, x, co, n, shortcut=True, k=1):
    """YOLOv5's block; with k=3 the one that YOLO11 calls C3k."""
    h = co // 2
    a = cv(g, x, h)
    for _ in range(n):
        y = cv(g, cv(g, a, h, k), h, 3, gain=0.6 if shortcut else 1.0)
        a = g.add(a, y) if shortcut else y
    return cv(g, g.concat([a, cv(g, x, h)]), co)


def c2f(g, x, co, n, inner, e=0.5):
    """YOLOv8's block: half of the channels go through n inner ones, and what each makes is kept."""
    h = int(co * e)
    parts = g.split(cv(g, x, 2 * h), (h, h))
    for _ in range(n):
        parts.append(inner(parts[-1]))
    return cv(g, g.concat(parts), co)


def sppf(g, x):
    co = g.shape[x][1]
    parts = [cv(g, x, co // 2)]
    for _ in range(3):
        parts.append(g.pool(parts[-1], 5, 1, 2, alike=True))
    return cv(g, g.concat(parts), co)


def attention(g, x):
    """YOLO11's and YOLOv10's: heads of 64 channels with keys of 32, and a depthwise convolution of the values."""
    _, c, h, w = g.shape[x]
    heads, n = c // 64, h * w
    y = g.view(cv(g, x, 2 * c, act=None), (1, heads, 128, n))
    q, k, v = g.split(y, (32, 32, 64), 2)
    s = g.ranged(g.matmul(g.permute(q, [0, 1, 3, 2]), k), -16.0, 16.0)
    s = g.softmax(g.mul(s, g.constant(32 ** -0.5)))
    o = g.ranged(g.matmul(v, g.permute(s, [0, 1, 3, 2])), -4.0, 4.0)
    y = g.add(g.view(o, (1, c, h, w)), depthwise(g, g.view(v, (1, c, h, w)), act=None))
    return cv(g, y, c, act=None, gain=0.5)


def attend(g, x):
    """Half of the channels through attention and a pair of 1x1 convolutions: C2PSA with one block, and PSA."""
    co = g.shape[x][1]
    h = co // 2
    a, b = g.split(cv(g, x, co), (h, h))
    b = g.add(b, attention(g, b))
    b = g.add(b, cv(g, cv(g, b, 2 * h), h, act=None, gain=0.5))
    return cv(g, g.concat([a, b]), co)


def neck(g, p3, p4, p5, blocks, down):
    """Features of strides 8, 16 and 32 of those of a backbone; blocks says what follows each concatenation."""
    n4 = blocks[0](g.concat([up(g, p5), p4]))
    o3 = blocks[1](g.concat([up(g, n4), p3]))
    o4 = blocks[2](g.concat([cv(g, o3, g.shape[o3][1], 3, 2), n4]))
    return o3, o4, blocks[3](g.concat([down(o4), p5]))


def decode(g, levels, light, corners):
    """The head of YOLOv8 and later: (1, 4, n) boxes, whose arithmetic stays in float32, and (1, 80, n) scores.

    light has the scores' branch made of depthwise convolutions; corners has boxes by corners, not by centre and size.
    """
    first = g.shape[levels[0]][1]
    hidden, box, flat, anchors, strides = max(first, CLASSES), max(16, first // 4, 64), [], [], []
    for o, stride in zip(levels, STRIDES):
        _, _, h, w = g.shape[o]
        b = cv(g, cv(g, cv(g, o, box, 3), box, 3), 64, act=None)
        if light:
            c = cv(g, depthwise(g, cv(g, depthwise(g, o), hidden)), hidden)
        else:
            c = cv(g, cv(g, o, hidden, 3), hidden, 3)
        flat.append(g.view(g.concat([b, cv(g, c, CLASSES, act=None, gain=0.1)]), (1, 64 + CLASSES, h * w)))
        rows, columns = np.mgrid[0:h, 0:w].astype(np.float32) + 0.5
        anchors.append(np.stack([columns.ravel(), rows.ravel()]))
        strides.append(np.full((1, h * w), stride, np.float32))
    anchors, strides = np.concatenate(anchors, 1)[None], np.concatenate(strides, 1)
    n = strides.shape[1]
    b, c = g.split(g.concat(flat, 2), (64, CLASSES))
    b = g.softmax(g.permute(g.view(b, (1, 4, 16, n)), [0, 2, 1, 3]), 1)
    steps = np.arange(16, dtype=np.float32).reshape(1, 16, 1, 1)
    steps = g.qweight(steps, 0)[0] if g.quant else g.const(steps, "w", True)
    g.macs += 64 * n
    b = g.view(g.ranged(g.op("Conv", [b, steps], (1, 1, 4, n), kernel_shape=[1, 1]), 0.0, 15.0), (1, 4, n))
    lt, rb = g.split(b, (2, 2))
    half, at = (1, 2, n), g.const(anchors)
    lt, rb = g.op("Sub", [at, lt], half), g.op("Add", [at, rb], half)
    if not corners:
        centre = g.op("Div", [g.op("Add", [lt, rb], half), g._f(2.0)], half)
        lt, rb = centre, g.op("Sub", [rb, lt], half)
    b = g.op("Concat", [lt, rb], (1, 4, n), axis=1)
    return g.op("Mul", [b, g.const(strides)], (1, 4, n)), g.act(c, "sigmoid")


def yolov5n(g):
    x = cv(g, cv(g, image(g), 16, 6, 2, 2, gain=1.7), 32, 3, 2)
    x = c3(g, x, 32, 1)
    p3 = c3(g, cv(g, x, 64, 3, 2), 64, 2)
    p4 = c3(g, cv(g, p3, 128, 3, 2), 128, 3)
    x = sppf(g, c3(g, cv(g, p4, 256, 3, 2), 256, 1))
    h5 = cv(g, x, 128)
    h4 = cv(g, c3(g, g.concat([up(g, h5), p4]), 128, 1, False), 64)
    o3 = c3(g, g.concat([up(g, h4), p3]), 64, 1, False)
    o4 = c3(g, g.concat([cv(g, o3, 64, 3, 2), h4]), 128, 1, False)
    o5 = c3(g, g.concat([cv(g, o4, 128, 3, 2), h5]), 256, 1, False)
    sizes = [[(10, 13), (16, 30), (33, 23)], [(30, 61), (62, 45), (59, 119)], [(116, 90), (156, 198), (373, 326)]]
    found = []
    for o, stride, size in zip((o3, o4, o5), STRIDES, sizes):
        _, _, h, w = g.shape[o]
        y = g.view(g.conv(o, 3 * (5 + CLASSES), 1, act=None, gain=0.3), (1, 3, 5 + CLASSES, h, w))
        y = g.act(g.permute(y, [0, 1, 3, 4, 2]), "sigmoid")
        xy, wh, scores = g.split(y, (2, 2, 1 + CLASSES), 4)
        shp = (1, 3, h, w, 2)
        rows, columns = np.mgrid[0:h, 0:w].astype(np.float32) - 0.5
        grid = g.const(np.broadcast_to(np.stack([columns, rows], -1), shp))
        anchors = g.const(np.broadcast_to(np.array(size, np.float32).reshape(1, 3, 1, 1, 2), shp))
        xy = g.op("Add", [g.op("Mul", [xy, g._f(2.0)], shp), grid], shp)
        xy = g.op("Mul", [xy, g._f(float(stride))], shp)
        wh = g.op("Pow", [g.op("Mul", [wh, g._f(2.0)], shp), g._f(2.0)], shp)
        wh = g.op("Mul", [wh, anchors], shp)
        y = g.op("Concat", [xy, wh, scores], g.shape[y], axis=4)
        found.append(g.reshape(y, (1, 3 * h * w, 5 + CLASSES)))
    g.output(g.op("Concat", found, (1, sum(g.shape[y][1] for y in found), 5 + CLASSES), axis=1))


def yolov8s(g):
    def block(co, n, shortcut):
        return lambda x: c2f(g, x, co, n, lambda y: bottleneck(g, y, g.shape[y][1], shortcut))

    x = block(64, 1, True)(cv(g, cv(g, image(g), 32, 3, 2, gain=1.7), 64, 3, 2))
    p3 = block(128, 2, True)(cv(g, x, 128, 3, 2))
    p4 = block(256, 2, True)(cv(g, p3, 256, 3, 2))
    p5 = sppf(g, block(512, 1, True)(cv(g, p4, 512, 3, 2)))
    levels = neck(g, p3, p4, p5, [block(co, 1, False) for co in (256, 128, 256, 512)],
                  lambda x: cv(g, x, 256, 3, 2))
    boxes, scores = decode(g, levels, False, False)
    g.output(g.op("Concat", [boxes, scores], (1, 4 + CLASSES, g.shape[boxes][2]), axis=1))


def yolo11n(g):
    def block(co, e=0.5, deep=False):
        def inner(y):
            c = g.shape[y][1]
            return c3(g, y, c, 2, k=3) if deep else bottleneck(g, y, c // 2, True)
        return lambda x: c2f(g, x, co, 1, inner, e)

    x = block(64, 0.25)(cv(g, cv(g, image(g), 16, 3, 2, gain=2.5), 32, 3, 2))
    p3 = block(128, 0.25)(cv(g, x, 64, 3, 2))
    p4 = block(128, deep=True)(cv(g, p3, 128, 3, 2))
    p5 = attend(g, sppf(g, block(256, deep=True)(cv(g, p4, 256, 3, 2))))
    levels = neck(g, p3, p4, p5, [block(128), block(64), block(128), block(256, deep=True)],
                  lambda x: cv(g, x, 128, 3, 2))
    boxes, scores = decode(g, levels, True, False)
    g.output(g.op("Concat", [boxes, scores], (1, 4 + CLASSES, g.shape[boxes][2]), axis=1))


def best(g, boxes, scores, count=300):
    """Rows of a box, its score and its class: the count best, chosen as YOLOv10 does in place of suppressing others."""
    def numbers(*v):
        return g.const(np.array(v, np.int64), "i")

    def gather(x, index):
        shp = (1, count, g.shape[x][2])
        index = g.op("Unsqueeze", [index, numbers(-1)], (1, count, 1))
        return g.op("GatherElements", [x, g.op("Expand", [index, numbers(*shp)], shp)], shp, axis=1)

    n = g.shape[boxes][2]
    y = g.op("Concat", [boxes, scores], (1, 4 + CLASSES, n), axis=1)
    y = g.op("Transpose", [y], (1, n, 4 + CLASSES), perm=[0, 2, 1])
    boxes, scores = g.op("Split", [y, numbers(4, CLASSES)], [(1, n, 4), (1, n, CLASSES)], outs=2, axis=2)
    most = g.op("ReduceMax", [scores], (1, n), axes=[-1], keepdims=0)
    _, rows = g.op("TopK", [most, numbers(count)], [(1, count)] * 2, outs=2, axis=-1)
    boxes, scores = gather(boxes, rows), gather(scores, rows)
    scores = g.op("Flatten", [scores], (1, count * CLASSES), axis=1)
    scores, index = g.op("TopK", [scores, numbers(count)], [(1, count)] * 2, outs=2, axis=-1)
    classes = g.op("Cast", [g.op("Mod", [index, numbers(CLASSES)], (1, count))], (1, count), to=1)
    boxes = gather(boxes, g.op("Div", [index, numbers(CLASSES)], (1, count)))
    columns = [g.op("Unsqueeze", [y, numbers(-1)], (1, count, 1)) for y in (scores, classes)]
    return g.op("Concat", [boxes, *columns], (1, count, 6), axis=2)


def yolov10n(g):
    def block(co, n, shortcut):
        return lambda x: c2f(g, x, co, n, lambda y: bottleneck(g, y, g.shape[y][1], shortcut))

    def down(x, co):
        return depthwise(g, cv(g, x, co), 3, 2, act=None)

    def compact(x):  # a block of depthwise convolutions, the middle one of 7x7
        c = g.shape[x][1]
        y = cv(g, depthwise(g, x), 2 * c)
        return g.add(x, depthwise(g, cv(g, depthwise(g, y, 7), c)))

    x = block(32, 1, True)(cv(g, cv(g, image(g), 16, 3, 2, gain=1.7), 32, 3, 2))
    p3 = block(64, 2, True)(cv(g, x, 64, 3, 2))
    p4 = block(128, 2, True)(down(p3, 128))
    p5 = attend(g, sppf(g, block(256, 1, True)(down(p4, 256))))
    blocks = [block(128, 1, False), block(64, 1, False), block(128, 1, False), lambda x: c2f(g, x, 256, 1, compact)]
    levels = neck(g, p3, p4, p5, blocks, lambda x: down(x, 128))
    g.output(best(g, *decode(g, levels, True, True)))


NETWORKS = {"yolov5n_640": yolov5n, "yolov8s_640": yolov8s, "yolov10n_640": yolov10n, "yolo11n_640": yolo11n}
