"""usage: check_compare.py ANYNPU

Plants a fault in one node of a network, 40 times: a pad, a scale, two swapped channels, a sum that saturates, a layout
or a rounding, in MobileNetV2 with real numbers and with codes, the heads of a YOLO and an encoder. anynpu compare must
name that node, and leave a part of at most three nodes, of which ONNX Runtime has other results than the right network.
"""
import glob
import json
import os
import random
import subprocess
import sys
import tempfile

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
import gen_bench_models as bench

NETWORKS = {
    "mobilenet_v2": (bench.mobilenet_v2, False),
    "mobilenet_v2_qdq": (bench.mobilenet_v2, True),
    "yolo_heads": (bench.yolo_heads, False),
    "encoder": (bench.encoder(256, 4, layers=2, seq=64), False),
}
CHOICE = random.Random(39)


def session(model):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


class Faulty:
    """A copy of a network, in which a fault is planted."""

    def __init__(self, right):
        self.model = onnx.ModelProto()
        self.model.CopyFrom(right)
        self.graph = self.model.graph
        self.constants = {t.name: t for t in self.graph.initializer}
        self.makers = {o: n for n in self.graph.node for o in n.output}

    def weights(self, node):
        """The constant second input of a node, and what reads it: with codes a DequantizeLinear."""
        at = node.input[1]
        if at in self.makers:
            node = self.makers[at]
            return self.constants.get(node.input[0]), node
        return self.constants.get(at), node

    def constant(self, array):
        name = "planted_%d" % len(self.graph.initializer)
        self.graph.initializer.append(numpy_helper.from_array(array, name))
        return name

    def after(self, node, *steps):
        """Puts nodes behind a node, (operator, inputs, attributes) each; the last result has the node's name."""
        last, at = node.output[0], list(self.graph.node).index(node)
        names = ["%s_planted_%d" % (last, i) for i in range(len(steps))] + [last]
        node.output[0] = names[0]
        for i, (operator, inputs, attributes) in enumerate(steps):
            made = helper.make_node(operator, [names[i]] + inputs, [names[i + 1]], **attributes)
            self.graph.node.insert(at + 1 + i, made)
        return last


def attribute(node, name):
    return next((a for a in node.attribute if a.name == name), None)


def pad(f, node, value):
    pads = attribute(node, "pads")
    if node.op_type != "Conv" or not pads or pads.ints[0] < 1 or pads.ints[2] < 1:
        return None
    pads.ints[0] -= 1
    pads.ints[2] += 1
    return node.output[0]


def change(f, node, to):
    """Replaces the weights of a sum."""
    if node.op_type not in ("Conv", "MatMul", "Gemm"):
        return None
    tensor, reader = f.weights(node)
    changed = None if tensor is None else to(numpy_helper.to_array(tensor))
    if changed is None:
        return None
    reader.input[0 if reader is not node else 1] = f.constant(numpy.ascontiguousarray(changed))
    return reader.output[0]


def scale(f, node, value):
    if node.op_type == "QuantizeLinear":
        node.input[1] = f.constant(numpy_helper.to_array(f.constants[node.input[1]]) * numpy.float32(1.02))
        return node.output[0]
    return change(f, node, lambda w: w * numpy.float32(1.01) if w.dtype == numpy.float32 else None)


def channels(f, node, value):
    def swapped(w):
        axis = 0 if w.ndim < 4 or w.shape[1] == 1 else 1
        order = list(range(w.shape[axis]))
        order[:2] = 1, 0
        return numpy.take(w, order, axis)
    return change(f, node, swapped)


def layout(f, node, value):
    def turned(w):
        if w.shape[-1] != w.shape[-2] or w.shape[-1] == 1:
            return None
        return numpy.swapaxes(w, -1, -2)
    return change(f, node, turned)


def saturation(f, node, value):
    if node.op_type not in ("Add", "Conv", "MatMul"):
        return None
    most = f.constant(numpy.float32(0.8 * numpy.abs(value(node.output[0])).max()))
    least = f.constant(-numpy_helper.to_array(f.graph.initializer[-1]))
    return f.after(node, ("Clip", [least, most], {}))


def rounding(f, node, value):
    if node.op_type == "QuantizeLinear": # it cuts off
        half = f.constant(numpy_helper.to_array(f.constants[node.input[1]]) / numpy.float32(2))
        at = list(f.graph.node).index(node)
        name = node.output[0] + "_planted"
        f.graph.node.insert(at, helper.make_node("Sub", [node.input[0], half], [name]))
        node.input[0] = name
        return node.output[0]
    if node.op_type not in ("Conv", "MatMul", "Softmax", "Add"):
        return None
    return f.after(node, ("Cast", [], {"to": TensorProto.FLOAT16}), ("Cast", [], {"to": TensorProto.FLOAT}))


FAULTS = {"pad": pad, "scale": scale, "channels": channels, "saturation": saturation, "layout": layout,
          "rounding": rounding}


def plant(right, kind, value, codes, used):
    """The network with a fault of a kind in a node that no other case has, and the value that departs."""
    order = list(range(len(right.graph.node)))
    CHOICE.shuffle(order)
    for i in order:
        operator = right.graph.node[i].op_type
        if i in used or codes and kind in ("scale", "rounding") and operator != "QuantizeLinear":
            continue
        f = Faulty(right)
        departs = FAULTS[kind](f, f.graph.node[i], value)
        if departs:
            used.add(i)
            return f.model, departs
    return None, None


def still_differs(part):
    """Whether ONNX Runtime has another result of the part than what the right network has."""
    model = onnx.load(part)
    inputs = [i.name for i in model.graph.input]
    files = sorted(glob.glob(glob.escape(part) + ".data/in/*.npy"))
    given = {}
    for name in inputs:
        own = [f for f in files if os.path.basename(f) == name + ".npy"] or (files if len(inputs) == 1 else [])
        given[name] = numpy.load(own[0])
    want = numpy.load(glob.glob(glob.escape(part) + ".data/want/*.npy")[0])
    got = session(model).run(None, given)[0]
    return got.shape != want.shape or not numpy.allclose(got.astype(float), want.astype(float), rtol=1e-5, atol=1e-6)


def main(anynpu):
    planted = named = small = 0
    with tempfile.TemporaryDirectory() as folder:
        for network, (build, codes) in NETWORKS.items():
            g = bench.Graph(network, 0, codes)
            build(g)
            right = g.model()
            path = os.path.join(folder, network + ".onnx")
            onnx.save(right, path)
            exposed = onnx.ModelProto()
            exposed.CopyFrom(right)
            del exposed.graph.output[:]
            for n in right.graph.node:
                if n.op_type in ("Add", "Conv", "MatMul"):
                    exposed.graph.output.append(onnx.ValueInfoProto(name=n.output[0]))
            generator = numpy.random.default_rng(1)
            given = {i.name: generator.uniform(-1, 1, [d.dim_value for d in i.type.tensor_type.shape.dim]).astype("f4")
                     for i in right.graph.input}
            values = dict(zip([o.name for o in exposed.graph.output], session(exposed).run(None, given)))
            inputs = []
            for name, x in given.items():
                numpy.save(os.path.join(folder, name + ".npy"), x)
                inputs += ["-i", "%s=%s" % (name, os.path.join(folder, name + ".npy"))]
            used, cases = set(), 0
            while cases < 10:
                before = cases
                for kind in FAULTS:
                    wrong, departs = plant(right, kind, values.get, codes, used)
                    if wrong is None or cases == 10:
                        continue
                    cases += 1
                    planted += 1
                    file, part = os.path.join(folder, "wrong.onnx"), os.path.join(folder, "part%d.onnx" % planted)
                    onnx.save(wrong, file)
                    command = [anynpu, "compare", path, file, "--layers", "--json", "--bisect", part] + inputs
                    p = subprocess.run(command, capture_output=True, text=True)
                    if p.returncode != 1:
                        print("wrong  ", network, kind, departs, "exit code", p.returncode, p.stderr)
                        continue
                    report = json.loads(p.stdout)
                    first = report["layers"][report["departs"][0]]
                    named += first["name"] == departs
                    nodes = len(onnx.load(part).graph.node)
                    fits = nodes <= 3 and still_differs(part)
                    small += fits
                    print("%s %-16s %-10s at %-22s named %-22s part of %d" % (
                        "ok     " if fits and first["name"] == departs else "wrong  ", network, kind, departs,
                        first["name"], nodes), flush=True)
                if cases == before:
                    break
    print("faults %d, the right node named in %d, parts of at most 3 nodes that differ %d" % (planted, named, small))
    return planted < 40 or named < planted or small < planted


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__.split("\n")[0])
    sys.exit(main(sys.argv[1]))
