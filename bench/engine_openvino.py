"""One engine of the comparison: OpenVINO through its C API.

Float32 and quantized networks compute float32 as float32; of float16 OpenVINO's choice for the processor is used.
Arguments: engine.py.
"""
import time

import engine
import openvino_c


def load(threads, path):
    begin = time.perf_counter()
    model = openvino_c.Model(path, threads, None if engine.entry(path)["format"] == "fp16" else "f32")
    seconds = time.perf_counter() - begin
    for i, p in enumerate(model.inputs):
        model.bind("input", i, p, engine.filled(p.shape))
    return seconds, model.run, lambda: [model.result(i) for i in range(len(model.outputs))]


if __name__ == "__main__":
    engine.main("openvino", load)
