#!/usr/bin/env python3
"""Writes backends/cpu/ref/testdata/{svdf,lstm_wide,rnn_wide}.json: small cases with results of a model in NumPy.

usage: pip install numpy; python memories.py <repository>
"""
import numpy as np

from numpy_common import add, f32, write


def model(x, features, time, bias, state, rank):
    x, features, time, state = (np.asarray(a, np.float64) for a in (x, features, time, state))
    batch, (filters, steps) = x.shape[0], time.shape
    old = state.reshape(batch, filters, steps)
    kept = np.concatenate([old[:, :, :-1], (x @ features.T)[:, :, None]], axis=2)
    y = np.einsum("bfm,fm->bf", kept, time).reshape(batch, filters // rank, rank).sum(axis=2)
    if bias is not None:
        y = y + bias
    after = np.concatenate([kept[:, :, 1:], np.zeros((batch, filters, 1))], axis=2)
    return y, after.reshape(batch, filters * steps)


def svdf():
    def case(name, batch, inputs, units, rank, steps, bias=True, dtype=np.float32):
        filters = units * rank
        x, features, time = f32(batch, inputs), f32(filters, inputs), f32(filters, steps)
        b, state = f32(units) if bias else None, f32(batch, filters * steps)
        ins = [None if a is None else a.astype(dtype) for a in (x, features, time, b, state)]
        y, after = model(*ins, rank)
        add("svdf", "svdf", name, {"Rank": rank}, ins, [y.astype(dtype), after.astype(dtype)])

    case("one of each", 1, 1, 1, 1, 1)
    case("rank 1", 2, 3, 4, 1, 5)
    case("rank 2", 2, 3, 4, 2, 10)
    case("rank 3, no bias", 3, 7, 2, 3, 4, bias=False)
    case("one step", 2, 3, 2, 2, 1)
    case("float16", 2, 3, 2, 2, 3, dtype=np.float16)
    case("float64", 2, 5, 3, 2, 3, dtype=np.float64)


def sigmoid(v):
    return 1 / (1 + np.exp(-v))


FUNCTIONS = {"sigmoid": sigmoid, "tanh": np.tanh, "relu": lambda v: np.maximum(v, 0), "none": lambda v: v,
             "relu1": lambda v: np.clip(v, -1, 1), "relu6": lambda v: np.clip(v, 0, 6)}


class Cell:
    """One direction of an LSTM: operands by gate, as in the API: i, f, c, o."""

    def __init__(self, features, units, outputs, coupled=False, peephole=False, norm=False, project=False, bias=True,
                 aux=0):
        gates = "fco" if coupled else "ifco"
        self.units, self.outputs, self.gates, self.aux = units, outputs, gates, aux
        self.w = {g: f32(units, features) for g in gates}
        self.r = {g: f32(units, outputs) for g in gates}
        self.a = {g: f32(units, aux) for g in gates}
        self.b = {g: f32(units) if bias else np.zeros(units, np.float32) for g in gates}
        self.b2 = {g: f32(units) if bias else np.zeros(units, np.float32) for g in gates}
        self.p = {g: f32(units) for g in gates if g != "c"} if peephole else {}
        self.n = {g: f32(units) for g in gates} if norm else {}
        self.v = f32(outputs, units) if project else None
        self.vb = f32(outputs) if project == "bias" else None
        self.has_bias = bias

    def argument(self, g, x, h, c, extra):
        v = x @ self.w[g].T.astype(np.float64) + h @ self.r[g].T.astype(np.float64)
        if self.aux:
            v = v + extra @ self.a[g].T.astype(np.float64)
        if g in self.p:
            v = v + self.p[g] * c
        if g in self.n:
            v = (v - v.mean(axis=1, keepdims=True)) / np.sqrt(v.var(axis=1, keepdims=True) + 1e-8) * self.n[g]
        return v + self.b[g].astype(np.float64) + self.b2[g]

    def run(self, xs, h, c, names=("sigmoid", "tanh", "tanh"), clip_cell=0, clip_projection=0, extras=None):
        f, g, last = (FUNCTIONS[n] for n in names)
        limit = lambda v, to: np.clip(v, -to, to) if to > 0 else v
        ys, h, c = [], h.astype(np.float64), c.astype(np.float64)
        for t, x in enumerate(xs.astype(np.float64)):
            extra = None if extras is None else extras[t].astype(np.float64)
            forget = f(self.argument("f", x, h, c, extra))
            enter = f(self.argument("i", x, h, c, extra)) if "i" in self.gates else 1 - forget
            c = limit(forget * c + enter * g(self.argument("c", x, h, c, extra)), np.float32(clip_cell))
            h = f(self.argument("o", x, h, c, extra)) * last(c)
            if self.v is not None:
                h = h @ self.v.T.astype(np.float64) + (0 if self.vb is None else self.vb)
                h = limit(h, np.float32(clip_projection))
            ys.append(h)
        return np.array(ys).reshape(len(xs), *h.shape), h, c

    def operands(self, order):
        """w, r, bias, peephole, projection, its bias, normalization of one direction."""
        order = [g for g in order if g in self.gates]
        side = lambda d, gs: np.concatenate([d[g] for g in gs]) if d else None
        w = {g: np.concatenate([self.w[g], self.a[g]], 1) for g in order}
        bias = np.concatenate([side(self.b, order), side(self.b2, order)]) if self.has_bias else None
        return [side(w, order), side(self.r, order), bias, side(self.p, [g for g in "iof" if g in self.p]), self.v,
                self.vb, side(self.n, order)]


def lstm():
    def case(name, steps, batch, features, units, outputs=None, order=1, names=None, reverse=False, first=False,
             directions=1, extra=0, attrs=None, dtype=np.float32, **of):
        outputs = outputs or units
        cells = [Cell(features, units, outputs, aux=extra, **of) for _ in range(directions)]
        xs, extras = f32(steps, batch, features, lo=-2, hi=2), f32(steps, batch, extra)
        h0, c0 = f32(directions, batch, outputs), f32(directions, batch, units)
        attrs = dict(attrs or {})
        limits = {"clip_cell": attrs.get("ClipCell", 0), "clip_projection": attrs.get("ClipProjection", 0)}
        parts, ys, hs, cs = [], [], [], []
        for d, cell in enumerate(cells):
            turn = slice(None, None, -1 if reverse or d == 1 else 1)
            functions = names or ("sigmoid", "tanh", "tanh")
            y, h, c = cell.run(xs[turn], h0[d], c0[d], functions, extras=extras[turn], **limits)
            parts.append(cell.operands("iofc" if order == 0 else "ifco"))
            ys.append(y[turn]), hs.append(h), cs.append(c)
        whole = [None if p[0] is None else np.stack(p) for p in zip(*parts)]
        go = {"Gates": order, "Coupled": of.get("coupled", False), "BatchFirst": first, **attrs}
        go["Direction"] = 2 if directions == 2 else int(reverse)
        if names:
            go["Activations"] = ["affine" if n == "none" else n for n in names] * directions
        x = np.concatenate([xs, extras], 2)
        y, h, c = np.stack(ys, 1), np.stack(hs), np.stack(cs)
        if first:
            x, y, h, c, h0, c0 = x.swapaxes(0, 1), y.transpose(2, 0, 1, 3), *(a.swapaxes(0, 1) for a in (h, c, h0, c0))
        ins = [x, *whole[:3], None, h0, c0, *whole[3:]]
        add("lstm_wide", "lstm", name, go, [None if a is None else np.ascontiguousarray(a).astype(dtype) for a in ins],
            [np.ascontiguousarray(a).astype(dtype) for a in (y, h, c)])

    case("projection", 3, 2, 4, 5, 3, project=True)
    case("projection with bias", 3, 2, 4, 5, 3, project="bias")
    case("projection to more", 2, 2, 3, 2, 6, project="bias", order=0)
    case("projection, cut", 3, 2, 4, 5, 3, project="bias", attrs={"ClipProjection": 0.3})
    case("cell, cut", 4, 2, 4, 5, attrs={"ClipCell": 0.25})
    case("cell and projection, cut", 4, 2, 4, 5, 2, project="bias", peephole=True,
         attrs={"ClipCell": 0.25, "ClipProjection": 0.2})
    for order in (0, 1):
        case(f"coupled, order {order}", 4, 2, 3, 4, coupled=True, order=order)
        case(f"coupled with peepholes, order {order}", 4, 2, 3, 4, coupled=True, peephole=True, order=order)
        case(f"normalized, order {order}", 4, 2, 3, 4, norm=True, order=order)
        case(f"everything, order {order}", 4, 2, 3, 4, 3, norm=True, peephole=True, project="bias", order=order,
             attrs={"ClipCell": 0.6, "ClipProjection": 0.5})
    case("coupled and normalized", 3, 2, 3, 4, coupled=True, norm=True)
    case("coupled, everything", 3, 2, 3, 5, 4, coupled=True, norm=True, peephole=True, project="bias", reverse=True)
    case("normalized, no bias", 3, 2, 3, 4, norm=True, bias=False)
    case("normalized, one unit", 3, 2, 3, 1, norm=True)
    for f in ("none", "relu", "relu6", "sigmoid"):
        case("activation " + f, 4, 2, 3, 4, names=("sigmoid", f, f))
    case("both directions", 4, 2, 3, 4, 3, directions=2, project="bias", norm=True, peephole=True)
    case("both directions, coupled, sequences first", 4, 3, 3, 4, 2, directions=2, coupled=True, peephole=True,
         first=True, project=True)
    case("auxiliary operand", 4, 2, 3, 4, directions=2, extra=5)
    case("auxiliary operand, normalized", 3, 2, 3, 4, extra=2, norm=True)
    case("float16", 3, 2, 4, 5, 3, project="bias", norm=True, dtype=np.float16)
    case("no batch", 3, 0, 4, 5, 3, project="bias", norm=True)
    case("no step", 0, 2, 4, 5, 3, project="bias", norm=True)


def rnn():
    def case(name, function, steps=3, batch=2, features=3, units=4, extra=0):
        xs, extras, h0 = f32(steps, batch, features, lo=-8, hi=8), f32(steps, batch, extra), f32(1, batch, units)
        w, a, r, b = f32(units, features), f32(units, extra), f32(units, units), f32(2, units)
        ys, h = [], h0[0].astype(np.float64)
        for x, e in zip(xs.astype(np.float64), extras.astype(np.float64)):
            h = FUNCTIONS[function](x @ w.T + e @ a.T + h @ r.T + b[0] + b[1])
            ys.append(h)
        add("rnn_wide", "rnn", name, {"Activations": ["affine" if function == "none" else function]},
            [np.concatenate([xs, extras], 2), np.concatenate([w, a], 1)[None], r[None], b.reshape(1, -1), None, h0],
            [np.array(ys, np.float32)[:, None], h[None].astype(np.float32)])

    for function in ("none", "relu", "relu1", "relu6", "tanh", "sigmoid"):
        case(function, function)
    case("auxiliary operand", "relu1", extra=3)


if __name__ == "__main__":
    for make in (svdf, lstm, rnn):
        make()
    write()
