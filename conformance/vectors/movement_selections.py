"""Movement cases whose result depends on values: sequences, selections, detections, and signals. See movement.py."""
import numpy as np
from onnx import TensorProto

from movement_common import RNG, case, fail, i32, i64, onnx_run, scalar, small


def sequences():
    x = small(4, 3, 2)
    want = onnx_run("ReverseSequence", {"batch_axis": 1, "time_axis": 0}, [x, i64(4, 1, 2)])[0]
    case("reverse_sequence", {"BatchAxis": 1}, [x, i64(4, 1, 2)], want)
    want = x.copy()
    want[2, :2] = x[2, 1::-1]
    case("reverse_sequence", {"BatchAxis": 0, "TimeAxis": -2}, [x, i32(0, 1, 2, 1)], want)
    fail("reverse_sequence", {"BatchAxis": 1}, [x, i64(5, 1, 2)], "data")
    fail("reverse_sequence", {"BatchAxis": 1}, [x, i64(1, 2)], "shape")
    fail("reverse_sequence", {"BatchAxis": 1, "TimeAxis": 1}, [x, i64(1, 1, 2)], "argument")
    for shape in [(2, 5, 2), (3, 4, 3), (7, 2, 1)]:
        case("center_crop_pad", {}, [x, i64(*shape)], onnx_run("CenterCropPad", {}, [x, i64(*shape)])[0])
    case("center_crop_pad", {"Axes": [-1, 0]}, [x, i64(5, 1)], onnx_run("CenterCropPad", {"axes": [-1, 0]}, [x, i64(5, 1)])[0])
    fail("center_crop_pad", {}, [x, i64(1, 1)], "shape")
    fail("center_crop_pad", {}, [x, i64(1, -1, 1)], "argument")
    cache, up = small(2, 5, 2), small(2, 2, 2)
    want = cache.copy()
    want[0, 3:5], want[1, 1:3] = up[0], up[1]
    case("tensor_scatter", {"Axis": 1}, [cache, up, i64(3, 1)], want, retype=(0, 1))
    want = cache.copy()
    want[:, :2] = up
    case("tensor_scatter", {"Axis": -2}, [cache, up], want, retype=(0, 1))
    want = cache.copy()
    want[0, [4, 0]], want[1, 1:3] = up[0], up[1]
    case("tensor_scatter", {"Axis": 1, "Circular": True}, [cache, up, i64(4, 1)], want, retype=(0, 1))
    fail("tensor_scatter", {"Axis": 1}, [cache, up, i64(4, 1)], "data")
    fail("tensor_scatter", {"Axis": 0}, [cache, up], "argument")
    fail("tensor_scatter", {"Axis": 1}, [up, cache], "shape")


def selections():
    x = small(3, 4, 2)
    c = lambda *v: np.array(v, bool)
    case("compress", {"Axis": 1}, [x, c(0, 1, 1, 0)], x[:, [1, 2]])
    case("compress", {"Axis": -1}, [x, c(1)], x[:, :, :1])
    case("compress", {"Flatten": True}, [x, c(0, 1, 0, 0, 1)], x.reshape(-1)[[1, 4]])
    case("compress", {}, [x, c(0, 0, 0)], x[:0])
    fail("compress", {}, [x, c(0, 0, 0, 1)], "data")
    fail("compress", {"Axis": 3}, [x, c(1)], "argument")
    fail("compress", {}, [x, i64(1)], "type")
    f = np.array([[0, -0.0, np.pi], [1e-30, 0, -3]], np.float32)
    case("non_zero", {}, [f], np.array(np.nonzero(f)), retype=())
    case("non_zero", {}, [x], np.array(np.nonzero(x)), retype=())
    case("non_zero", {}, [np.zeros((2, 3), bool)], np.zeros((2, 0), np.int64), retype=())
    case("non_zero", {}, [scalar(5, np.int32)], np.zeros((0, 1), np.int64), retype=())
    u = i32(3, 1, 1, 3, 0, 7, 0)
    y, first, inverse, counts = np.unique(u, True, True, True)
    case("unique", {"Flatten": True}, [u.reshape(7, 1)], [y, first, inverse.reshape(-1), counts])
    case("unique", {"Flatten": True}, [u], [y])
    case("unique", {"Flatten": True, "Unsorted": True}, [u], [i32(3, 1, 0, 7), i64(0, 1, 4, 5), i64(0, 1, 1, 0, 2, 3, 2), i64(2, 2, 2, 1)])
    m = i32(1, 0, 0, 1, 0, 0, 2, 3, 4).reshape(3, 3)
    y, first, inverse, counts = np.unique(m, True, True, True, axis=0)
    case("unique", {}, [m], [y, first, inverse.reshape(-1), counts])
    y, first, inverse, counts = np.unique(m, True, True, True, axis=1)
    case("unique", {"Axis": -1}, [m], [y, first, inverse.reshape(-1), counts])
    g = np.array([2.5, -1, 2.5, -1e30], np.float64)
    case("unique", {"Flatten": True}, [g], list(np.unique(g, True, True, True)), retype=())
    fail("unique", {"Axis": 2}, [m], "argument")


def np_iou(a, b):
    area = lambda r: max(r[2] - r[0], 0) * max(r[3] - r[1], 0)
    h, w = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    inter = max(h, 0) * max(w, 0)
    return inter / (area(a) + area(b) - inter) if area(a) > 0 and area(b) > 0 else 0.0


def np_nms(boxes, scores, limit, iou, keep):
    taken = []
    for i in sorted((i for i in range(len(scores)) if keep(scores[i])), key=lambda i: (-scores[i], i)):
        if len(taken) < limit and all(np_iou(boxes[i], boxes[j]) <= iou for j in taken):
            taken.append(i)
    return taken


def np_detections(boxes, scores, anchors, o):
    """The definition in the operator notes, in double precision."""
    s = o["Scale"]
    y, x = boxes[:, 0] / s[0] * anchors[:, 2] + anchors[:, 0], boxes[:, 1] / s[1] * anchors[:, 3] + anchors[:, 1]
    h, w = np.exp(boxes[:, 2] / s[2]) * anchors[:, 2], np.exp(boxes[:, 3] / s[3]) * anchors[:, 3]
    real = np.stack([y - h / 2, x - w / 2, y + h / 2, x + w / 2], 1)
    own = scores[:, scores.shape[1] - o["Classes"]:]
    rows = []
    if o.get("Regular"):
        for c in range(o["Classes"]):
            for i in np_nms(real, own[:, c], o["DetectionsPerClass"], o["IoU"], lambda v: v >= o["Score"]):
                rows.append((own[i, c], i, c))
        rows = sorted(rows, key=lambda r: -r[0])[:o["MaxDetections"]]
    else:
        for i in np_nms(real, own.max(1), o["MaxDetections"], o["IoU"], lambda v: v >= o["Score"]):
            rows += [(own[i, c], i, c) for c in np.argsort(-own[i], kind="stable")[:o["MaxClasses"]]]
    m = o["MaxDetections"] * max(1, o.get("MaxClasses", 0))
    out = [np.zeros((1, m, 4), np.float32), np.zeros((1, m), np.float32), np.zeros((1, m), np.float32), np.array([len(rows)], np.float32)]
    for k, (score, i, c) in enumerate(rows):
        out[0][0, k], out[1][0, k], out[2][0, k] = real[i], c, score
    return out


def detections():
    n = 12
    corner = RNG.random((2, n, 2))
    boxes = np.concatenate([corner, corner + RNG.random((2, n, 2)) * 0.6], 2).astype(np.float32)
    scores = RNG.random((2, 3, n)).astype(np.float32)
    scores[0, 0, 3] = scores[0, 0, 7]
    f = lambda v: np.array([v], np.float32)
    # ONNX Runtime gives the rows of one batch and class together, in the same order.
    for attrs, rest in [({}, [i64(4), f(0.3), f(0.2)]), ({}, [i64(100), f(0.0)]), ({}, [i64(2), f(1.0), f(0.9)])]:
        want = onnx_run("NonMaxSuppression", {}, [boxes, scores] + rest, runtime=True)[0]
        case("non_max_suppression", attrs, [boxes, scores] + rest, want, retype=())
    centre = np.concatenate([(boxes[..., 1:2] + boxes[..., 3:]) / 2, (boxes[..., :1] + boxes[..., 2:3]) / 2,
                             boxes[..., 3:] - boxes[..., 1:2], boxes[..., 2:3] - boxes[..., :1]], 2)
    want = onnx_run("NonMaxSuppression", {"center_point_box": 1}, [centre, scores, i64(5), f(0.4), f(0.1)], runtime=True)[0]
    case("non_max_suppression", {"CenterBox": True}, [centre, scores, i64(5), f(0.4), f(0.1)], want, retype=())
    flipped = boxes[..., [2, 1, 0, 3]]
    want = onnx_run("NonMaxSuppression", {}, [boxes, scores, i64(3), f(0.5)], runtime=True)[0]
    case("non_max_suppression", {"To": 4}, [flipped, scores, i32(3), f(0.5)], want.astype(np.int32), note="corners in any order", retype=())
    case("non_max_suppression", {}, [boxes, scores], np.zeros((0, 3), np.int64), note="no boxes asked for", retype=())
    fail("non_max_suppression", {}, [boxes, scores, i64(3), f(1.5)], "data")
    fail("non_max_suppression", {}, [boxes, scores[:, :, 1:]], "shape")
    fail("non_max_suppression", {}, [boxes[0], scores], "shape")

    a = 10
    anchors = np.concatenate([RNG.random((a, 2)), 0.3 + 0.3 * RNG.random((a, 2))], 1).astype(np.float32)
    enc = RNG.standard_normal((1, a, 4)).astype(np.float32)
    cls = RNG.random((1, a, 4)).astype(np.float32)
    cls[0, 2, 1:] = cls[0, 5, 1:]
    base = {"MaxDetections": 4, "MaxClasses": 2, "Classes": 3, "IoU": 0.4, "Score": 0.3, "Scale": [10, 10, 5, 5]}
    for more in [{}, {"MaxClasses": 5}, {"Classes": 4}, {"IoU": 0.05}, {"Score": 0.9}, {"Score": 2.0}, {"MaxDetections": 20},
                 {"Regular": True, "DetectionsPerClass": 2}, {"Regular": True, "DetectionsPerClass": 9, "IoU": 0.1, "MaxDetections": 7},
                 {"Regular": True, "DetectionsPerClass": 9, "MaxClasses": 0, "Classes": 4}]:
        o = base | more
        case("detection_post_process", o, [enc, cls, anchors], np_detections(enc[0].astype(float), cls[0].astype(float), anchors.astype(float), o), tol=1e-5, retype=())
    fail("detection_post_process", base | {"Classes": 2}, [enc, cls, anchors], "shape")
    fail("detection_post_process", base | {"Scale": [1, 1, 0, 1]}, [enc, cls, anchors], "argument")
    fail("detection_post_process", base | {"Scale": []}, [enc, cls, anchors], "argument")
    fail("detection_post_process", base | {"MaxDetections": 0}, [enc, cls, anchors], "argument")
    fail("detection_post_process", base | {"MaxDetections": 1 << 40, "MaxClasses": 1 << 40}, [enc, cls, anchors], "memory")
    fail("detection_post_process", base, [enc, cls, anchors[1:]], "shape")


def signals():
    f32 = lambda *s: RNG.standard_normal(s).astype(np.float32)
    x = f32(2, 12, 3, 1)
    z = f32(2, 15, 2)
    tol = 2e-6
    full = lambda c: np.stack([c.real, c.imag], -1)
    case("dft", {}, [x, None, scalar(1)], full(np.fft.fft(x[..., 0], axis=1)).astype(np.float32), tol=tol, retype=())
    case("dft", {"OneSided": True}, [x, i64(7), scalar(-3)], full(np.fft.rfft(x[..., 0], 7, axis=1)).astype(np.float32), tol=tol, retype=())
    case("dft", {"OneSided": True}, [x], full(np.fft.rfft(x[..., 0], axis=2)).astype(np.float32), tol=tol, retype=())
    case("dft", {}, [z], onnx_run("DFT", {}, [z])[0], tol=tol, retype=())
    case("dft", {"Inverse": True}, [z, scalar(20)], onnx_run("DFT", {"inverse": 1}, [z, scalar(20)])[0], tol=tol, retype=())
    h = full(np.fft.rfft(RNG.standard_normal((2, 10)))).astype(np.float32)
    for n in [None, scalar(10), scalar(11), scalar(6)]:
        want = np.fft.irfft(h[..., 0] + 1j * h[..., 1], None if n is None else int(n))[..., None].astype(np.float32)
        case("dft", {"Inverse": True, "OneSided": True}, [h, n], want, tol=tol, retype=())
    for n in [64, 97, 101, 210]:
        w = RNG.standard_normal((1, n, 2))
        case("dft", {}, [w], full(np.fft.fft(w[..., 0] + 1j * w[..., 1])), tol=1e-11, retype=())
    fail("dft", {"OneSided": True}, [z], "shape")
    fail("dft", {}, [f32(3, 3)], "shape")
    fail("dft", {}, [z, None, scalar(2)], "argument")
    fail("dft", {}, [z, scalar(0)], "argument")
    fail("dft", {}, [z, scalar(1 << 40)], "memory")
    s = f32(2, 20, 1)
    win = np.hanning(6).astype(np.float32)
    for one in [1, 0]:
        for rest in [[scalar(3), win], [scalar(4), None, scalar(8)], [scalar(7), win, scalar(6)], [scalar(1)]]:
            want = onnx_run("STFT", {"onesided": one}, [s] + rest)[0]
            case("stft", {"OneSided": bool(one)}, [s] + rest, want, tol=tol, retype=())
    c = f32(1, 9, 2)
    want = onnx_run("STFT", {"onesided": 0}, [c, scalar(2), None, scalar(4)])[0]
    case("stft", {}, [c, scalar(2), None, scalar(4)], want, tol=tol, retype=())
    fail("stft", {"OneSided": True}, [c, scalar(2), None, scalar(4)], "shape")
    fail("stft", {}, [s, scalar(0), win], "argument")
    fail("stft", {}, [s, scalar(1), win, scalar(5)], "shape")
    fail("stft", {}, [s, scalar(1), None, scalar(21)], "shape")
    for name, fn in [("hann_window", "HannWindow"), ("hamming_window", "HammingWindow"), ("blackman_window", "BlackmanWindow")]:
        for periodic in [True, False]:
            want = onnx_run(fn, {"periodic": int(periodic), "output_datatype": TensorProto.DOUBLE}, [scalar(10)])[0]
            case(name, {"Periodic": periodic, "To": 12}, [scalar(10)], want, tol=1e-9, retype=())
            case(name, {"Periodic": periodic}, [i32(10)], want.astype(np.float32), tol=1e-6, retype=())
        case(name, {}, [scalar(1)], np.ones(1, np.float32), retype=())
        case(name, {}, [scalar(0)], np.ones(0, np.float32), retype=())
        fail(name, {}, [scalar(-1)], "argument")
        fail(name, {"To": 1}, [scalar(3)], "type")
    for bands, length, rate, lo, hi in [(8, 16, 8192, 0, 4096), (3, 64, 16000, 300, 7000)]:
        ins = [scalar(bands), scalar(length), scalar(rate), scalar(lo, np.float32), scalar(hi, np.float32)]
        case("mel_weight_matrix", {}, ins, onnx_run("MelWeightMatrix", {}, ins)[0], tol=1e-6, retype=())
    ins[4] = scalar(1e6, np.float32)
    fail("mel_weight_matrix", {}, ins, "data")
    ins[0] = scalar(0)
    fail("mel_weight_matrix", {}, ins, "argument")
