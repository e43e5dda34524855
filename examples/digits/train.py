#!/usr/bin/env python3
"""Trains the digits network and writes everything in this directory that is not source text.

    python3 -m venv .venv && .venv/bin/pip install -r examples/digits/requirements.txt
    .venv/bin/python examples/digits/train.py            trains; writes digits.weights, digits.onnx, accuracy.txt, images/
    .venv/bin/python examples/digits/train.py --check    proves that these files belong together, or says why not (exit 1)

README.md describes the files. The held-out images take no part in training, nor in the choice of any setting.
"""

import argparse
import os
import pathlib
import struct
import sys

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when numpy is loaded: sums in one order, the same bytes every time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, reference
from sklearn.datasets import load_digits

import network

HERE = pathlib.Path(__file__).parent
SEED = 20261121
HELD_OUT = 360
SHOWN = 60
MAGIC = b"DIGITSW1"


def split():
    """The images as integers 0..16, [N,8,8], and labels: the training part, then the held-out part."""
    data = load_digits()
    images = data.images.astype(np.uint8)
    order = np.random.RandomState(SEED).permutation(len(images))
    held, train = order[:HELD_OUT], order[HELD_OUT:]
    return images[train], data.target[train], images[held], data.target[held]


def as_input(images):
    return (images.astype(np.float32) / 16)[..., None]


def shifted(x, rng):
    """Every image moved by up to one pixel in each direction."""
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    offsets = rng.randint(0, 3, (len(x), 2))
    return np.stack([p[i:i + 8, j:j + 8] for p, (i, j) in zip(padded, offsets)])


def train(images, labels, epochs=60, batch=32, rate=2e-3):
    rng = np.random.RandomState(SEED)
    weights = network.initial(rng)
    adam = network.Adam(weights, decay=0.02)
    x = as_input(images)
    for epoch in range(epochs):
        order = rng.permutation(len(x))
        for start in range(0, len(x), batch):
            part = order[start:start + batch]
            progress = (epoch + start / len(x)) / epochs
            gradients = network.gradient(weights, shifted(x[part], rng), labels[part])
            adam.step(weights, gradients, rate * 0.5 * (1 + np.cos(np.pi * progress)))
    return weights


def right(weights, images, labels):
    logits, _ = network.forward(weights, as_input(images))
    return int((logits.argmax(axis=1) == labels).sum())


def accuracy_text(weights, images, labels):
    n = right(weights, images, labels)
    return f"held-out: {n} of {len(labels)} right ({100 * n / len(labels):.2f} %)\n"


def weights_bytes(weights):
    out = [MAGIC, struct.pack("<I", len(network.SHAPES))]
    for name, shape in network.SHAPES.items():
        dims = list(shape) + [1] * (4 - len(shape))
        out.append(struct.pack("<16sI4I", name.encode(), len(shape), *dims))
        out.append(weights[name].astype("<f4").tobytes())
    return b"".join(out)


def read_weights(data):
    if data[:8] != MAGIC:
        raise ValueError("digits.weights: wrong magic")
    (count,), at, weights = struct.unpack_from("<I", data, 8), 12, {}
    for _ in range(count):
        name, rank, *dims = struct.unpack_from("<16sI4I", data, at)
        shape = tuple(dims[:rank])
        at += 36
        values = np.frombuffer(data, "<f4", int(np.prod(shape)), at)
        at += values.nbytes
        weights[name.rstrip(b"\0").decode()] = values.reshape(shape)
    if at != len(data) or {k: v.shape for k, v in weights.items()} != network.SHAPES:
        raise ValueError("digits.weights: wrong tensors or length")
    return weights


def onnx_model(weights):
    """The same network over [N,1,8,8]. Filters become [O,I,h,w], and the columns of fc go from H,W,C to C,H,W order."""
    tensors = {k: v for k, v in weights.items() if k.endswith("bias")}
    for k in ("conv1.weight", "conv2.weight"):
        tensors[k] = weights[k].transpose(0, 3, 1, 2)
    tensors["fc.weight"] = weights["fc.weight"].reshape(10, 4, 4, 32).transpose(0, 3, 1, 2).reshape(10, 512)
    conv = {"kernel_shape": [3, 3], "strides": [1, 1], "auto_pad": "SAME_UPPER"}
    nodes = [
        helper.make_node("Conv", ["image", "conv1.weight", "conv1.bias"], ["conv1"], "conv1", **conv),
        helper.make_node("Relu", ["conv1"], ["relu1"], "relu1"),
        helper.make_node("MaxPool", ["relu1"], ["pool1"], "pool1", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Conv", ["pool1", "conv2.weight", "conv2.bias"], ["conv2"], "conv2", **conv),
        helper.make_node("Relu", ["conv2"], ["relu2"], "relu2"),
        helper.make_node("Flatten", ["relu2"], ["flat"], "flatten", axis=1),
        helper.make_node("Gemm", ["flat", "fc.weight", "fc.bias"], ["logits"], "fc", transB=1),
        helper.make_node("Softmax", ["logits"], ["probabilities"], "softmax", axis=1),
    ]
    graph = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["N", 1, 8, 8])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["N", 10])],
        [numpy_helper.from_array(np.ascontiguousarray(tensors[k]), k) for k in network.SHAPES],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="train.py")
    model.ir_version = 8
    onnx.checker.check_model(model, full_check=True)
    return model


def image_files(images, labels):
    """Name and content of the files in images/: the first held-out images in order."""
    return {
        f"{i:03d}_label{labels[i]}.pgm": b"P5\n8 8\n16\n" + images[i].tobytes()
        for i in range(SHOWN)
    }


def write(weights, images, labels):
    (HERE / "digits.weights").write_bytes(weights_bytes(weights))
    (HERE / "digits.onnx").write_bytes(onnx_model(weights).SerializeToString())
    (HERE / "accuracy.txt").write_text(accuracy_text(weights, images, labels))
    folder = HERE / "images"
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.pgm"):
        old.unlink()
    for name, data in image_files(images, labels).items():
        (folder / name).write_bytes(data)


def check(images, labels):
    """Yields a sentence for everything that is not as it should be."""
    weights = read_weights((HERE / "digits.weights").read_bytes())
    text = accuracy_text(weights, images, labels)
    if (HERE / "accuracy.txt").read_text() != text:
        yield f"accuracy.txt does not say: {text.strip()}"
    if right(weights, images, labels) < 0.97 * len(labels):
        yield f"less than 97 % right: {text.strip()}"

    wanted = image_files(images, labels)
    found = {p.name: p.read_bytes() for p in (HERE / "images").iterdir()}
    for name in sorted(wanted.keys() | found.keys()):
        if wanted.get(name) != found.get(name):
            yield f"images/{name} is missing, foreign or different"

    model = onnx.load(HERE / "digits.onnx")
    if model.graph != onnx_model(weights).graph:
        yield "digits.onnx is not the network of digits.weights"
    nchw = as_input(images).transpose(0, 3, 1, 2)
    (got,) = reference.ReferenceEvaluator(model).run(None, {"image": nchw})
    logits, _ = network.forward(weights, as_input(images))
    difference = float(np.abs(got - network.softmax(logits)).max())
    if not difference < 1e-5:
        yield f"digits.onnx differs from digits.weights by {difference:g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="train nothing, check the files")
    arguments = parser.parse_args()
    train_images, train_labels, images, labels = split()
    if not arguments.check:
        weights = train(train_images, train_labels)
        print(f"training: {right(weights, train_images, train_labels)} of {len(train_labels)} right")
        write(weights, images, labels)
    faults = list(check(images, labels))
    for fault in faults:
        print(f"train.py: {fault}", file=sys.stderr)
    if faults:
        return 1
    print((HERE / "accuracy.txt").read_text(), end="")
    print(f"weights, ONNX, accuracy and {SHOWN} images agree")
    return 0


if __name__ == "__main__":
    sys.exit(main())
