"""The engines that make bench-operators measures beside this library: each is a process of its own.

    peers.py ENGINE        reads commands, answers each with a line of JSON; {"failed": why} when it did not work

    load FOLDER TYPE       FOLDER/row.onnx, a model of elements TYPE; its inputs are FOLDER/NAME.npy, bfloat16 as uint16;
                           TYPE is the least that an engine computes as, where it has a choice
    outputs FILE           runs it once; its results become the arrays of FILE, an .npz
    time SECONDS           {"ms": the lowest time of a run}
"""
import importlib.metadata
import json
import math
import os
import select
import subprocess
import sys
import time

import ml_dtypes
import numpy as np

LIMIT = 60  # seconds that an engine may take to answer


class OnnxRuntime:
    """One thread; inputs and results are bound."""

    def __init__(self, folder, main):
        import onnxruntime as ort
        from onnx import TensorProto
        o = ort.SessionOptions()
        o.intra_op_num_threads = o.inter_op_num_threads = 1
        o.log_severity_level = 4
        session = ort.InferenceSession(os.path.join(folder, "row.onnx"), o, providers=["CPUExecutionProvider"])
        self.bound = session.io_binding()
        for v in session.get_inputs():
            x = np.load(os.path.join(folder, v.name + ".npy"))
            if v.type == "tensor(bfloat16)":
                value = ort.OrtValue.ortvalue_from_numpy_with_onnx_type(x, TensorProto.BFLOAT16)
            else:
                value = ort.OrtValue.ortvalue_from_numpy(x)
            self.bound.bind_ortvalue_input(v.name, value)
        for v in session.get_outputs():
            self.bound.bind_output(v.name, "cpu")
        self.run = lambda: session.run_with_iobinding(self.bound)

    def outputs(self):
        self.run()
        return [v.numpy() for v in self.bound.get_outputs()]


class OpenVino:
    """One thread; inputs and results are bound. Halves are computed as the CPU chooses, all else as float32."""

    def __init__(self, folder, main):
        import openvino_c
        self.model = openvino_c.Model(os.path.join(folder, "row.onnx"), 1, None if main.endswith("float16") else "f32")
        for i, p in enumerate(self.model.inputs):
            x = np.load(os.path.join(folder, p.name + ".npy"))
            self.model.bind("input", i, p, x.view(ml_dtypes.bfloat16) if p.type == ml_dtypes.bfloat16 else x)
        self.run = self.model.run

    def outputs(self):
        self.run()
        return [self.model.result(i) for i in range(len(self.model.outputs))]


ENGINES = {"onnxruntime": OnnxRuntime, "openvino": OpenVino}


def lowest(run, seconds):
    """The lowest time of a run in ms, after a fifth of the time to warm up."""
    begin, best = time.perf_counter(), math.inf
    run()
    while time.perf_counter() - begin < seconds / 5:
        run()
    end = time.perf_counter() + seconds
    while True:
        begin = time.perf_counter()
        run()
        now = time.perf_counter()
        best = min(best, now - begin)
        if now > end:
            return 1e3 * best


def serve(make):
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what an engine prints is no answer
    engine = None
    for line in sys.stdin:
        command, *arguments = line.split()
        answer = {}
        try:
            if command == "load":
                engine = None  # frees the last one first
                engine = make(*arguments)
            elif command == "outputs":
                np.savez(arguments[0], *(x.astype(np.float32) if x.dtype == ml_dtypes.bfloat16 else x
                                         for x in engine.outputs()))
            else:
                answer["ms"] = lowest(engine.run, float(arguments[0]))
        except Exception as e:
            answer["failed"] = (str(e).strip() or type(e).__name__).splitlines()[0][-150:]
        print(json.dumps(answer), file=answers, flush=True)


class Peer:
    """An engine's process, started when it is needed. One that ends or answers too late loses what it has loaded."""

    def __init__(self, name):
        self.name, self.version, self.process = name, importlib.metadata.version(name), None

    def ask(self, *command):
        if not self.process:
            self.process = subprocess.Popen([sys.executable, __file__, self.name], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        p = self.process
        try:
            p.stdin.write(" ".join(map(str, command)) + "\n")
            p.stdin.flush()
            if not select.select([p.stdout], [], [], LIMIT)[0]:
                self.close()
                return {"failed": f"no answer after {LIMIT} s"}
            line = p.stdout.readline()
        except BrokenPipeError:
            line = ""
        if line:
            return json.loads(line)
        self.close()
        return {"failed": f"its process ended with {p.returncode}"}

    def close(self):
        """Ends the process."""
        p, self.process = self.process, None
        if not p:
            return
        try:
            p.stdin.close()
            p.wait(1)
        except (BrokenPipeError, subprocess.TimeoutExpired):
            p.kill()
            p.wait()


if __name__ == "__main__":
    serve(ENGINES[sys.argv[1]])
