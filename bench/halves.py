#!/usr/bin/env python3
"""Write networks with float16 in place of float32: weights, inputs, outputs and what is between operators.

    halves.py MODELS OUT PATTERNS

PATTERNS are names of files in MODELS without .onnx, with commas.
"""
import fnmatch
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper


def halve(tensor):
    if tensor.data_type == TensorProto.FLOAT:
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float16), tensor.name))


def halve_graph(graph):
    for tensor in graph.initializer:
        halve(tensor)
    for value in [*graph.input, *graph.output, *graph.value_info]:
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = TensorProto.FLOAT16
    for node in graph.node:
        for a in node.attribute:
            if a.type == onnx.AttributeProto.TENSOR:
                halve(a.t)
            if a.type == onnx.AttributeProto.GRAPH:
                halve_graph(a.g)
            if node.op_type == "Cast" and a.name == "to" and a.i == TensorProto.FLOAT:
                a.i = TensorProto.FLOAT16


def main():
    models, out, patterns = sys.argv[1:]
    os.makedirs(out, exist_ok=True)
    for file in sorted(os.listdir(models)):
        name, extension = os.path.splitext(file)
        if extension == ".onnx" and any(fnmatch.fnmatch(name, p) for p in patterns.split(",")):
            model = onnx.load(os.path.join(models, file))
            halve_graph(model.graph)
            onnx.save(model, os.path.join(out, file))


if __name__ == "__main__":
    main()
