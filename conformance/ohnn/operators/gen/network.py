"""Normalization, local response, recurrent and detection operators."""

import math

import numpy as np

from case import BOOL, F16, F32, F64, I8, I32, I64, Q, T, case, const, param, reject, rng, scalar_param
from binary import ACT
from movement import i32
from spatial import draw


def norm_case(op, tag, f, x, extra, params, dyn=(), dtype=F32):
    args = [a.astype(F64) for a in (x, *extra)]
    case(op, f"{np.dtype(dtype)}_{tag}", [T(x, dyn=dyn)] + [const(e) for e in extra], [T(f(*args).astype(dtype), dyn=dyn)], params)


def batch_norm(eps):
    return lambda x, s, o, m, v: (x - m) / np.sqrt(v + eps) * s + o


BN = "BATCH_NORM"
for tag, shape in (("rank2", (3, 4)), ("rank3", (2, 3, 4)), ("rank4", (1, 2, 3, 4)), ("rank5", (1, 2, 1, 2, 3))):
    for dtype in (F32, F16):
        x = draw(BN + tag, shape, dtype, -3, 3)
        extra = [draw(BN + tag + k, shape[-1:], dtype, lo, hi) for k, lo, hi in (("s", 0.5, 2), ("o", -1, 1), ("m", -1, 1), ("v", 0.2, 2))]
        norm_case(BN, tag, batch_norm(1e-4), x, extra, [], dtype=dtype)
        norm_case(BN, tag + "_epsilon", batch_norm(F64(F32(0.1))), x, extra, [param(BN + "_EPSILON", 0.1, F32)], dtype=dtype)
x, extra = draw(BN, (4, 3)), [draw(BN + k, (3,), F32, 0.5, 2) for k in "somv"]
norm_case(BN, "dynamic", batch_norm(1e-4), x, extra, [], dyn=(0,))
reject(BN, "four_inputs", "add", [2], [T(x)] + [const(e) for e in extra[:3]], [T(x)])
reject(BN, "scale_of_another_length", "build", [1], [T(x), const(np.ones((4,), F32))] + [const(e) for e in extra[1:]], [T(x)])
reject(BN, "epsilon_of_float64", "add", [2], [T(x)] + [const(e) for e in extra], [T(x)], [param(BN + "_EPSILON", 0.1, F64)])


def layer_norm(axis, eps):
    def f(x, g, b):
        ax = tuple(range(axis, x.ndim))
        m = x.mean(axis=ax, keepdims=True)
        return (x - m) / np.sqrt(np.square(x - m).mean(axis=ax, keepdims=True) + eps) * g + b
    return f


LN = "LAYER_NORM"
for tag, shape, axis in (("rank2", (3, 6), 1), ("rank3_last", (2, 3, 5), 2), ("rank3_two", (2, 3, 4), 1), ("rank4", (1, 2, 3, 4), 3)):
    for dtype in (F32, F16):
        x = draw(LN + tag, shape, dtype, -3, 3)
        extra = [draw(LN + tag + k, shape[axis:], dtype, 0.5, 2) for k in "gb"]
        ps = [scalar_param(LN + "_BEGIN_NORM_AXIS", axis, I64), scalar_param(LN + "_BEGIN_PARAM_AXIS", axis, I64)]
        norm_case(LN, tag, layer_norm(axis, F64(F32(1e-7))), x, extra, ps, dtype=dtype)
        norm_case(LN, tag + "_epsilon", layer_norm(axis, F64(F32(0.01))), x, extra, ps + [scalar_param(LN + "_EPSILON", 0.01, F32)], dtype=dtype)
x, extra = draw(LN, (3, 6)), [draw(LN + k, (6,), F32, 0.5, 2) for k in "gb"]
norm_case(LN, "default_axis", layer_norm(1, F64(F32(1e-7))), x, extra, [])
norm_case(LN, "dynamic", layer_norm(1, F64(F32(1e-7))), x, extra, [], dyn=(0,))
ins = [T(x)] + [const(e) for e in extra]
reject(LN, "axis_0", "add", [2], ins, [T(x)], [scalar_param(LN + "_BEGIN_NORM_AXIS", 0, I64)])
reject(LN, "axis_beyond", "add", [2], ins, [T(x)], [scalar_param(LN + "_BEGIN_NORM_AXIS", 2, I64)])
reject(LN, "axis_of_shape_1", "add", [2], ins, [T(x)], [param(LN + "_BEGIN_NORM_AXIS", 1, I64)])
reject(LN, "gamma_of_another_shape", "add", [2], [T(x), const(np.ones((5,), F32)), const(extra[1])], [T(x)])
reject(LN, "elementwise_affine", "add", [2], ins, [T(x)], [scalar_param(LN + "_ELEMENTWISE_AFFINE", True, BOOL)])


def instance_norm(eps, channel):
    def f(x, s, b):
        ax = tuple(i for i in range(1, x.ndim) if i != channel)
        view = [1] * x.ndim
        view[channel] = -1
        m = x.mean(axis=ax, keepdims=True)
        return (x - m) / np.sqrt(np.square(x - m).mean(axis=ax, keepdims=True) + eps) * s.reshape(view) + b.reshape(view)
    return f


IN = "INSTANCE_NORM"
for tag, shape, channel in (("channel_first", (2, 3, 2, 4), 1), ("channel_last", (2, 4, 2, 3), 3), ("rank3", (2, 3, 5), 1), ("tie_is_channel_first", (1, 3, 4, 3), 1)):
    for dtype in (F32, F16):
        for eps in (1e-3, 0.1):
            x = draw(IN + tag, shape, dtype, -3, 3)
            extra = [draw(IN + tag + k, (shape[channel],), dtype, 0.5, 2) for k in "sb"]
            norm_case(IN, f"{tag}_epsilon_{eps}", instance_norm(F64(F32(eps)), channel), x, extra, [param(IN + "_EPSILON", eps, F32)], dtype=dtype)
x, extra = draw(IN, (2, 3, 2, 4)), [draw(IN + k, (3,), F32, 0.5, 2) for k in "sb"]
norm_case(IN, "default_epsilon", instance_norm(0, 1), x, extra, [])
norm_case(IN, "dynamic", instance_norm(F64(F32(1e-3)), 1), x, extra, [param(IN + "_EPSILON", 1e-3, F32)], dyn=(0,))
reject(IN, "scale_fits_no_dimension", "build", [1], [T(x), const(np.ones((5,), F32)), const(np.ones((5,), F32))], [T(x)])
reject(IN, "two_inputs", "add", [2], [T(x), const(extra[0])], [T(x)])

L2 = "L2_NORMALIZE"
for tag, shape, axes in (("last", (3, 4), [1]), ("first", (3, 4), [0]), ("channel", (1, 2, 3, 4), [3]), ("two", (2, 3, 4), [1, 2]), ("negative", (2, 3, 4), [-1]), ("whole", (2, 3), None)):
    for dtype in (F32, F16):
        x = draw(L2 + tag, shape, dtype, -2, 2)
        d = x.astype(F64)
        y = d / np.sqrt(np.maximum(np.square(d).sum(axis=None if axes is None else tuple(axes), keepdims=True), 1e-6))
        case(L2, f"{np.dtype(dtype)}_{tag}", [T(x)], [T(y.astype(dtype))], [] if axes is None else [param(L2 + "_AXIS", axes, I64)])
x = draw(L2, (3, 4))
d = x.astype(F64)
case(L2, "f32_epsilon_wins", [T(x)], [T((d / np.sqrt(np.maximum(np.square(d).sum(1, keepdims=True), F64(F32(50.0))))).astype(F32))], [param(L2 + "_AXIS", [1], I64), param(L2 + "_EPSILON", 50.0, F32)])
n = d / np.sqrt(np.square(d).sum(1, keepdims=True))
for act in (1, 2):
    case(L2, f"f32_activation_{act}", [T(x)], [T(ACT[act](n).astype(F32))], [param(L2 + "_AXIS", [1], I64), param(L2 + "_ACTIVATION_TYPE", act, I8)])
case(L2, "f32_dynamic", [T(x, dyn=(0,))], [T(n.astype(F32), dyn=(0,))], [param(L2 + "_AXIS", [1], I64)])
reject(L2, "axis_outside", "build", [1], [T(x)], [T(x)], [param(L2 + "_AXIS", [2], I64)])
reject(L2, "activation_3", "add", [2], [T(x)], [T(x)], [param(L2 + "_ACTIVATION_TYPE", 3, I8)])


def lrn(x, r, bias, alpha, beta):
    c = x.shape[-1]
    s = np.stack([np.square(x[..., max(0, i - r):i + r + 1]).sum(-1) for i in range(c)], -1)
    return x * (bias + alpha * s) ** (-beta)


for tag, shape, r, bias, alpha, beta in (("plain", (1, 2, 2, 5), 1, 1.0, 0.5, 0.5), ("wide", (1, 2, 3, 7), 3, 2.0, 0.1, 0.75), ("beyond_the_channels", (1, 1, 2, 3), 5, 1.0, 0.3, 0.5),
                                         ("radius_0", (1, 2, 2, 4), 0, 1.0, 1.0, 1.0), ("exact_width", (1, 1, 2, 5), 2, 1.5, 0.2, 0.6)):
    for dtype in (F32, F16):
        x = draw("LRN" + tag, shape, dtype, -2, 2)
        ps = [param("LRN_DEPTH_RADIUS", r, I64), param("LRN_BIAS", bias, F32), param("LRN_ALPHA", alpha, F32), param("LRN_BETA", beta, F32)]
        y = lrn(x.astype(F64), r, bias, F64(F32(alpha)), F64(F32(beta)))
        case("LRN", f"{np.dtype(dtype)}_{tag}", [T(x)], [T(y.astype(dtype))], ps)
x = draw("LRN", (3, 2, 2, 4), F32, -2, 2)
y = lrn(x.astype(F64), 1, 1.0, 0.5, 0.5).astype(F32)
ps = [param("LRN_DEPTH_RADIUS", 1, I64), param("LRN_BIAS", 1.0, F32), param("LRN_ALPHA", 0.5, F32), param("LRN_BETA", 0.5, F32)]
case("LRN", "f32_dynamic", [T(x, dyn=(0,))], [T(y, dyn=(0,))], ps)
case("LRN", "f32_region_across_channels", [T(x)], [T(y)], ps + [param("LRN_NORM_REGION", 0, I32)])
reject("LRN", "region_1", "add", [2], [T(x)], [T(y)], ps + [param("LRN_NORM_REGION", 1, I32)])
reject("LRN", "radius_of_int32", "add", [2], [T(x)], [T(y)], [param("LRN_DEPTH_RADIUS", 1, I32)])


def lstm(x, wi, wh, bias, h, c, zc, zh):
    """One layer; returns out [T,D,B,H], hy, cy."""
    t, b, _ = x.shape
    d, hidden = wh.shape[0], wh.shape[2]
    sig = lambda v: 1 / (1 + np.exp(-v))
    out, hy, cy = np.zeros((t, d, b, hidden)), h.copy(), c.copy()
    for k in range(d):
        for step in range(t) if k == 0 else range(t - 1, -1, -1):
            g = x[step] @ wi[k].T + hy[k] @ wh[k].T + bias[k, :4 * hidden] + bias[k, 4 * hidden:]
            i, o, f, n = (g[:, j * hidden:(j + 1) * hidden] for j in range(4))
            cn = sig(f) * cy[k] + sig(i) * np.tanh(n)
            hn = sig(o) * np.tanh(cn)
            out[step, k] = hn
            cy[k] = (1 - zc) * cn + zc * cy[k]
            hy[k] = (1 - zh) * hn + zh * hy[k]
    return out, hy, cy


def lstm_case(tag, t, b, i, h, bidirectional=False, bias=True, dtype=F32, zc=0.0, zh=0.0, rank4=True, dyn=()):
    d = 2 if bidirectional else 1
    shapes = ((t, b, i), (d, 4 * h, i), (d, 4 * h, h), (d, 8 * h), (d, b, h), (d, b, h))
    xs = [draw(f"lstm{tag}{k}", s, dtype) for k, s in enumerate(shapes)]
    if not bias:
        xs[3] = np.zeros_like(xs[3])
    out, hy, cy = lstm(*[v.astype(F64) for v in xs], F64(F32(zc)), F64(F32(zh)))
    if not rank4:
        out = out.transpose(0, 2, 1, 3).reshape(t, b, d * h)
    ps = [param("LSTM_BIDIRECTIONAL", bidirectional, BOOL), param("LSTM_HAS_BIAS", bias, BOOL), param("LSTM_INPUT_SIZE", i, I64), param("LSTM_HIDDEN_SIZE", h, I64),
          param("LSTM_NUM_LAYERS", 1, I64), param("LSTM_NUM_DIRECTIONS", d, I64)]
    if zc or zh:
        ps += [param("LSTM_ZONEOUT_CELL", zc, F32), param("LSTM_ZONEOUT_HIDDEN", zh, F32)]
    if tag == "dropout_is_ignored":
        ps.append(param("LSTM_DROPOUT", 0.5, F32))
    case("LSTM", f"{np.dtype(dtype)}_{tag}", [T(xs[0], dyn=dyn)] + [const(v) for v in xs[1:4]] + [T(v) for v in xs[4:]],
         [T(out.astype(dtype), dyn=dyn), T(hy.astype(dtype)), T(cy.astype(dtype))], ps)
    return xs, (out.astype(F32), hy.astype(F32), cy.astype(F32)), ps


lstm_case("plain", 4, 2, 3, 3)
lstm_case("one_step", 1, 1, 4, 2)
lstm_case("no_bias", 3, 2, 2, 3, bias=False)
lstm_case("rank3_output", 3, 2, 2, 3, rank4=False)
lstm_case("both_directions_rank4", 3, 2, 2, 3, bidirectional=True)
lstm_case("both_directions_rank3", 3, 2, 2, 3, bidirectional=True, rank4=False)
lstm_case("zoneout", 4, 1, 2, 3, zc=0.25, zh=0.5)
lstm_case("dropout_is_ignored", 3, 1, 2, 2)
lstm_case("half", 3, 2, 3, 2, dtype=F16)
lstm_case("half_both_directions", 3, 2, 3, 2, dtype=F16, bidirectional=True)
lstm_case("dynamic_time_3", 3, 1, 2, 2, dyn=(0,))
xs, (out, hy, cy), ps = lstm_case("dynamic_time_5", 5, 1, 2, 2, dyn=(0,))
ins = [T(xs[0])] + [const(v) for v in xs[1:4]] + [T(v) for v in xs[4:]]
reject("LSTM", "five_inputs", "add", [2], ins[:5], [T(out), T(hy), T(cy)], ps)
reject("LSTM", "two_outputs", "add", [2], ins, [T(out), T(hy)], ps)
reject("LSTM", "weights_do_not_fit", "build", [1], [ins[0], const(np.ones((1, 8, 3), F32)), *ins[2:]], [T(out), T(hy), T(cy)], ps)
reject("LSTM", "hidden_size_of_int32", "add", [2], ins, [T(out), T(hy), T(cy)], [param("LSTM_HIDDEN_SIZE", 2, I32)])


def iou(a, b):
    area = lambda r: max(0, r[2] - r[0]) * max(0, r[3] - r[1])
    if (a[2] - a[0]) * (a[3] - a[1]) <= 0 or (b[2] - b[0]) * (b[3] - b[1]) <= 0:
        return 0.0
    inter = area([max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])])
    return inter / (area(a) + area(b) - inter)


def nms(boxes, scores, threshold, score_min, most):
    keep = []
    for k in sorted(range(len(scores)), key=lambda k: (-scores[k], k)):
        if scores[k] < score_min or len(keep) >= most:
            continue
        if all(iou(boxes[k], boxes[j]) <= threshold for j in keep):
            keep.append(k)
    return keep


def detect(box, score, anchors, scale, threshold, score_min, most, per_box, per_class, classes, regular):
    y, x, h, w = (box[0, :, i] for i in range(4))
    ay, ax, ah, aw = anchors.T
    cy, cx = y / scale[0] * ah + ay, x / scale[1] * aw + ax
    hh, ww = np.exp(h / scale[2]) * ah / 2, np.exp(w / scale[3]) * aw / 2
    boxes = np.stack([cy - hh, cx - ww, cy + hh, cx + ww], -1)
    s = score[0, :, score.shape[2] - classes:]
    found = []
    if regular:
        for c in range(classes):
            found += [(s[k, c], k, c) for k in nms(boxes, s[:, c], threshold, score_min, per_class)]
        found = sorted(found, key=lambda f: -f[0])[:most]
    else:
        for k in nms(boxes, s.max(axis=1), threshold, score_min, most):
            order = sorted(range(classes), key=lambda c: (-s[k, c], c))[:min(per_box, classes)]
            found += [(s[k, c], k, c) for c in order]
    m = most * per_box
    ob, oc, os = np.zeros((1, m, 4)), np.zeros((1, m)), np.zeros((1, m))
    for i, (v, k, c) in enumerate(found[:m]):
        ob[0, i], oc[0, i], os[0, i] = boxes[k], c, v
    return ob, oc, os, np.array([min(len(found), m)])


DP = "DETECTION_POST_PROCESS"


def detection(tag, boxes, classes, background, most, per_box, per_class, regular, threshold=0.5, score_min=0.3, dyn=()):
    g = rng(DP + tag)
    side = int(math.ceil(math.sqrt(boxes)))
    grid = [(0.15 + 0.7 * (k // side) / side, 0.15 + 0.7 * (k % side) / side, 0.3, 0.25) for k in range(boxes)]
    anchors = np.array(grid, F32)
    b = g.uniform(-0.8, 0.8, (1, boxes, 4)).astype(F32)
    s = g.permutation(boxes * (classes + background)).reshape(1, boxes, -1).astype(F32) / F32(boxes * (classes + background))
    scale = np.array([10, 10, 5, 5], F32)
    out = detect(b.astype(F64), s.astype(F64), anchors.astype(F64), scale.astype(F64), F64(F32(threshold)), F64(F32(score_min)), most, per_box, per_class, classes, regular)
    ps = [param(DP + "_INPUT_SIZE", 300, I64), param(DP + "_SCALE", scale, F32), param(DP + "_NMS_IOU_THRESHOLD", threshold, F32), param(DP + "_NMS_SCORE_THRESHOLD", score_min, F32),
          param(DP + "_MAX_DETECTIONS", most, I64), param(DP + "_DETECTIONS_PER_CLASS", per_class, I64), param(DP + "_MAX_CLASSES_PER_DETECTION", per_box, I64),
          param(DP + "_NUM_CLASSES", classes, I64), param(DP + "_USE_REGULAR_NMS", regular, BOOL), param(DP + "_OUT_QUANTIZED", False, BOOL)]
    ins, outs = [T(b, dyn=dyn), T(s, dyn=dyn), const(anchors)], [T(o.astype(F32)) for o in out]
    case(DP, "f32_" + tag, ins, outs, ps)
    return ins, outs, ps


detection("fast", 6, 3, 0, 4, 1, 4, False)
detection("fast_background", 6, 3, 1, 4, 1, 4, False)
detection("fast_two_classes_per_box", 9, 3, 1, 3, 2, 4, False)
detection("fast_more_boxes", 16, 4, 0, 10, 1, 4, False, threshold=0.3)
detection("fast_high_threshold", 9, 2, 0, 5, 1, 4, False, score_min=0.8)
detection("regular", 6, 3, 0, 4, 1, 2, True)
detection("regular_background", 9, 3, 1, 6, 1, 2, True)
detection("regular_many", 16, 4, 1, 12, 1, 5, True, threshold=0.2)
detection("fast_open_number_of_boxes", 6, 3, 0, 4, 1, 4, False, dyn=(1,))
detection("fast_classes_beyond", 4, 2, 0, 3, 3, 4, False)
ins, outs, ps = detection("regular_low_threshold", 9, 2, 0, 8, 1, 8, True, score_min=0.05)
reject(DP, "two_inputs", "add", [2], ins[:2], outs, ps)
reject(DP, "three_outputs", "add", [2], ins, outs[:3], ps)
reject(DP, "anchors_do_not_fit", "build", [1], ins[:2] + [const(np.ones((5, 4), F32))], outs, ps)
reject(DP, "scale_of_int32", "add", [2], ins, outs, [param(DP + "_SCALE", [10, 10, 5, 5], I32)])
