"""Recurrent layers and attention."""
import numpy as np

from sweep import f32, sweep


def make():
    for op, gates, opset in (("RNN", 1, 14), ("GRU", 3, 14), ("LSTM", 4, 14)):
        x = {"x": f32(5, 3, 2)}
        c = {"w": f32(1, gates * 4, 2), "r": f32(1, gates * 4, 4), "b": f32(1, gates * 8), "l": np.array([5, 2, 4], np.int32), "h": f32(1, 3, 4),
             "c": f32(1, 3, 4), "p": f32(1, 12)}
        forms = ["x w r", "x w r b", "x w r - l", "x w r - - h", "x w r b l h"]
        vary = {"direction": ["reverse"], "clip": [0.4], "activations": [["Sigmoid"]]}
        if op == "GRU":
            vary |= {"activations": [["Tanh", "Sigmoid"]]}
            sweep("gru_before", op, opset, ["x w r b"], x, {"linear_before_reset": [1]}, c, {"hidden_size": 4}, outs="y h1", skip_reference=True)
        if op == "LSTM":
            forms += ["x w r - - - c", "x w r b l h c p"]
            vary |= {"activations": [["Tanh", "Sigmoid", "Softsign"]]}
        sweep(op.lower(), op, opset, forms, x, vary, c, {"hidden_size": 4}, outs="y h1", skip_reference=True)
        both = {k: np.concatenate([c[k], f32(*c[k].shape)]) for k in ("w", "r", "b", "h")}
        sweep(op.lower() + "_both", op, opset, ["x w r b", "x w r b - h"], x, None, both, {"hidden_size": 4, "direction": "bidirectional"}, outs="y h1", skip_reference=True)
