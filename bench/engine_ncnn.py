"""One engine of the comparison: ncnn, whose models pnnx makes of the ONNX files and keeps in a folder beside them.

Float32 networks compute float32 as float32. pnnx refuses ONNX files of float16, so NAME_f16 is made of the network NAME
beside it, with weights in float16; of the computation ncnn's choice for the processor is used. A quantized network is
refused: pnnx keeps its quantizations as operators that ncnn lacks. Arguments: engine.py.
"""
import importlib.util
import os
import re
import shutil
import subprocess
import time

import ncnn

import engine

LIMIT = 300  # seconds that a conversion may take


def convert(path, form):
    """The paths of the converted model without extension, and of the program with which pnnx shows its inputs."""
    name = os.path.splitext(os.path.basename(path))[0]
    if form == "fp16":
        path = os.path.join(os.path.dirname(path), name.removesuffix("_f16") + ".onnx")
    folder = os.path.join(os.path.dirname(os.path.abspath(path)), "ncnn", name)
    made = os.path.join(folder, "net")
    refused = os.path.join(folder, "refused")
    if not os.path.exists(folder) or os.path.getmtime(folder) < os.path.getmtime(path):
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        shutil.copy(path, made + ".onnx")
        pnnx = os.path.join(importlib.util.find_spec("pnnx").submodule_search_locations[0], "pnnx")
        try:
            done = subprocess.run([pnnx, "net.onnx", f"fp16={int(form == 'fp16')}"], cwd=folder, capture_output=True,
                                  timeout=LIMIT)
            why = f"pnnx ends with {done.returncode}" if done.returncode else ""
        except subprocess.TimeoutExpired:
            why = f"pnnx takes longer than {LIMIT} s"
        if not why and not os.path.exists(made + ".ncnn.param"):
            why = "pnnx makes no model of ncnn"
        for file in ("net.onnx", "net.pnnx.bin", "net.pnnx.onnx", "net.pnnxsim.onnx"):
            if os.path.exists(os.path.join(folder, file)):
                os.remove(os.path.join(folder, file))
        if why:
            with open(refused, "w", encoding="utf-8") as f:
                f.write(why)
    if os.path.exists(refused):
        with open(refused, encoding="utf-8") as f:
            raise RuntimeError(f.read())
    return made + ".ncnn", made + "_ncnn.py"


def check_layers(param):
    """Refuses a model with layers that ncnn does not have: loading it would end the process."""
    with open(param, encoding="utf-8") as f:
        types = sorted({line.split()[0] for line in f.readlines()[2:] if line.strip()})
    lacking = [t for t in types if ncnn.layer_to_index(t) < 0]
    if lacking:
        raise RuntimeError("ncnn has no layer " + ", ".join(lacking))


def load(threads, path):
    about = engine.entry(path)
    if about["format"] not in ("fp32", "fp16"):
        raise RuntimeError(f"pnnx keeps the quantizations of {about['format']} as operators that ncnn lacks")
    made, shown = convert(path, about["format"])
    check_layers(made + ".param")
    with open(shown, encoding="utf-8") as f:
        batch = dict(re.findall(r"\b(in\d+|out\d+)\.?(?:numpy)?[^\n]*?batch_index=(\d+)", f.read()))
    inputs = [(f"in{i}", ncnn.Mat(engine.filled(v["shape"]), batch_index=int(batch[f"in{i}"])).clone())
              for i, v in enumerate(about["inputs"])]
    begin = time.perf_counter()
    net = ncnn.Net()
    net.opt.num_threads = threads
    if about["format"] == "fp32":
        net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = False
        net.opt.use_bf16_storage = False
    if net.load_param(made + ".param") or net.load_model(made + ".bin"):
        raise RuntimeError("ncnn does not load what pnnx made")
    seconds = time.perf_counter() - begin
    names = [f"out{i}" for i in range(len(about["outputs"]))]
    results = []

    def run():
        ex = net.create_extractor()
        for name, x in inputs:
            ex.input(name, x)
        results[:] = [ex.extract(name) for name in names]
        if any(status for status, _ in results):
            raise RuntimeError("ncnn fails")
    return seconds, run, lambda: [
        x.numpy(batch_index=int(batch[name])) for name, (_, x) in zip(names, results)]


if __name__ == "__main__":
    engine.main("ncnn", load)
