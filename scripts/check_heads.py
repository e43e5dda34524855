#!/usr/bin/env python3
"""Detectors whose results are codes, run by ctest/hb_heads.c, beside what NumPy makes of the float network.

    check_heads.py FOLDER COMMAND...     each COMMAND is a program, that of one generation of hbDNN

The models are small convolutional networks of random weights with the heads of YOLOv5, v8, v10 and 11, pose,
segmentation and stereo; metadata say which outputs are codes. ONNX Runtime computes the same files as the float
networks that they are, and NumPy decodes. What programs print may depart by what one code of an output is worth; all commands print the same.
"""
import json
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

SIDE, CLASSES, BINS, POINTS, COEFFICIENTS = 64, 3, 16, 17, 32
STRIDES = (8, 16, 32)
ANCHORS = np.array([[[10, 13], [16, 30], [33, 23]], [[30, 61], [62, 45], [59, 119]],
                    [[116, 90], [156, 198], [373, 326]]])
KINDS = ("yolov5", "yolov8", "yolov10", "yolo11", "pose", "seg", "stereo")


class Network:
    """A graph under construction, of convolutions with weights from a generator."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.weights, self.outputs, self.codes = [], [], [], {}

    def convolve(self, x, channels, out, size=3, stride=2, gain=1.0, relu=True):
        name = f"n{len(self.nodes)}"
        spread = gain * np.sqrt(2 / (channels * size * size))
        kernel, bias = self.random.normal(size=(out, channels, size, size)) * spread, self.random.normal(size=out) * 0.3
        self.weights += [numpy_helper.from_array(kernel.astype(np.float32), name + ".w"),
                         numpy_helper.from_array(bias.astype(np.float32), name + ".b")]
        self.nodes.append(helper.make_node("Conv", [x, name + ".w", name + ".b"], [name], kernel_shape=[size, size],
                                           pads=[size // 2] * 4, strides=[stride, stride]))
        if relu:
            self.nodes.append(helper.make_node("Relu", [name], [name + ".r"]))
            name += ".r"
        return name

    def head(self, x, channels, out, codes=None, gain=3.0):
        """An output [1,H,W,C], of codes if a type is given."""
        y = self.convolve(x, channels, out, size=1, stride=1, gain=gain, relu=False)
        name = f"out{len(self.outputs)}"
        self.nodes.append(helper.make_node("Transpose", [y], [name], perm=[0, 2, 3, 1]))
        self.outputs.append(name)
        self.codes[name] = codes

    def model(self):
        x = helper.make_tensor_value_info("images", TensorProto.FLOAT, [1, 3, SIDE, SIDE])
        y = [helper.make_tensor_value_info(o, TensorProto.FLOAT, None) for o in self.outputs]
        graph = helper.make_graph(self.nodes, "heads", [x], y, self.weights)
        return onnx.shape_inference.infer_shapes(
            helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8))


def network(kind, seed):
    n = Network(seed)
    quarter = n.convolve(n.convolve("images", 3, 8), 8, 16)
    features, x, channels = [], quarter, 16
    for _ in STRIDES:
        x = n.convolve(x, channels, 32)
        channels = 32
        features.append(x)
    if kind == "stereo":
        n.head(quarter, 16, 1, "int32")
        return n
    for x in features:
        if kind == "yolov5":
            n.head(x, 32, 3 * (5 + CLASSES), "int32")
            continue
        if kind == "yolo11":
            n.head(x, 32, 4 * BINS, "int32")
        n.head(x, 32, CLASSES)
        if kind != "yolo11":
            n.head(x, 32, 4 * BINS, "int32")
        if kind == "pose":
            n.head(x, 32, 3 * POINTS)
        if kind == "seg":
            n.head(x, 32, COEFFICIENTS, "int32")
    if kind == "seg":
        n.head(quarter, 16, COEFFICIENTS, "int16")
    return n


def scales(n, results):
    """The scales of the outputs that are codes: of 32 bits one for each channel, of 16 bits one."""
    out = {}
    for name, y in zip(n.outputs, results):
        most = np.abs(y).max(axis=(0, 1, 2))
        if n.codes[name] == "int32":
            out[name] = np.maximum(most / 2**15, 1e-6).astype(np.float32)
        elif n.codes[name] == "int16":
            out[name] = np.float32(most.max() / 2**14)
    return out


def write(model, n, scale, path):
    metadata = {"anynpu.input.images.pixel": "nv12", "anynpu.input.images.std": "255"}
    for name, s in scale.items():
        of = [float(v) for v in s] if s.ndim else float(s)
        metadata[f"anynpu.output.{name}.codes"] = json.dumps(
            {"type": n.codes[name], "scale": of, **({"axis": 3} if s.ndim else {})})
    helper.set_model_props(model, metadata)
    onnx.save(model, path)


def frame(seed):
    """Luma of soft shapes, chroma without color: red, green and blue are the luma."""
    random = np.random.default_rng(seed)
    row, column = np.mgrid[0:SIDE, 0:SIDE] / SIDE
    luma = sum(random.uniform(20, 60) * np.sin(random.uniform(2, 20) * row + random.uniform(2, 20) * column + k)
               for k in range(5))
    luma = np.clip(128 + luma, 0, 255).astype(np.uint8)
    return luma, luma.tobytes() + bytes([128]) * (SIDE * SIDE // 2)


def sigmoid(x):
    return 1 / (1 + np.exp(-np.asarray(x, np.float64)))


def expected(logits):
    """The means of distributions over bins, [..., 4 * BINS] to [..., 4]."""
    x = logits.reshape(*logits.shape[:-1], 4, BINS).astype(np.float64)
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return (e * np.arange(BINS)).sum(-1) / e.sum(-1)


def candidates(kind, results, scale, names):
    """All boxes: class, score, edges, what one code is worth at the edges and in the score, stride, row, column."""
    out = []
    for s, stride in enumerate(STRIDES):
        each = 1 if kind == "yolov5" else 3 if kind in ("pose", "seg") else 2
        row, column = np.mgrid[0:SIDE // stride, 0:SIDE // stride]
        if kind == "yolov5":
            y = results[s][0].reshape(SIDE // stride, SIDE // stride, 3, 5 + CLASSES)
            v = sigmoid(y)
            code = scale[names[s]].max()
            for a in range(3):
                center = (v[:, :, a, :2] * 2 - 0.5 + np.stack([column, row], -1)) * stride
                extent = (v[:, :, a, 2:4] * 2)**2 * ANCHORS[s, a]
                best = v[:, :, a, 5:].argmax(-1)
                score = v[:, :, a, 4] * v[:, :, a, 5:].max(-1)
                edges = np.concatenate([center - extent / 2, center + extent / 2], -1)
                slack = code * (0.5 * stride + ANCHORS[s, a].max())  # derivatives of the formulas above, at most
                out += [(int(best[i]), score[i], edges[i], slack, code / 2, stride, *i)
                        for i in np.ndindex(*score.shape)]
            continue
        c, d = results[each * s:each * s + 2] if kind != "yolo11" else results[each * s:each * s + 2][::-1]
        of = names[each * s + (kind != "yolo11")]
        slack = scale[of].max() * (BINS - 1) * stride
        off = expected(d[0])
        center = np.stack([column, row], -1) + 0.5
        edges = np.concatenate([center - off[..., :2], center + off[..., 2:]], -1) * stride
        score = sigmoid(c[0].max(-1))
        best = c[0].argmax(-1)
        out += [(int(best[i]), score[i], edges[i], slack, 0, stride, *i) for i in np.ndindex(*score.shape)]
    return sorted(out, key=lambda b: -b[1])


def overlap(a, b):
    w, h = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
    if w <= 0 or h <= 0:
        return 0.0
    return w * h / (np.prod(a[2:] - a[:2]) + np.prod(b[2:] - b[:2]) - w * h)


def suppressed(boxes):
    """The boxes that stay. An overlap near the bound would be decided by rounding: the frame is no test then."""
    kept, clear = [], True
    for b in boxes:
        stays = True
        for k in kept:
            if k[0] == b[0]:
                of = overlap(k[2], b[2])
                clear &= abs(of - 0.6) > 0.005
                stays &= of <= 0.6
        if stays:
            kept.append(b)
    return kept, clear


def bound(boxes, want=12):
    """A threshold between scores that are far apart, near the one that some boxes pass."""
    scores = [b[1] for b in boxes[:3 * want]]
    gaps = [(scores[i] - scores[i + 1], i) for i in range(want // 2, len(scores) - 1)]
    gap, i = max(gaps)
    return (scores[i] + scores[i + 1]) / 2, gap


def judge(kind, lines, boxes, results, scale, names):
    """Compares what a program has printed; returns how many boxes and numbers it has."""
    assert len(lines) == len(boxes), f"{kind}: {len(lines)} boxes, want {len(boxes)}"
    numbers = 0
    free = list(range(len(boxes)))
    for line in lines:
        words = line.split()
        got = np.array(words[1:6], np.float64)
        i = min(free, key=lambda k: np.abs(boxes[k][2] - got[1:]).max() + 1e3 * (boxes[k][0] != int(words[0])))
        free.remove(i)
        label, score, edges, slack, score_slack, stride, row, column = boxes[i]
        assert label == int(words[0]), f"{kind}: class {words[0]}, want {label}"
        assert abs(got[0] - score) <= score_slack + 1e-5, f"{kind}: score {got[0]}, want {score}"
        assert np.abs(got[1:] - edges).max() <= slack + 1e-4, f"{kind}: {got[1:]}, want {edges} within {slack}"
        numbers += 5
        s = STRIDES.index(stride)
        if kind == "pose":
            points = results[3 * s + 2][0, row, column].reshape(POINTS, 3).astype(np.float64)
            want = np.stack([(points[:, 0] * 2 + column) * stride, (points[:, 1] * 2 + row) * stride,
                             sigmoid(points[:, 2])], -1)
            assert np.abs(np.array(words[6:], np.float64).reshape(POINTS, 3) - want).max() < 1e-2, f"{kind}: key points"
            numbers += 3 * POINTS
        if kind == "seg":
            own, proto = results[3 * s + 2][0, row, column].astype(np.float64), results[-1][0].astype(np.float64)
            sums = proto @ own
            worth = np.abs(proto) @ scale[names[3 * s + 2]] + scale[names[-1]] * np.abs(own).sum()
            mask = np.array([c == "1" for c in words[6]]).reshape(sums.shape)
            sure = np.abs(sums) > worth
            assert sure.mean() > 0.9 and (mask == (sums > 0))[sure].all(), f"{kind}: mask"
            numbers += int(sure.sum())
    return len(lines), numbers


def run(command):
    """What a program prints."""
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def check(kind, folder, commands):
    n = network(kind, KINDS.index(kind) + 1)
    model = n.model()
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    frames, used = [], []
    for seed in range(40):
        luma, data = frame(seed)
        x = np.broadcast_to(luma.astype(np.float32) / 255, (1, 3, SIDE, SIDE)).copy()
        results = session.run(None, {"images": x})
        frames.append((data, results))
    scale = scales(n, [np.concatenate([r[i] for _, r in frames]) for i in range(len(n.outputs))])
    path = f"{folder}/{kind}.onnx"
    write(model, n, scale, path)
    boxes_seen = numbers_seen = 0
    for data, results in frames:
        if len(used) == 5:
            break
        threshold, gap, boxes = 0.0, 1.0, []
        if kind != "stereo":
            all_boxes = candidates(kind, results, scale, n.outputs)
            threshold, gap = bound(all_boxes)
            boxes = [b for b in all_boxes if b[1] > threshold]
            if gap < 1e-3:
                continue
            if kind != "yolov10":
                boxes, clear = suppressed(boxes)
                if not clear:
                    continue
        image = f"{folder}/{kind}{len(used)}.nv12"
        with open(image, "wb") as f:
            f.write(data)
        printed = [run([c, path, image, kind, repr(float(threshold))]) for c in commands]
        assert all(p == printed[0] for p in printed), f"{kind}: the generations differ"
        lines = printed[0].strip().split("\n")
        if kind == "stereo":
            got = np.array([line.split() for line in lines], np.float64)
            want = results[0][0, :, :, 0]
            assert np.abs(got - want).max() <= scale[n.outputs[0]][0] * 1.0001, f"stereo: {np.abs(got - want).max()}"
            boxes_seen, numbers_seen = boxes_seen + 1, numbers_seen + got.size
        else:
            b, k = judge(kind, lines, boxes, results, scale, n.outputs)
            boxes_seen, numbers_seen = boxes_seen + b, numbers_seen + k
        used.append(image)
    assert len(used) == 5, f"{kind}: {len(used)} frames have clear boxes"
    what = "maps" if kind == "stereo" else "boxes"
    print(f"{kind}: {boxes_seen} {what}, {numbers_seen} numbers of 5 frames within one code, "
          f"{len(commands)} generations alike")


def main():
    for kind in KINDS:
        check(kind, sys.argv[1], sys.argv[2:])


main()
