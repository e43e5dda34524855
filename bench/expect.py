#!/usr/bin/env python3
"""Write expected.zip: what ONNX Runtime computes for the models of gen_bench_models.py.

    gen_bench_models.py --out DIR [NAME...]
    expect.py DIR                     (needs numpy, onnx and onnxruntime)
    go run ./conformance/cmd/conformance onnx outputs DIR

Every input is element i = ((2654435761 * i + 12345) mod 2^32) / 2^31 - 1, so that it can be made anywhere. Of each output every step-th
element is stored. QDQ models are computed as they are written, without fusing: integer kernels of ONNX Runtime saturate on some processors.
"""
import glob
import hashlib
import json
import os
import sys
import zipfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import numpy_helper

KEEP = 4096  # elements stored of an output


def pattern(shape):
    n = int(np.prod(shape))
    i = (np.arange(n, dtype=np.uint64) * np.uint64(2654435761) + np.uint64(12345)) % np.uint64(1 << 32)
    return (i.astype(np.float64) / 2**31 - 1).astype(np.float32).reshape(shape)


def scales(path):
    """The quantization steps of outputs that DequantizeLinear makes."""
    g = onnx.load(path).graph
    inits = {t.name: t for t in g.initializer}
    made = {n.output[0]: n for n in g.node}
    found = {}
    for o in g.output:
        n = made[o.name]
        while n.op_type == "Identity":
            n = made[n.input[0]]
        if n.op_type == "DequantizeLinear":
            found[o.name] = float(numpy_helper.to_array(inits[n.input[1]]))
    return found


def main():
    folder = sys.argv[1]
    index, values = {}, {}
    here = os.path.dirname(os.path.abspath(__file__))
    for path in sorted(glob.glob(os.path.join(folder, "*.onnx"))):
        name = os.path.splitext(os.path.basename(path))[0]
        options = ort.SessionOptions()
        options.log_severity_level = 3
        if name.endswith("_qdq"):
            options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        feeds = {i.name: pattern(i.shape) for i in session.get_inputs()}
        outs = session.run(None, feeds)
        entry = {"sha256": hashlib.sha256(open(path, "rb").read()).hexdigest(), "outputs": []}
        steps = scales(path)
        for o, v in zip(session.get_outputs(), outs):
            flat = v.astype(np.float32).ravel()
            step = max(1, -(-flat.size // KEEP))
            if step > 1 and flat.size % step == 0:
                step += 1  # so that the kept elements do not lie in one column
            file = f"{name}.{len(entry['outputs'])}.f32"
            values[file] = flat[::step].astype("<f4").tobytes()
            entry["outputs"].append({"name": o.name, "dims": list(v.shape), "step": step, "file": file, "scale": steps.get(o.name, 0)})
        index[name] = entry
        print(f"{name}: {[list(v.shape) for v in outs]}", flush=True)
    with zipfile.ZipFile(os.path.join(here, "expected.zip"), "w") as z:
        values["index.json"] = json.dumps({"onnxruntime": ort.__version__, "models": index}, indent=1, sort_keys=True).encode()
        for f in sorted(values):
            z.writestr(zipfile.ZipInfo(f, (2024, 1, 1, 0, 0, 0)), values[f], zipfile.ZIP_DEFLATED, 9)


if __name__ == "__main__":
    main()
