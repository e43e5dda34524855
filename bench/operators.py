"""Operators one by one beside ONNX Runtime: make bench-operators. docs/bench.md explains the figures.

Each row of operators.txt becomes a model of one operator for each of its element types. Both engines run it by turns
with one thread and the same inputs; the lowest times count. Ratios are the peer's time by ours: above 1 we are faster.
"""
import argparse
import ast
import fnmatch
import html
import json
import math
import os
import re
import subprocess
import sys
import time

import ml_dtypes
import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
OPSET = 24
OLDER = {"RoiAlign": 21, "MaxRoiPool": 21}  # ONNX Runtime has no newer form
INPUT = re.compile(r"(\w+)(?:\[([\d,]*)\]|=([-\d.,]+)|:([-\d.]+))(!?\+?|\?|<\d+|#)$")


def rows():
    """The rows of operators.txt: (family, core operator, ONNX operator, inputs, attributes, results, element types)."""
    for line in open(os.path.join(HERE, "operators.txt")):
        cells = [c.strip() for c in line.split("|")]
        if line.strip() and line[0] != "#" and cells[0] != "without":
            family, core, name, inputs, attributes, results, types = cells
            yield family, core, name, inputs.split(), attributes, int(results), types.split()


def numpy_type(name):
    return ml_dtypes.bfloat16 if name == "bfloat16" else np.dtype(name)


def onnx_type(name):
    return getattr(TensorProto, {"float32": "FLOAT"}.get(name, name.upper()))


class Network:
    """A model of one operator, or of few, with what its inputs are given."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.inputs, self.constants, self.given, self.names = [], [], [], {}, 0
        self.opset = OPSET

    def values(self, dtype, dims, rule):
        if rule.startswith("<"):
            return self.random.integers(0, max(1, int(rule[1:])), dims).astype(numpy_type(dtype))
        if rule == "#":
            first = self.random.random((dims[0], 2)) * 30
            corners = np.concatenate([first, first + 2 + self.random.random((dims[0], 2)) * 16], 1)
            return np.concatenate([np.zeros((dims[0], dims[1] - 4)), corners], 1).astype(numpy_type(dtype))
        if rule == "?":
            return (self.random.random(dims) < 0.01).astype(numpy_type(dtype))
        if dtype == "bool":
            return self.random.random(dims) < 0.5
        if dtype[:3] in ("int", "uin"):
            low = 1 if "+" in rule or dtype[0] == "u" else -100
            return self.random.integers(low, 100, dims).astype(numpy_type(dtype))
        x = self.random.random(dims) * 2 - 1
        if "+" in rule:
            x = np.abs(x) + 1
        elif "!" in rule:
            x *= 0.1
        return np.asarray(x).astype(numpy_type(dtype))

    def name(self):
        self.names += 1
        return f"v{self.names}"

    def constant(self, x, dtype=None):
        name = self.name()
        if dtype == "bfloat16":
            data = x.astype(ml_dtypes.bfloat16).tobytes()
            t = helper.make_tensor(name, TensorProto.BFLOAT16, x.shape, data, raw=True)
        else:
            t = numpy_helper.from_array(np.asarray(x), name)
        self.constants.append(t)
        return name

    def input(self, dtype, x):
        name = f"x{len(self.inputs)}"
        self.inputs.append(helper.make_tensor_value_info(name, onnx_type(dtype), x.shape))
        self.given[name] = x
        return name

    def operand(self, text, main):
        if text == "-":
            return ""
        dtype, dims, many, one, rule = INPUT.match(text).groups()
        dtype = main if dtype == "T" else dtype
        if many is not None or one is not None:
            numbers = np.array([float(v) for v in many.split(",")] if many is not None else float(one))
            return self.constant(numbers.astype(numpy_type(dtype)), dtype)
        x = self.values(dtype, [int(d) for d in dims.split(",") if d], rule)
        return self.constant(x, dtype) if "!" in rule else self.input(dtype, x)

    def add(self, op, inputs, results=1, domain="", **attributes):
        out = [self.name() for _ in range(results)]
        self.nodes.append(helper.make_node(op, inputs, out, domain=domain, **attributes))
        return out[0] if results == 1 else out

    def model(self, results):
        def graph(outputs):
            return helper.make_graph(self.nodes, "operator", self.inputs, outputs, self.constants)
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)]
        out = [helper.make_empty_tensor_value_info(r) for r in results]
        m = helper.make_model(graph(out), opset_imports=opsets, ir_version=10)
        try:
            known = {v.name: v for v in onnx.shape_inference.infer_shapes(m, strict_mode=False).graph.output}
        except Exception:
            known = {}
        out = [known.get(r, o) for r, o in zip(results, out)]
        return helper.make_model(graph(out), opset_imports=opsets, ir_version=10)


def body(name, inputs, nodes, outputs):
    info = [helper.make_tensor_value_info(n, t, d) for n, t, d in inputs]
    out = [helper.make_tensor_value_info(n, t, d) for n, t, d in outputs]
    return helper.make_graph(nodes, name, info, out)


class Builders:
    """Networks of several nodes: @name in operators.txt."""

    @staticmethod
    def rsqrt(n, x, main):
        return n.add("Reciprocal", [n.add("Sqrt", x)])

    @staticmethod
    def silu(n, x, main):
        return n.add("Mul", [x[0], n.add("Sigmoid", x)])

    @staticmethod
    def gelu_by_erf(n, x, main):
        def number(v):
            return n.constant(np.array(v, numpy_type(main)), main)
        e = n.add("Erf", [n.add("Div", [x[0], number(math.sqrt(2))])])
        return n.add("Mul", [n.add("Mul", [x[0], n.add("Add", [e, number(1)])]), number(0.5)])

    @staticmethod
    def reduce_all(n, x, main):
        y = n.add("ReduceMin", [n.add("Cast", x, to=TensorProto.INT32), n.constant(np.array([-1], np.int64))])
        return n.add("Cast", [y], to=TensorProto.BOOL)

    @staticmethod
    def reduce_any(n, x, main):
        y = n.add("ReduceMax", [n.add("Cast", x, to=TensorProto.INT32), n.constant(np.array([-1], np.int64))])
        return n.add("Cast", [y], to=TensorProto.BOOL)

    @staticmethod
    def coded(n, x, scale=0.02):
        s, z = n.constant(np.float32(scale)), n.constant(np.uint8(128))
        return n.add("DequantizeLinear", [n.add("QuantizeLinear", [x, s, z]), s, z])

    @staticmethod
    def weights(n, dims):
        w = n.constant(n.random.integers(-127, 128, dims).astype(np.int8))
        return n.add("DequantizeLinear", [w, n.constant(np.float32(0.001)), n.constant(np.int8(0))])

    @classmethod
    def qdq_conv(cls, n, x, main):
        return cls.coded(n, n.add("Conv", [cls.coded(n, x[0]), cls.weights(n, (64, 64, 3, 3))], pads=[1, 1, 1, 1]))

    @classmethod
    def qdq_matmul(cls, n, x, main):
        return cls.coded(n, n.add("MatMul", [cls.coded(n, x[0]), cls.weights(n, (768, 768))]))

    @staticmethod
    def dynamic_matmul(n, x, main):
        q, scale, zero = n.add("DynamicQuantizeLinear", x, 3)
        w = n.constant(n.random.integers(-127, 128, (768, 768)).astype(np.int8))
        y = n.add("MatMulInteger", [q, w, zero, n.constant(np.int8(0))])
        scale = n.add("Mul", [scale, n.constant(np.float32(0.01))])
        return n.add("Mul", [n.add("Cast", [y], to=TensorProto.FLOAT), scale])

    @staticmethod
    def matmul_nbits(n, x, main):
        k, cols, block = 2048, 2048, 32
        b = n.constant(n.random.integers(0, 256, (cols, k // block, block // 2)).astype(np.uint8))
        s = n.constant((n.random.random(cols * k // block) * 0.01 + 0.01).astype(np.float32))
        return n.add("MatMulNBits", [x[0], b, s], domain="com.microsoft", K=k, N=cols, bits=4, block_size=block)

    @staticmethod
    def dynamic_lstm(n, x, main):
        hidden, features = 256, 128

        def codes(rows):
            return n.constant(n.random.integers(-127, 128, (1, rows, 4 * hidden)).astype(np.int8))
        scale, zero = n.constant(np.array([0.005], np.float32)), n.constant(np.array([0], np.int8))
        return n.add("DynamicQuantizeLSTM", [x[0], codes(features), codes(hidden)] + [""] * 5 + [scale, zero, scale, zero],
                     domain="com.microsoft", hidden_size=hidden)

    @staticmethod
    def attention(n, x, main):
        scores = n.add("MatMul", [x[0], n.add("Transpose", x, perm=[0, 1, 3, 2])])
        scaled = n.add("Mul", [scores, n.constant(np.array(0.125, numpy_type(main)), main)])
        return n.add("MatMul", [n.add("Softmax", [scaled]), x[0]])

    @staticmethod
    def chain(x, out, size):
        """Nodes of a small network in a body."""
        w = numpy_helper.from_array((np.random.default_rng(5).random((size, size)) * 0.1).astype(np.float32))
        return [helper.make_node("Constant", [], ["w"], value=w), helper.make_node("MatMul", [x, "w"], ["p"]),
                helper.make_node("Tanh", ["p"], [out])]

    @staticmethod
    def branches(n, x, main):
        ways = {}
        for name, f in (("then_branch", "Relu"), ("else_branch", "Sigmoid")):
            w = numpy_helper.from_array((np.random.default_rng(5).random((32, 16, 3, 3)) * 0.1).astype(np.float32))
            nodes = [helper.make_node("Constant", [], [name + "w"], value=w),
                     helper.make_node("Conv", [x[0], name + "w"], [name + "c"], pads=[1, 1, 1, 1]),
                     helper.make_node(f, [name + "c"], [name + "y"])]
            ways[name] = body(name, [], nodes, [(name + "y", TensorProto.FLOAT, [1, 32, 64, 64])])
        cond = n.input("bool", np.array(True))
        return n.add("If", [cond], **ways)

    @classmethod
    def loop(cls, n, x, main):
        nodes = cls.chain("h", "next", 128) + [helper.make_node("Identity", ["go"], ["again"])]
        f = [1, 128]
        inputs = [("i", TensorProto.INT64, []), ("go", TensorProto.BOOL, []), ("h", TensorProto.FLOAT, f)]
        g = body("trip", inputs, nodes,
                 [("again", TensorProto.BOOL, []), ("next", TensorProto.FLOAT, f)])
        return n.add("Loop", [n.input("int64", np.array(32)), n.constant(np.array(True)), x[0]], body=g)

    @classmethod
    def scan(cls, n, x, main):
        f = [1, 128]
        nodes = [helper.make_node("Add", ["h", "s"], ["a"])] + cls.chain("a", "next", 128)
        nodes.append(helper.make_node("Identity", ["next"], ["y"]))
        g = body("step", [("h", TensorProto.FLOAT, f), ("s", TensorProto.FLOAT, f)], nodes,
                 [("next", TensorProto.FLOAT, f), ("y", TensorProto.FLOAT, f)])
        start = n.constant(np.zeros((1, 128), np.float32))
        return n.add("Scan", [start, x[0]], 2, body=g, num_scan_inputs=1)


Builders.made = {"if": Builders.branches}


def network(row, main):
    family, core, name, inputs, attributes, results, _ = row
    n = Network(len(attributes) + sum(map(len, inputs)))
    operands = [n.operand(t, main) for t in inputs]
    if name[0] == "@":
        made = Builders.made.get(name[1:]) or getattr(Builders, name[1:])
        out = made(n, operands, main)
    else:
        given = {}
        for part in attributes.split():
            key, value = part.split("=", 1)
            given[key] = ast.literal_eval(value)
        if name == "Cast":
            given["to"] = onnx_type(given["to"])
        n.opset = OLDER.get(name, OPSET)
        out = n.add(name, operands, results, **given)
    return n, n.model(out if isinstance(out, list) else [out])


class Peer:
    """ONNX Runtime with one thread, its inputs and results bound."""

    def __init__(self, path, given):
        o = ort.SessionOptions()
        o.intra_op_num_threads = o.inter_op_num_threads = 1
        o.log_severity_level = 4
        self.session = ort.InferenceSession(path, o, providers=["CPUExecutionProvider"])
        self.bound = self.session.io_binding()
        self.given = given
        for v in self.session.get_inputs():
            x = np.ascontiguousarray(given[v.name])
            if x.dtype == ml_dtypes.bfloat16:
                value = ort.OrtValue.ortvalue_from_numpy_with_onnx_type(x.view(np.uint16), TensorProto.BFLOAT16)
            else:
                value = ort.OrtValue.ortvalue_from_numpy(x)
            self.bound.bind_ortvalue_input(v.name, value)
        for v in self.session.get_outputs():
            self.bound.bind_output(v.name, "cpu")

    def lowest(self, seconds):
        run, best, end = self.session.run_with_iobinding, math.inf, time.perf_counter() + 1.2 * seconds
        while True:
            begin = time.perf_counter()
            run(self.bound)
            now = time.perf_counter()
            best = min(best, now - begin)
            if now > end:
                return 1e3 * best


def ours(tool, path, feeds, seconds):
    """The lowest time of a run in ms and the message of a failure."""
    cmd = [tool, "bench", path, "--threads", "1", "--json", "--spread", "1000", "--warmup", f"{seconds / 5}s",
           "--time", f"{seconds}s", "--timeout", "60s"]
    for name, file in feeds.items():
        cmd += ["-i", f"{name}={file}"]
    done = subprocess.run(cmd, capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit code {done.returncode}"
    return json.loads(done.stdout)["figures"]["min_ms"], ""


def measure(row, main, o):
    folder = os.path.join(o.out, "operators")
    os.makedirs(folder, exist_ok=True)
    n, model = network(row, main)
    path = os.path.join(folder, "row.onnx")
    onnx.save(model, path)
    feeds = {}
    for name, x in n.given.items():
        if x.dtype != ml_dtypes.bfloat16:  # which has no .npy: the tool makes some up
            feeds[name] = os.path.join(folder, name + ".npy")
            np.save(feeds[name], x)
    mine, theirs, why, refused = math.inf, math.inf, "", ""
    try:
        peer = Peer(path, n.given)
    except Exception as e:
        peer, refused = None, str(e).strip().splitlines()[0][-150:]
    for _ in range(o.rounds):
        t, why = ours(o.tool, path, feeds, o.seconds)
        mine = min(mine, t or math.inf)
        if peer:
            try:
                theirs = min(theirs, peer.lowest(o.seconds))
            except Exception as e:
                peer, refused = None, str(e).strip().splitlines()[0][-150:]
    family, core, name, inputs, attributes, _, _ = row
    ratio = theirs / mine if max(mine, theirs) < math.inf else None
    return {"family": family, "operator": core, "onnx": name.lstrip("@"), "type": main, "inputs": " ".join(inputs),
            "attributes": attributes, "ms": mine if mine < math.inf else None,
            "peer_ms": theirs if theirs < math.inf else None, "ratio": ratio, "failed": why, "peer_failed": refused}


def mean(list):
    return math.exp(sum(map(math.log, list)) / len(list)) if list else None


def page(report):
    cells = ["ratio", "ms", "peer_ms", "family", "operator", "onnx", "type", "inputs", "attributes", "failed",
             "peer_failed"]

    def text(v):
        return f"{v:.3f}" if isinstance(v, float) else html.escape(str("" if v is None else v))
    lines = ["".join(f"<td>{text(r[c])}</td>" for c in cells) for r in report["rows"]]
    means = "".join(f"<tr><td>{html.escape(k)}</td><td>{v:.2f}</td></tr>" for k, v in report["means"].items())
    head = "".join(f"<th>{c}</th>" for c in cells)
    return f"""<!DOCTYPE html><meta charset="utf-8"><title>Operators beside ONNX Runtime</title>
<style>body{{font:14px sans-serif}}td,th{{padding:2px 8px;text-align:left;border-bottom:1px solid #ddd}}</style>
<h1>Operators beside ONNX Runtime {report["peer"]}</h1>
<p>One thread, lowest times in ms; ratio: ONNX Runtime's by ours.</p>
<table><tr><th>family</th><th>geometric mean</th></tr>{means}</table>
<table><tr>{head}</tr>{"".join(f"<tr>{x}</tr>" for x in lines)}</table>
"""


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--tool", required=True, help="the program anynpu")
    p.add_argument("--out", required=True, help="folder for operators.json and operators.html")
    p.add_argument("--run", default="*", help="patterns of OPERATOR/TYPE, separated by commas")
    p.add_argument("--seconds", type=float, default=0.1, help="timed seconds per engine and round")
    p.add_argument("--rounds", type=int, default=2)
    o = p.parse_args()
    results = []
    for row in rows():
        for t in row[-1]:
            if not any(fnmatch.fnmatch(f"{row[1]}/{t}", x) or fnmatch.fnmatch(row[1], x) for x in o.run.split(",")):
                continue
            r = measure(row, t, o)
            results.append(r)
            print("{:8} {:>10} {:>10}  {} {} {} {} {}".format(
                *(f"{v:.3f}" if v else "-" for v in (r["ratio"], r["ms"], r["peer_ms"])), r["onnx"], t, r["inputs"],
                r["attributes"], r["failed"] or r["peer_failed"]), flush=True)
    results.sort(key=lambda r: r["ratio"] or 0)
    means = {}
    for family in ["all", "float32"] + sorted({r["family"] for r in results}):
        m = mean([r["ratio"] for r in results if r["ratio"] and family in ("all", r["family"], r["type"])])
        if m:
            means[family] = m
    report = {"schema": "anynpu.operators/1", "peer": ort.__version__, "means": means, "rows": results}
    with open(os.path.join(o.out, "operators.json"), "w") as f:
        json.dump(report, f, indent=1)
    with open(os.path.join(o.out, "operators.html"), "w") as f:
        f.write(page(report))
    print("\ngeometric means: " + ", ".join(f"{k} {v:.2f}" for k, v in means.items()))
    return 1 if any(r["failed"] for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
