"""The sides of the comparison: ONNX Runtime, and the tool and three APIs of the library. Each computes a model in a
process of its own, so that one that ends or hangs costs one line of the table."""
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time

import numpy
import onnx

SECONDS = float(os.environ.get("ZOO_SECONDS", "0.3"))  # that runs are repeated for, the fastest one counting
PATIENCE = 300  # seconds until a side counts as hanging


class Failed(Exception):
    """What a side did not do, in its words."""


class Result:
    """Results by the outputs' names in the model's order, and seconds; or a refusal."""

    def __init__(self, arrays=None, load=0.0, run=0.0, refused="", stage=""):
        self.arrays, self.load, self.run, self.refused, self.stage = arrays, load, run, refused, stage


def onnxruntime_side(path, arrays, names, _):
    import onnxruntime
    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    begin = time.perf_counter()
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    load = time.perf_counter() - begin
    return load, lambda: session.run(names, arrays)


def ohnn_side(path, _, names, library):
    os.environ["ANYNPU_PREFIX"] = os.path.dirname(library)
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "python"))
    import anynpu
    begin = time.perf_counter()
    session = anynpu.Session(path)
    load = time.perf_counter() - begin

    def run(given):
        got = session.run(given)
        return [got[n] for n in names]
    return load, run


def rknn_side(path, _, names, library):
    import rknn
    begin = time.perf_counter()
    model = rknn.Model(library, path, Failed)
    return time.perf_counter() - begin, model.run


def hbdnn_side(path, _, names, library):
    import hbdnn
    outputs = onnx.load(path, load_external_data=False).graph.output
    real = [o.type.tensor_type.elem_type in (1, 10, 11, 16) for o in outputs]
    begin = time.perf_counter()
    model = hbdnn.Model(library, path, real, Failed)
    return time.perf_counter() - begin, model.run


def tool_side(path, arrays, names, library):
    """`anynpu run`, which is a process of its own."""
    folder = path + ".run"
    os.makedirs(folder, exist_ok=True)
    given = [a for name, array in arrays.items() for a in ("-i", "%s=%s" % (name, saved(folder, name, array)))]
    done = subprocess.run([os.path.join(library, "..", "bin", "anynpu"), "run", path, *given, "-o", folder, "--json",
                           "--threads", "1", "--repeat", "3"], capture_output=True, text=True)
    if done.returncode:
        raise Failed("exit code %d: %s" % (done.returncode, done.stderr.strip().splitlines()[-1:]))
    report = json.loads(done.stdout)
    files = {o["name"]: o["file"] for o in report["outputs"]}
    results = [numpy.load(files[n]) for n in names]
    return report["load_ms"] / 1000, report["min_ms"] / 1000, results


def saved(folder, name, array):
    file = os.path.join(folder, "in.%s.npy" % re.sub(r"\W", "_", name))
    numpy.save(file, array)
    return file


SIDES = {"onnxruntime": onnxruntime_side, "tool": tool_side, "ohnn": ohnn_side, "rknn": rknn_side, "hbdnn": hbdnn_side}


def compute(side, path, arrays, names, library, log):
    """What a side makes of a model. names are those of the outputs; log is the file that the side writes to."""
    receive, send = multiprocessing.Pipe(False)
    child = multiprocessing.Process(target=work, args=(send, side, path, arrays, names, library, log))
    child.start()
    send.close()
    try:
        answered = receive.poll(PATIENCE)
        result = receive.recv() if answered else Result(refused="no answer in %d s" % PATIENCE, stage="hang")
    except EOFError:
        child.join()
        code = child.exitcode
        died = signal.Signals(-code).name if code < 0 else "exit code %d" % code
        result = Result(refused="the process ended: " + died, stage="crash")
    child.kill()
    child.join()
    if result.refused:
        result.refused = "%s (%s)" % (sentence(log), result.refused) if sentence(log) else result.refused
    return result


def work(send, side, path, arrays, names, library, log):
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.environ.update(ANYNPU_THREADS="1", ANYNPU_LOG="error")
    stage = "load"
    try:
        made = SIDES[side](path, arrays, names, library)
        if len(made) == 3:
            load, best, results = made
        else:
            load, run = made
            stage = "run"
            call = run if side == "onnxruntime" else lambda: run(arrays)
            results, best, end = None, float("inf"), time.perf_counter() + SECONDS
            while results is None or time.perf_counter() < end:
                begin = time.perf_counter()
                got = call()
                best = min(best, time.perf_counter() - begin)
                results = got if results is None else results
        send.send(Result([numpy.asarray(r) for r in results], load, best))
    except Exception as e:  # whatever a side has to say
        send.send(Result(refused="%s" % e, stage=stage))
    send.close()
    os._exit(0)  # the libraries' own ends are not what is judged here


def sentence(log):
    """The last line that the library wrote as an error, without time and place."""
    with open(log, errors="replace") as f:
        lines = [line.strip() for line in f if line.strip()]
    return lines[-1] if lines else ""
