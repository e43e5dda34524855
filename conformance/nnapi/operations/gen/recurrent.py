"""Recurrent operations. The integer models and that of SVDF are in conformance/vectors."""
import numpy as np

from case import FLOATS, Operand, act, case, flag, fx, i32, like, none, out, value, x
from integer_lstm import step16, step8
from memories import model as svdf_model

GATES = "ifco"


def sigmoid(v):
    return 1 / (1 + np.exp(-v))


# The activations of LSTM, by their codes.
FUNCTIONS = {0: lambda v: v, 1: lambda v: np.maximum(v, 0), 3: lambda v: np.clip(v, 0, 6), 4: np.tanh, 6: sigmoid}


class Cell:
    """One direction of an LSTM."""

    def __init__(self, t, inputs, units, outputs=None, coupled=False, peephole=False, norm=False, project=None, aux=0):
        self.t, self.units, self.outputs = t, units, outputs or units
        gates = "fco" if coupled else "ifco"
        pick = lambda *dims: x(t, dims, -0.9, 0.9)
        self.w = {g: pick(units, inputs) for g in gates}
        self.r = {g: pick(units, self.outputs) for g in gates}
        self.p = {g: pick(units) for g in gates if g != "c"} if peephole else {}
        self.b = {g: pick(units) for g in gates}
        self.v = pick(self.outputs, units) if project else None
        self.vb = pick(self.outputs) if project == "bias" else None
        self.n = {g: pick(units) for g in gates} if norm else {}
        self.a = {g: pick(units, aux) for g in gates} if aux else {}

    def listed(self, of, gates=GATES, rank=1):
        return [of[g] if g in of else none(self.t, rank) for g in gates]

    def weights(self):
        """Arguments 1 to 17 of LSTM."""
        one = lambda o, rank: none(self.t, rank) if o is None else o
        return [
            *self.listed(self.w, rank=2), *self.listed(self.r, rank=2), *self.listed(self.p, "ifo"),
            *self.listed(self.b),
            one(self.v, 2),
            one(self.vb, 1)
        ]

    def norms(self):
        return self.listed(self.n)

    def aux(self):
        return self.listed(self.a, rank=2)

    def sums(self, g, v, h, c, aux):
        s = v @ self.w[g].real().T + h @ self.r[g].real().T
        if g in self.a:
            s = s + aux @ self.a[g].real().T
        if g in self.p:
            s = s + self.p[g].real() * c
        if g in self.n:
            s = (s - s.mean(1, keepdims=True)) / np.sqrt(s.var(1, keepdims=True) + 1e-8) * self.n[g].real()
        return s + self.b[g].real()

    def step(self, v, h, c, code, cell_clip, projection_clip, aux=None):
        f = FUNCTIONS[code]
        cut = lambda s, to: np.clip(s, -to, to) if to > 0 else s
        forget = sigmoid(self.sums("f", v, h, c, aux))
        enter = sigmoid(self.sums("i", v, h, c, aux)) if "i" in self.w else 1 - forget
        c = cut(forget * c + enter * f(self.sums("c", v, h, c, aux)), cell_clip)
        h = sigmoid(self.sums("o", v, h, c, aux)) * f(c)
        if self.v is not None:
            h = cut(h @ self.v.real().T + (0 if self.vb is None else self.vb.real()), projection_clip)
        return h, c

    def run(self, v, h, c, *more, aux=None):
        """v [t, b, in]."""
        ys = []
        for k, row in enumerate(v):
            h, c = self.step(row, h, c, *more, aux=None if aux is None else aux[k])
            ys.append(h)
        return np.stack(ys), h, c


def constants(operands):
    for o in operands:
        if not o.flags.get("none"):
            o.const()
    return operands


# label, units, outputs, kind of cell, activation, clips
KINDS = [("plain", 4, None, {}, 4, (0, 0)), ("coupled", 4, None, {
    "coupled": True
}, 4, (0, 0)), ("peephole", 3, None, {
    "peephole": True
}, 4, (0.5, 0)), ("coupled_peephole", 4, None, {
    "coupled": True,
    "peephole": True
}, 6, (0, 0)), ("projection", 4, 3, {
    "project": "none"
}, 4, (0, 0.25)), ("projection_bias", 4, 2, {
    "project": "bias",
    "peephole": True
}, 4, (0.75, 0.5)), ("normalized", 4, None, {
    "norm": True
}, 4, (0, 0)), ("everything", 4, 3, {
    "norm": True,
    "project": "bias",
    "peephole": True
}, 4, (0.5, 0)), ("coupled_normalized", 3, 4, {
    "coupled": True,
    "norm": True,
    "project": "bias"
}, 4, (0, 0)), ("relu", 3, None, {}, 1, (0, 0)), ("relu6", 3, None, {}, 3, (2.0, 0)), ("none", 3, None, {}, 0, (0, 0))]


def lstm():
    for t in FLOATS:
        for k, (label, units, outputs, kind, code, clips) in enumerate(KINDS):
            cell = Cell(t, 3, units, outputs, **kind)
            b = 1 + k % 2
            a, h, c = x(t, (b, 3)), x(t, (b, cell.outputs), -1, 1), x(t, (b, units), -1, 1)
            clip = [fx(t, v) for v in clips]
            h2, c2 = cell.step(a.real(), h.real(), c.real(), code, *map(value, clip))
            rest = constants(cell.norms()) if cell.n or k % 3 == 0 else []
            scratch = Operand(t, np.zeros((b, units * len(cell.w))), ignore=True)
            case("LSTM", f"{t}_{label}", [a, *constants(cell.weights()), h, c, i32(code), *clip, *rest],
                 [scratch, out(t, h2), out(t, c2), out(t, h2)])
            # The same kind of cell over time.
            steps = 2 + k % 2
            for major in (True, False):
                cell = Cell(t, 3, units, outputs, **kind)
                v, h, c = x(t, (steps, b, 3) if major else (b, steps, 3)), x(t, (b, cell.outputs), -1,
                                                                             1), x(t, (b, units), -1, 1)
                time = v.real() if major else v.real().swapaxes(0, 1)
                ys, h2, c2 = cell.run(time, h.real(), c.real(), code, *map(value, clip))
                outs = [out(t, ys if major else ys.swapaxes(0, 1))]
                if k % 2 == 0:
                    outs += [out(t, h2), out(t, c2)]
                case("UNIDIRECTIONAL_SEQUENCE_LSTM", f"{t}_{label}_{'time' if major else 'batch'}",
                     [v, *constants(cell.weights()), h, c,
                      i32(code), *clip,
                      flag(major), *constants(cell.norms())], outs)
        cell = Cell(t, 3, 4)
        a, h, c = x(t, (2, 3)), x(t, (2, 4), -1, 1), x(t, (2, 4), -1, 1)
        h2, c2 = cell.step(a.real(), h.real(), c.real(), 4, 0, 0)
        case("LSTM", f"{t}_given", [a, *cell.weights(), h, c, i32(4), fx(t, 0), fx(t, 0)],
             [Operand(t, np.zeros((2, 16)), ignore=True), out(t, h2), out(t, c2), out(t, h2)])


def lstm_both():
    modes = [("", 0, False), ("cross", 2, False), ("parallel", 0, True)]
    n = 0
    for t in FLOATS:
        for mode, aux, parallel in modes:
            for label, units, outputs, kind, code, clips in (KINDS[0], KINDS[1], KINDS[5], KINDS[7]):
                n += 1
                code = (code, 0, 1, 3)[n % 4]
                merge, major, states = n % 2 == 0, n % 3 != 0, n % 4 < 2
                fw = Cell(t, 3, units, outputs, aux=aux, **kind)
                bw = Cell(t, 2 if parallel else 3, units, outputs, aux=aux, **kind)
                b, steps = 1 + n % 2, 3
                dims = lambda width: (steps, b, width) if major else (b, steps, width)
                time = lambda o: o.real() if major else o.real().swapaxes(0, 1)
                v = x(t, dims(3))
                second = x(t, dims(2)) if mode else None
                hc = [x(t, (b, cell.outputs if i == 0 else units), -1, 1) for cell in (fw, bw) for i in (0, 1)]
                clip = [fx(t, k) for k in clips]
                more = (code, *map(value, clip))
                extra = time(second) if aux else None
                fy, fh, fc = fw.run(time(v), hc[0].real(), hc[1].real(), *more, aux=extra)
                by, bh, bc = bw.run(time(second if parallel else v)[::-1], hc[2].real(), hc[3].real(), *more,
                                    aux=None if extra is None else extra[::-1])
                by = by[::-1]
                turn = lambda y: y if major else y.swapaxes(0, 1)
                outs = [out(t, np.concatenate([turn(fy), turn(by)], 2))
                        ] if merge else [out(t, turn(fy)), out(t, turn(by))]
                if states:
                    outs += [out(t, y) for y in (fh, fc, bh, bc)]
                case("BIDIRECTIONAL_SEQUENCE_LSTM", f"{t}_{label}{'_' + mode if mode else ''}", [
                    v, *constants(fw.weights()), *constants(bw.weights()), *hc, second or none(t, 3),
                    *constants(fw.aux()), *constants(bw.aux()),
                    i32(code), *clip,
                    flag(merge),
                    flag(major), *constants(fw.norms()), *constants(bw.norms())
                ], outs)


class Plain:
    """One direction of an RNN."""

    def __init__(self, t, inputs, units, aux=0):
        pick = lambda *dims: x(t, dims, -0.9, 0.9)
        self.w, self.r, self.b = pick(units, inputs), pick(units, units), pick(units)
        self.a = pick(units, aux) if aux else None

    def run(self, v, h, code, aux=None):
        ys = []
        for k, row in enumerate(v):
            s = row @ self.w.real().T + h @ self.r.real().T + self.b.real()
            if aux is not None:
                s = s + aux[k] @ self.a.real().T
            h = act(code, s)
            ys.append(h)
        return np.stack(ys), h


def rnn():
    for t in FLOATS:
        for code in range(4):
            for constant in (True, False):
                cell = Plain(t, 3, 4)
                a, h = x(t, (2, 3), -4, 4), x(t, (2, 4))
                ys, _ = cell.run(a.real()[None], h.real(), code)
                parts = [cell.w, cell.r, cell.b]
                case("RNN", f"{t}_{code}{'' if constant else '_given'}",
                     [a, *(constants(parts) if constant else parts), h,
                      i32(code)], [out(t, ys[0]), out(t, ys[0])])
                for major in (True, False):
                    cell = Plain(t, 3, 4)
                    v, h = x(t, (3, 2, 3) if major else (2, 3, 3)), x(t, (2, 4))
                    ys, last = cell.run(v.real() if major else v.real().swapaxes(0, 1), h.real(), code)
                    outs = [out(t, ys if major else ys.swapaxes(0, 1)), *([out(t, last)] if constant else [])]
                    case("UNIDIRECTIONAL_SEQUENCE_RNN",
                         f"{t}_{code}_{'time' if major else 'batch'}{'_state' if constant else ''}",
                         [v, *constants([cell.w, cell.r, cell.b]), h,
                          i32(code), i32(int(major))], outs)
        n = 0
        for mode, aux, parallel in (("", 0, False), ("cross", 2, False), ("parallel", 0, True)):
            for code in range(4):
                n += 1
                merge, major, states = n % 2 == 0, n % 3 != 0, n % 4 < 2
                fw, bw = Plain(t, 3, 4, aux), Plain(t, 2 if parallel else 3, 2, aux)
                dims = lambda width: (3, 2, width) if major else (2, 3, width)
                time = lambda o: o.real() if major else o.real().swapaxes(0, 1)
                v, second = x(t, dims(3)), x(t, dims(2)) if mode else None
                h, g = x(t, (2, 4)), x(t, (2, 2))
                extra = time(second) if aux else None
                fy, fh = fw.run(time(v), h.real(), code, extra)
                by, bh = bw.run(
                    time(second if parallel else v)[::-1], g.real(), code, None if extra is None else extra[::-1])
                by = by[::-1]
                turn = lambda y: y if major else y.swapaxes(0, 1)
                outs = [out(t, np.concatenate([turn(fy), turn(by)], 2))
                        ] if merge else [out(t, turn(fy)), out(t, turn(by))]
                if states:
                    outs += [out(t, fh), out(t, bh)]
                some = lambda o: o.const() if o is not None else none(t, 2)
                case("BIDIRECTIONAL_SEQUENCE_RNN", f"{t}_{code}{'_' + mode if mode else ''}", [
                    v, *constants([fw.w, fw.r, fw.b]), h, *constants([bw.w, bw.r, bw.b]), g, second or none(t, 3),
                    some(fw.a),
                    some(bw.a),
                    i32(code),
                    flag(major),
                    flag(merge)
                ], outs)


def svdf():
    for t in FLOATS:
        for k, (b, inputs, units, rank, memory) in enumerate(
            ((2, 3, 4, 1, 3), (1, 3, 2, 2, 4), (2, 2, 2, 3, 2), (3, 4, 3, 2, 2))):
            for bias in (True, False):
                a, f, m = x(t, (b, inputs)), x(t, (units * rank, inputs), -1, 1), x(t, (units * rank, memory), -1, 1)
                c, s = x(t, (units,)) if bias else None, x(t, (b, memory * units * rank), -1, 1)
                y, after = svdf_model(a.real(), f.real(), m.real(), c.real() if bias else None, s.real(), rank)
                case("SVDF", f"{t}_{k}{'_bias' if bias else ''}",
                     [a, f.const(), m.const(),
                      c.const() if bias else none(t), s,
                      i32(rank), i32(k)], [out(t, after), out(t, act(k, y))])


def codes(t, *dims, scale=1.0, zero=0, spread=1e9):
    return x(t, dims, -spread, spread, scale, zero)


def integer():
    f32 = np.float32
    n = 0
    for zero in (100, 0):
        for b, features, units, scale in ((2, 3, 4, 0.004), (1, 2, 2, 0.05), (3, 5, 3, 0.002)):
            for weights in (True, False):
                for states in (True, False):
                    n += 1
                    state = lambda *dims: codes("Q8", *dims, scale=1 / 128, zero=128)
                    v, h, c = state(b, features), state(b, units), codes("Q16Y", b, units, scale=16 / 32768)
                    w = [codes("Q8", units, features, scale=scale, zero=zero, spread=128 * scale) for _ in range(4)]
                    r = [codes("Q8", units, units, scale=scale, zero=zero, spread=128 * scale) for _ in range(4)]
                    bias = [x("I32", (units,), -60000, 60000, float(f32(scale) / f32(128))) for _ in range(4)]
                    c2, h2 = step16(v.value, [o.value for o in w], [o.value for o in r], [o.value for o in bias],
                                    c.value, h.value, scale, zero)
                    ins = [*w, *r, *bias]
                    if weights:
                        constants(ins)
                    if not states:
                        constants([c, h])
                    case("QUANTIZED_16BIT_LSTM", f"{n}", [v, *ins, c, h], [like(c, c2), like(h, h2)], exact=True)
    for coupled in (False, True):
        for peephole in (False, True):
            for norm in (False, True):
                for project in (None, "none", "bias"):
                    quantized(coupled, peephole, norm, project)


def quantized(coupled, peephole, norm, project):
    units, features, outputs, b = 4, 3, 3 if project else 4, 2
    gates = "fco" if coupled else "ifco"
    q = {
        "x": 0.0078,
        "zx": 5,
        "w": 0.0047,
        "r": 0.0039,
        "p": 0.0006,
        "h": 0.009,
        "zh": -3,
        "c": 2.0**-11,
        "n": 0.0001,
        "v": 0.0061,
        "hidden": 0.0077,
        "zhidden": 7 if project else 0,
        "clip_cell": 3.0 if peephole else 0.0,
        "clip_h": 0.7 if project == "bias" else 0.0,
        "mid": [0.003, 0.0021, 0.0035, 0.0027] if norm else [2.0**-12] * 4
    }
    v, h, c = codes("Q8S", b, features, scale=q["x"], zero=q["zx"]), codes("Q8S",
                                                                           b,
                                                                           outputs,
                                                                           scale=q["h"],
                                                                           zero=q["zh"]), codes("Q16Y",
                                                                                                b,
                                                                                                units,
                                                                                                scale=q["c"])
    w = {g: codes("Q8Y", units, features, scale=q["w"]) for g in gates}
    r = {g: codes("Q8Y", units, outputs, scale=q["r"]) for g in gates}
    p = {g: codes("Q16Y", units, scale=q["p"]) for g in gates if g != "c"} if peephole else None
    n = {g: codes("Q16Y", units, scale=q["n"]) for g in gates} if norm else None
    bias = {g: x("I32", (units,), -3000, 3000) for g in gates}
    m = codes("Q8Y", outputs, units, scale=q["v"]) if project else None
    mb = x("I32", (outputs,), -3000, 3000) if project == "bias" else None
    raw = lambda d: None if d is None else {g: o.value for g, o in d.items()}
    h2, c2 = step8(v.value, raw(w), raw(r), raw(p), raw(bias), m.value if m else None, mb.value if mb else None,
                   h.value, c.value, raw(n), q)
    listed = lambda d, gs, t, rank=1: [d[g].const() if d and g in d else none(t, rank) for g in gs]
    scalars = [fx("F32", k) for k in (q["clip_cell"], q["clip_h"], *q["mid"])]
    label = "_".join(k for k in (coupled and "coupled", peephole and "peephole", norm and "norm",
                                 project and "projection_" + project) if k)
    case("QUANTIZED_LSTM",
         label or "plain", [
             v, *listed(w, GATES, "Q8Y", 2), *listed(r, GATES, "Q8Y", 2), *listed(p, "ifo", "Q16Y"),
             *listed(bias, GATES, "I32"),
             m.const() if m else none("Q8Y", 2),
             mb.const() if mb else none("I32"), h, c, *listed(n, GATES, "Q16Y"), *scalars,
             i32(q["zhidden"]),
             fx("F32", q["hidden"])
         ], [like(h, h2), like(c, c2), like(h, h2)],
         exact=True)


def kinds():
    """Every kind of cell that the API has by what it leaves out, with a label."""
    for coupled in (False, True):
        for peephole in (False, True):
            for norm in (False, True):
                for project in (None, "none", "bias"):
                    parts = ["coupled"] * coupled + ["peephole"] * peephole + ["norm"] * norm
                    parts += [f"project_{project}"] * (project is not None)
                    yield "_".join(parts) or "plain", {
                        "coupled": coupled,
                        "peephole": peephole,
                        "norm": norm,
                        "project": project
                    }


def absences():
    """Cells of small sizes in every kind. Those of BIDIRECTIONAL_SEQUENCE_LSTM share their inputs and have all results:
    the suite makes the pairs of forward and backward cells of them."""
    t, no = "F32", fx("F32", 0)
    for label, kind in kinds():
        cell = Cell(t, 2, 3, 2 if kind["project"] else None, **kind)
        a, h, c = x(t, (1, 2)), x(t, (1, cell.outputs), -1, 1), x(t, (1, 3), -1, 1)
        h2, c2 = cell.step(a.real(), h.real(), c.real(), 4, 0, 0)
        scratch = Operand(t, np.zeros((1, 3 * len(cell.w))), ignore=True)
        case("LSTM", f"{t}_absent_{label}", [a, *constants(cell.weights()), h, c, i32(4), no, no,
                                             *constants(cell.norms())], [scratch, out(t, h2), out(t, c2), out(t, h2)])
        v = x(t, (2, 1, 2))
        ys, h2, c2 = cell.run(v.real(), h.real(), c.real(), 4, 0, 0)
        case("UNIDIRECTIONAL_SEQUENCE_LSTM", f"{t}_absent_{label}",
             [v, *constants(cell.weights()), h, c, i32(4), no, no, flag(True), *constants(cell.norms())],
             [out(t, ys), out(t, h2), out(t, c2)])
    for mode, aux, parallel in (("alone", 0, False), ("cross", 2, False), ("parallel", 0, True)):
        v, second = x(t, (2, 1, 2)), none(t, 3) if mode == "alone" else x(t, (2, 1, 2))
        for label, kind in kinds():
            fw, bw = (Cell(t, 2, 3, 2 if kind["project"] else None, aux=aux, **kind) for _ in range(2))
            hc = [x(t, (1, fw.outputs if i == 0 else 3), -1, 1) for _ in (fw, bw) for i in (0, 1)]
            extra = second.real() if aux else None
            fy, fh, fc = fw.run(v.real(), hc[0].real(), hc[1].real(), 4, 0, 0, aux=extra)
            by, bh, bc = bw.run((second if parallel else v).real()[::-1], hc[2].real(), hc[3].real(), 4, 0, 0,
                                aux=None if extra is None else extra[::-1])
            case("BIDIRECTIONAL_SEQUENCE_LSTM", f"{t}_absent_{mode}_{label}", [
                v, *constants(fw.weights()), *constants(bw.weights()), *hc, second, *constants(fw.aux()),
                *constants(bw.aux()), i32(4), no, no, flag(False), flag(True), *constants(fw.norms()),
                *constants(bw.norms())
            ], [out(t, y) for y in (fy, by[::-1], fh, fc, bh, bc)])


def make():
    for f in (lstm, lstm_both, rnn, svdf, integer, absences):
        f()
