"""A detector whose queries attend to points of its maps: RT-DETR with a ResNet of 18 layers."""
import numpy as np

from sequence_layers import (as_before, cut, feed_forward, ints, norm, quantized, reshape, self_attention, split,
                             spread, tensor, transpose, unsqueeze)

DIM, HEADS, QUERIES, CLASSES, POINTS = 256, 8, 300, 80, 4
SIDES = (80, 40, 20)


def relu(g, x):
    return quantized(g, g.act(x, "relu"), 0.0, 4.0)


def backbone(g):
    """Maps of 128, 256 and 512 channels, at an eighth, a sixteenth and a thirty-second of the size."""
    x = g.conv(g.input("images", (1, 3, 640, 640), -1.5, 1.5), 32, 3, 2)
    x = g.pool(g.conv(g.conv(x, 32), 64), 3, 2, 1)
    maps = []
    for stage, planes in enumerate((64, 128, 256, 512)):
        for block in range(2):
            stride = 2 if stage and not block else 1
            y = g.conv(g.conv(x, planes, 3, stride), planes, act=None, gain=0.5)
            if not block:
                x = g.pool(x, 2, 2, kind="AveragePool") if stride == 2 else x
                x = g.conv(x, planes, 1, act=None)
            x = g.relu(g.op("Add", [y, x], g.shape[y]))
        maps.append(x)
    return maps[1:]


def encoder(g, maps):
    """One layer of attention on the smallest map, then maps joined from small to large and back."""
    def cv(x, co, k=1, s=1):
        return g.conv(x, co, k, s, act="silu")

    def rep(x):
        a = cv(x, DIM // 2)
        for _ in range(3):
            a = cv(a, DIM // 2, 3)
        return cv(g.add(a, cv(x, DIM // 2)), DIM)

    p3, p4, p5 = (g.conv(x, DIM, 1, act=None) for x in maps)
    n, _, h, w = g.shape[p5]
    x = transpose(g, reshape(g, p5, (n, DIM, h * w)), [0, 2, 1])
    x = norm(g, g.add(x, self_attention(g, x, HEADS, position=tensor(g, g.normal((1, h * w, DIM), 0.5), -2.0, 2.0))))
    x = norm(g, g.add(x, feed_forward(g, x, 1024)))
    p5 = reshape(g, transpose(g, x, [0, 2, 1]), (n, DIM, h, w))
    l5 = cv(p5, DIM)
    l4 = cv(rep(g.concat([g.upsample2(l5), p4])), DIM)
    o3 = rep(g.concat([g.upsample2(l4), p3]))
    o4 = rep(g.concat([cv(o3, DIM, 3, 2), l4]))
    return [o3, o4, rep(g.concat([cv(o4, DIM, 3, 2), l5]))]


def mlp(g, x, hidden, out, layers, gain=1.0):
    for _ in range(layers - 1):
        x = relu(g, g.linear(x, hidden))
    return g.linear(x, out, gain=gain)


def inverse_sigmoid(g, x):
    shape = g.shape[x]
    x = g.op("Clip", [x, g._f(0.0), g._f(1.0)], shape)
    up = g.op("Clip", [x, g._f(1e-3)], shape)
    down = g.op("Clip", [g.op("Sub", [g._f(1.0), x], shape), g._f(1e-3)], shape)
    return g.op("Log", [g.op("Div", [up, down], shape)], shape)


def anchors():
    """Boxes at every place of the maps, before a sigmoid."""
    boxes = []
    for level, side in enumerate(SIDES):
        at = (np.arange(side) + 0.5) / side
        y, x = np.meshgrid(at, at, indexing="ij")
        size = np.full(side * side, 0.05 * 2 ** level)
        boxes.append(np.stack([x.ravel(), y.ravel(), size, size], axis=1))
    p = np.concatenate(boxes)
    return np.log(p / (1 - p))[None].astype(np.float32)


def chosen(g, x, rows):
    """Rows of (1, tokens, width), by their indices (1, queries)."""
    width = g.shape[x][-1]
    at = g.op("Unsqueeze", [rows, ints(g, -1)], (1, QUERIES, 1))
    at = g.op("Tile", [at, ints(g, 1, 1, width)], (1, QUERIES, width))
    return as_before(g, g.op("GatherElements", [x, at], (1, QUERIES, width), axis=1), x)


def selection(g, memory):
    """The queries: what the 300 places with the best scores hold, and their boxes."""
    tokens = g.shape[memory][1]
    x = g.op("Mul", [g.const(np.ones((1, tokens, 1), np.float32), "valid"), memory], g.shape[memory])
    x = norm(g, g.linear(quantized(g, x), DIM))
    scores = g.linear(x, CLASSES)
    best = g.op("ReduceMax", [scores], (1, tokens), axes=[-1], keepdims=0)
    _, rows = g.op("TopK", [best, ints(g, QUERIES)], [(1, QUERIES)] * 2, outs=2, axis=1, largest=1, sorted=1)
    boxes = mlp(g, x, DIM, 4, 3, gain=0.3)
    boxes = g.op("Add", [boxes, g.const(anchors(), "anchors", True)], g.shape[boxes])
    return chosen(g, x, rows), chosen(g, boxes, rows)


def point_attention(g, x, boxes, memory):
    """Deformable attention: each head reads four points of each of three maps around the box of the query."""
    width, levels = DIM // HEADS, len(SIDES)
    value = reshape(g, g.linear(memory, DIM), (1, g.shape[memory][1], HEADS, width))
    offsets = reshape(g, g.linear(x, HEADS * levels * POINTS * 2), (1, QUERIES, HEADS, levels, POINTS, 2))
    weights = g.reshape(g.linear(x, HEADS * levels * POINTS), (1, QUERIES, HEADS, levels * POINTS))
    weights = g.op("Softmax", [weights], g.shape[weights], axis=-1)
    boxes = g.reshape(boxes, (1, QUERIES, 1, 1, 1, 4))
    middle, size = cut(g, boxes, 5, 0, 2), cut(g, boxes, 5, 2, 4)
    y = g.op("Div", [offsets, g._f(float(POINTS))], g.shape[offsets])
    y = g.op("Mul", [spread(g, "Mul", y, size), g._f(0.5)], g.shape[y])
    y = spread(g, "Add", middle, y)
    grids = g.op("Sub", [g.op("Mul", [y, g._f(2.0)], g.shape[y]), g._f(1.0)], g.shape[y])
    values = split(g, value, 1, [side * side for side in SIDES])
    sampled = []
    for level, (side, part) in enumerate(zip(SIDES, values)):
        part = transpose(g, reshape(g, part, (1, side * side, DIM)), [0, 2, 1])
        part = reshape(g, part, (HEADS, width, side, side))
        grid = g.op("Gather", [grids, g.const(np.int64(level), "i")], (1, QUERIES, HEADS, POINTS, 2), axis=3)
        grid = g.reshape(g.transpose(grid, [0, 2, 1, 3, 4]), (HEADS, QUERIES, POINTS, 2))
        y = g.op("GridSample", [part, grid], (HEADS, width, QUERIES, POINTS), mode="bilinear", padding_mode="zeros",
                 align_corners=0)
        sampled.append(unsqueeze(g, y, 3))
    y = g.op("Concat", sampled, (HEADS, width, QUERIES, levels, POINTS), axis=3)
    y = g.reshape(y, (HEADS, width, QUERIES, levels * POINTS))
    weights = g.reshape(g.transpose(weights, [0, 2, 1, 3]), (HEADS, 1, QUERIES, levels * POINTS))
    y = g.op("ReduceSum", [spread(g, "Mul", y, weights), ints(g, -1)], (HEADS, width, QUERIES), keepdims=0)
    y = g.transpose(g.reshape(y, (1, DIM, QUERIES)), [0, 2, 1])
    return g.linear(quantized(g, y), DIM, gain=0.5)


def rtdetr_r18(g):
    memory = []
    for x in encoder(g, backbone(g)):
        x = g.conv(x, DIM, 1, act=None)
        n, _, h, w = g.shape[x]
        memory.append(transpose(g, reshape(g, x, (n, DIM, h * w)), [0, 2, 1]))
    memory = g.concat(memory)
    x, boxes = selection(g, memory)
    boxes = g.op("Sigmoid", [boxes], g.shape[boxes])
    for _ in range(3):
        position = mlp(g, quantized(g, boxes, 0.0, 1.0), 2 * DIM, DIM, 2)
        x = norm(g, g.add(x, self_attention(g, x, HEADS, position=position)))
        y = point_attention(g, quantized(g, spread(g, "Add", x, position), -6.0, 6.0), boxes, memory)
        x = norm(g, g.add(x, y))
        x = norm(g, g.add(x, mlp(g, x, 1024, DIM, 2)))
        y = mlp(g, x, DIM, 4, 3, gain=0.3)
        y = g.op("Add", [y, inverse_sigmoid(g, boxes)], g.shape[y])
        boxes = g.op("Sigmoid", [y], g.shape[y])
    y = g.linear(x, CLASSES)
    g.output(g.op("Sigmoid", [y], g.shape[y]))
    g.output(boxes)


NETWORKS = {"rtdetr_r18_640": rtdetr_r18}
