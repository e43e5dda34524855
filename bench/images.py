#!/usr/bin/env python3
"""Images in front of a network: NV12 decoded, resized by regions and normalized, beside OpenCV, one thread each, by turns.

    images.py ANYNPU DIR [ROUNDS]      (needs numpy, onnx and opencv-python-headless; make bench-images)

ANYNPU is the tool. Models of no operator but Identity, with metadata that make the input an image, are written to DIR. The lowest
times count; the ratio is of this library by OpenCV, so below 1 we are faster. OpenCV's time is that of the quicker of two ways to
make float planes of its bytes: blobFromImage, and numpy on each channel with memory that is there. Prints figures, asserts no times.
"""
import json
import os
import subprocess
import sys
import time

import cv2
import numpy as np
import onnx
from onnx import TensorProto, helper

MEAN, SCALE = (123.675, 116.28, 103.53), 1 / 58.0


def model(path, height, width, source):
    shape = [1, 3, height, width]
    g = helper.make_graph([helper.make_node("Identity", ["image"], ["y"])], "images",
                          [helper.make_tensor_value_info("image", TensorProto.FLOAT, shape)],
                          [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)])
    m = helper.make_model(g, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    helper.set_model_props(m, {"anynpu.input.image." + k: v for k, v in {
        "pixel": "nv12", "planes": "2", "range": "bt601_video", "order": "rgb", "source": source, "mean": json.dumps(MEAN),
        "scale": json.dumps([SCALE])}.items()})
    onnx.save(m, path)


def frame(height, width):
    """A smooth image as OpenCV makes NV12 of it: luma, and pairs of chroma."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    rgb = np.stack([127 + 90 * np.sin(x / 97 + y / 211), 127 + 90 * np.cos(y / 83), 127 + 90 * np.sin((x - y) / 150)], -1)
    i420 = cv2.cvtColor(np.rint(rgb).astype(np.uint8), cv2.COLOR_RGB2YUV_I420).reshape(-1)
    n = height * width
    pairs = np.stack([i420[n:n + n // 4], i420[n + n // 4:]], -1)
    return i420[:n].reshape(height, width), np.ascontiguousarray(pairs.reshape(height // 2, width // 2, 2))


def normalized(rgb, out):
    for c in range(3):
        np.subtract(rgb[..., c], np.float32(MEAN[c]), out=out[c], dtype=np.float32)
        np.multiply(out[c], np.float32(SCALE), out=out[c])
    return out


def lowest(f, seconds):
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        t = time.perf_counter()
        f()
        best = min(best, time.perf_counter() - t)
    return best * 1e3


def case(tool, folder, rounds, name, source, image, region, size):
    y, uv = image
    path = os.path.join(folder, name.replace(" ", "_") + ".onnx")
    model(path, *size, source)
    inputs = {"image": y[None], "image.chroma": uv[None]}
    if region:
        inputs["image.regions"] = np.array([region], np.int32)
    args = [path]
    for key, value in inputs.items():
        file = os.path.join(folder, key + ".npy")
        np.save(file, value)
        args += ["-i", f"{key}={file}"]
    if region:
        left, top, right, bottom = region
        y, uv = y[top:bottom + 1, left:right + 1], uv[top // 2:bottom // 2 + 1, left // 2:right // 2 + 1]
    out = np.empty((3, *size), np.float32)

    def decoded():
        rgb = cv2.cvtColorTwoPlane(y, uv, cv2.COLOR_YUV2RGB_NV12)
        return cv2.resize(rgb, size[::-1], interpolation=cv2.INTER_LINEAR) if region else rgb

    ways = [lambda: cv2.dnn.blobFromImage(decoded(), SCALE, size[::-1], MEAN), lambda: normalized(decoded(), out)]
    ours, theirs = [], []
    for _ in range(rounds):
        bench = [tool, "bench", *args, "--threads", "1", "--time", "1s", "--spread", "1000", "--json"]
        ours.append(json.loads(subprocess.run(bench, check=True, capture_output=True).stdout)["figures"]["min_ms"])
        theirs.append(min(lowest(f, 0.5) for f in ways))
    subprocess.run([tool, "run", *args, "-o", folder], check=True, capture_output=True)
    levels = np.abs(np.load(os.path.join(folder, "y.npy"))[0] - ways[1]()) / SCALE
    print(f"{name}: {min(ours):.3f} ms, OpenCV {min(theirs):.3f} ms, ratio {min(ours) / min(theirs):.2f}; differences of "
          f"{levels.mean():.2f} levels of a byte on average, {levels.max():.1f} at most")


def main():
    tool, folder, rounds = sys.argv[1], sys.argv[2], int((sys.argv + ["3"])[3])
    os.makedirs(folder, exist_ok=True)
    cv2.setNumThreads(1)
    case(tool, folder, rounds, "nv12 640x640", "ddr", frame(640, 640), None, (640, 640))
    big = frame(1080, 1920)
    case(tool, folder, rounds, "nv12 1920x1080, region 960x960 to 224x224", "resizer", big, (400, 60, 1359, 1019), (224, 224))
    case(tool, folder, rounds, "nv12 1920x1080, all of it to 224x224", "resizer", big, (0, 0, 1919, 1079), (224, 224))


main()
