#!/usr/bin/env python3
"""Write networks with float16 in place of float32: weights and what is between operators, not inputs and outputs.

    halves.py MODELS OUT PATTERNS

PATTERNS are names of files in MODELS without .onnx, with commas.
"""
import fnmatch
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def halve(tensor):
    if tensor.data_type == TensorProto.FLOAT:
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float16), tensor.name))


def float32_only(graph):
    """Names that an operator reads which wants float32 whatever the rest is: Resize its scales."""
    return {node.input[2] for node in graph.node if node.op_type == "Resize" and len(node.input) > 2}


def halve_graph(graph, inner=False):
    keep = float32_only(graph)
    for tensor in graph.initializer:
        if tensor.name not in keep:
            halve(tensor)
    for value in [*graph.value_info, *(graph.output if inner else ())]:
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = TensorProto.FLOAT16
    for node in graph.node:
        for a in node.attribute:
            if a.type == onnx.AttributeProto.TENSOR:
                halve(a.t)
            if a.type == onnx.AttributeProto.GRAPH:
                halve_graph(a.g, inner=True)
            if node.op_type == "Cast" and a.name == "to" and a.i == TensorProto.FLOAT:
                a.i = TensorProto.FLOAT16


def rename(graph, names):
    """Gives values other names, also where subgraphs read them; a name that a subgraph makes is not one of these."""
    for node in graph.node:
        for list_ in (node.input, node.output):
            list_[:] = [names.get(n, n) for n in list_]
        for a in node.attribute:
            if a.type == onnx.AttributeProto.GRAPH:
                rename(a.g, names)


def cast_ends(graph):
    """Casts float32 inputs to float16, and the results to float32."""
    first, last, names = [], [], {}
    for values, to, casts in ((graph.input, TensorProto.FLOAT16, first), (graph.output, TensorProto.FLOAT, last)):
        for v in values:
            if v.type.tensor_type.elem_type == TensorProto.FLOAT:
                names[v.name] = v.name + "_float16"
                ends = [v.name, names[v.name]]
                casts.append(helper.make_node("Cast", ends[:1] if casts is first else ends[1:],
                                              ends[1:] if casts is first else ends[:1], to=to))
    rename(graph, names)
    nodes = [*first, *graph.node, *last]
    del graph.node[:]
    graph.node.extend(nodes)


def halve_model(model):
    halve_graph(model.graph)
    cast_ends(model.graph)


def main():
    models, out, patterns = sys.argv[1:]
    os.makedirs(out, exist_ok=True)
    for file in sorted(os.listdir(models)):
        name, extension = os.path.splitext(file)
        if extension == ".onnx" and any(fnmatch.fnmatch(name, p) for p in patterns.split(",")):
            model = onnx.load(os.path.join(models, file))
            halve_model(model)
            onnx.save(model, os.path.join(out, file))


if __name__ == "__main__":
    main()
