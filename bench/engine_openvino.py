"""One engine of the comparison: OpenVINO through its C API.

Floating-point arithmetic is of float32, as in the other engines. OpenVINO's own choice for networks of float16 is
bfloat16 on processors that have products of it, which keeps eight bits of eleven; BENCH_OPENVINO_PRECISION=own uses it.
Arguments: engine.py.
"""
import os
import time

import engine
import openvino_c


def load(threads, path):
    begin = time.perf_counter()
    own = engine.entry(path)["format"] == "fp16" and os.environ.get("BENCH_OPENVINO_PRECISION") == "own"
    model = openvino_c.Model(path, threads, None if own else "f32")
    seconds = time.perf_counter() - begin
    for i, p in enumerate(model.inputs):
        model.bind("input", i, p, engine.filled(p.shape))
    return seconds, model.run, lambda: [model.result(i) for i in range(len(model.outputs))]


if __name__ == "__main__":
    engine.main("openvino", load)
