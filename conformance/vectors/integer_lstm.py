#!/usr/bin/env python3
"""Writes backends/cpu/ref/testdata/{quantized_16bit_lstm,quantized_lstm,tables/fixed_point}.json: results to the bit,
from a model of gemmlowp's fixed-point numbers that carries the number of integer bits with every number.

usage: pip install numpy; python integer_lstm.py <repository>
"""
import json
import math
import os
import sys

import numpy as np

from numpy_common import add, rng, tensor, write


def half_away(numerator, denominator):
    """The quotient of integers, rounded half away from zero."""
    q = (2 * abs(numerator) + denominator) // (2 * denominator)
    return q if numerator >= 0 else -q


def wrap(v, bits):
    return (v + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def cut(v, bits):
    return max(-(1 << bits - 1), min((1 << bits - 1) - 1, v))


class Fixed:
    """raw / 2^(bits - 1 - whole)."""

    def __init__(self, raw, whole, bits):
        assert -(1 << bits - 1) <= raw < 1 << bits - 1, (raw, bits)
        self.raw, self.whole, self.bits = raw, whole, bits

    @staticmethod
    def of(real, whole, bits):
        scaled = real * 2.0 ** (bits - 1 - whole)
        return Fixed(cut(math.floor(scaled + 0.5) if scaled >= 0 else -math.floor(0.5 - scaled), bits), whole, bits)

    def like(self, raw, whole=None):
        return Fixed(raw, self.whole if whole is None else whole, self.bits)

    def __neg__(self):
        return self.like(wrap(-self.raw, self.bits))

    def __add__(self, b):
        assert (self.whole, self.bits) == (b.whole, b.bits)
        return self.like(wrap(self.raw + b.raw, self.bits))

    def __sub__(self, b):
        assert (self.whole, self.bits) == (b.whole, b.bits)
        return self.like(wrap(self.raw - b.raw, self.bits))

    def plus(self, b):
        """A saturating sum."""
        assert (self.whole, self.bits) == (b.whole, b.bits)
        return self.like(cut(self.raw + b.raw, self.bits))

    def __mul__(self, b):
        # Ties of a product go up: the nudge of a negative one is smaller by one.
        product = self.raw * b.raw
        unit = 1 << self.bits - 1
        nudged = product + (unit // 2 if product >= 0 else 1 - unit // 2)
        high = abs(nudged) // unit * (1 if nudged >= 0 else -1)
        return self.like(cut(high, self.bits), self.whole + b.whole)

    def half(self, times=1):
        """Divided by 2^times, halves away from zero."""
        return self.like(half_away(self.raw, 1 << times))

    def to(self, whole):
        """The same number with so many integer bits."""
        if whole > self.whole:
            return self.like(half_away(self.raw, 1 << whole - self.whole), whole)
        return self.like(cut(self.raw << self.whole - whole, self.bits), whole)


def one(whole, bits):
    return Fixed.of(1.0, whole, bits)


def exp_near_zero(a):
    """exp(a), -1/4 <= a < 0: exp(-1/8) * (1 + x + x^2/2 + x^3/6 + x^4/24)."""
    number = lambda v: Fixed.of(v, 0, a.bits)
    x = a + number(0.125)
    x2 = x * x
    x3, x4 = x2 * x, x2 * x2
    tail = ((x4.half(2) + x3) * number(1 / 3) + x2).half()
    first = number(math.exp(-0.125))
    return first.plus(first * (x + tail))


def exp_negative(a):
    unit = 1 << a.bits - 1 - a.whole
    if a.raw == 0:
        return one(0, a.bits)
    if a.raw < -32 * unit:
        return Fixed(0, 0, a.bits)
    near = a.raw % (unit // 4) - unit // 4
    y = exp_near_zero(a.like(near).to(0))
    rest = near - a.raw
    for k in range(-2, min(a.whole, 5)):
        if rest // int(unit * 2.0 ** k) % 2:
            y = y * Fixed.of(math.exp(-(2.0 ** k)), 0, a.bits)
    return y


def newton(a):
    """1 / ((1 + a) / 2) with two integer bits."""
    denominator = a.like(half_away(a.raw + one(0, a.bits).raw, 2))
    x = Fixed.of(48 / 17, 2, a.bits) + denominator * Fixed.of(-32 / 17, 2, a.bits)
    for _ in range(3):
        x = x + (x * (one(2, a.bits) - denominator * x)).to(2)
    return x


def logistic(a):
    if a.raw == 0:
        return Fixed.of(0.5, 0, a.bits)
    x = newton(exp_negative(-a if a.raw > 0 else a))
    y = x.like(x.raw, 1).to(0)
    return y if a.raw > 0 else one(0, a.bits) - y


def tanh(a):
    if a.raw == 0:
        return Fixed(0, 0, a.bits)
    low = -a if a.raw > 0 else a
    y = (newton(exp_negative(low.like(low.raw, low.whole + 1))) - one(2, a.bits)).to(0)
    return y if a.raw > 0 else -y


class Scale:
    """A multiplication by a mantissa of 31 bits and a power of two, rounded twice."""

    def __init__(self, v):
        f, self.shift = math.frexp(v)
        self.mantissa = math.floor(f * 2 ** 31 + 0.5)
        if self.mantissa == 1 << 31:
            self.mantissa, self.shift = 1 << 30, self.shift + 1
        if v == 0 or self.shift < -31:
            self.mantissa, self.shift = 0, 0

    def __call__(self, x):
        x = wrap(x << max(self.shift, 0), 32)
        high = (Fixed(x, 0, 32) * Fixed(self.mantissa, 0, 32)).raw
        return half_away(high, 1 << max(-self.shift, 0))


def inverse_root(v):
    scale = Scale(0)
    if v <= 1:
        scale.mantissa, scale.shift = (1 << 31) - 1, 0
        return scale
    right = 11
    while v >= 1 << 29:
        v, right = v // 4, right + 1
    while v < 1 << 27:
        v, right = v * 4, right - 1
    a, x = Fixed(v >> 1, 3, 32).half(), one(3, 32)
    for _ in range(5):
        x = (Fixed.of(1.5, 3, 32) * x - a * (x * x * x).to(3)).to(3)
    scale.mantissa = (x * Fixed.of(math.sqrt(2) / 2, 0, 32)).raw
    scale.shift = -right
    if right < 0:
        scale.mantissa, scale.shift = wrap(scale.mantissa << -right, 32), 0
    return scale


f32 = np.float32


def dot(x, zero, w, w_zero=0):
    return int(((x.astype(np.int64) - zero) * (w.astype(np.int64) - w_zero)).sum())


def step16(x, w, r, bias, c, h, scale, zero):
    batch, units = c.shape
    narrow = Scale(4096 * float(f32(scale) / f32(128)))
    c2, h2 = np.zeros_like(c), np.zeros_like(h)
    for b in range(batch):
        for u in range(units):
            # The API joins the weights of the state and of x in this order, but x and the state in that one.
            joined = np.concatenate([x[b], h[b]])
            whole = [int(bias[g][u]) + dot(joined, 128, np.concatenate([r[g][u], w[g][u]]), zero) for g in range(4)]
            sums = [Fixed(cut(narrow(wrap(v, 32)), 16), 3, 16) for v in whole]
            i, f, o = (logistic(sums[g]) for g in (0, 1, 3))
            state = (i * tanh(sums[2])).to(4).plus(f * Fixed(int(c[b, u]), 4, 16))
            made = o * tanh(state.to(3))
            c2[b, u] = state.raw
            h2[b, u] = 128 + cut(half_away(made.raw, 256), 8)
    return c2, h2


def sixteen():
    def case(name, batch, features, units, scale=0.004, zero=100, spread=256, bias=60000, cell=32768):
        pick = lambda *d: np.clip(128 + rng.integers(-spread // 2, spread // 2, d), 0, 255).astype(np.uint8)
        x, h = pick(batch, features), pick(batch, units)
        w, r = [pick(units, features) for _ in range(4)], [pick(units, units) for _ in range(4)]
        b = [rng.integers(-bias, bias + 1, units).astype(np.int32) for _ in range(4)]
        c = np.clip(rng.integers(-cell, cell + 1, (batch, units)), -32768, 32767).astype(np.int16)
        c2, h2 = step16(x, w, r, b, c, h, scale, zero)
        state = lambda q: tensor(q, 1 / 128, 128)
        ins = ([state(x)] + [tensor(q, scale, zero) for q in w + r] + [tensor(q, f32(scale) / f32(128)) for q in b]
               + [tensor(c, 1 / 2048), state(h)])
        add("quantized_16bit_lstm", "quantized_16bit_lstm", name, {}, ins, [tensor(c2, 1 / 2048), state(h2)], True)

    case("one", 1, 1, 1)
    case("small", 2, 3, 4)
    case("larger", 3, 20, 7, scale=0.002)
    case("sums saturate", 2, 30, 5, scale=0.5)
    case("cells saturate", 2, 6, 16, scale=0.05, bias=2000000)
    case("tiny scale", 2, 6, 8, scale=1e-7)
    case("near zero", 4, 5, 9, spread=6, bias=40, cell=40, zero=128)
    case("no batch", 0, 3, 4)
    case("no feature", 2, 0, 4)


GATES = "ifco"


def step8(x, w, r, p, b, v, vb, h, c, n, q):
    """Operands by gate; q holds the scales and zero points. The weights of x and of the state have one scale each."""
    batch, units = c.shape
    log = int(round(math.log2(q["c"])))
    c2, h2 = np.zeros_like(c), np.zeros_like(h)
    s = {k: f32(q[k]) for k in ("x", "w", "r", "p", "h", "n", "hidden", "v")}
    for batch_ in range(batch):
        old = [int(k) for k in c[batch_]]

        def gate(g, cell):
            mid = f32(q["mid"][GATES.index(g)])
            scale_x, scale_h = Scale(float(s["w"] * s["x"] / mid)), Scale(float(s["r"] * s["h"] / mid))
            sums = []
            for u in range(units):
                first = int(b[g][u]) if n is None else 0
                y = cut(scale_x(wrap(first + dot(x[batch_], q["zx"], w[g][u]), 32)), 16)
                y = cut(y + scale_h(wrap(dot(h[batch_], q["zh"], r[g][u]), 32)), 16)
                if p is not None and g != "c":
                    y = cut(y + Scale(float(f32(2.0 ** log * float(s["p"]) / float(mid))))(int(p[g][u]) * cell[u]), 16)
                sums.append(y)
            if n is None:
                return sums
            chopped = lambda a, d: abs(a) // d * (1 if a >= 0 else -1)
            mean = chopped(sum(sums) * 1024, units)
            variance = chopped(sum(y * y for y in sums) * ((1 << 20) // units) - mean * mean, 1 << 20)
            root, last = inverse_root(max(variance, 1)), Scale(float(s["n"]))
            last.shift += 12
            out = []
            for u, y in enumerate(sums):
                y = root(wrap(1024 * y - mean, 32)) * int(n[g][u]) + int(b[g][u])
                out.append(cut(last(wrap(half_away(y, 1024), 32)), 16))
            return out

        number = lambda raw, whole=3: Fixed(raw, whole, 16)
        forget = [logistic(number(y)) for y in gate("f", old)]
        enter = [logistic(number(y)) for y in gate("i", old)] if "i" in w else [one(0, 16) - f for f in forget]
        new = [tanh(number(y)) for y in gate("c", old)]
        cells = []
        for u in range(units):
            kept = wrap(half_away(forget[u].raw * old[u], 1 << 15), 16)
            y = cut(kept + wrap(half_away(enter[u].raw * new[u].raw, 1 << 30 + log), 16), 16)
            most = int(min(f32(q["clip_cell"]) / f32(q["c"]), f32(32767)))
            cells.append(max(-most, min(most, y)) if most > 0 else y)
        hidden = Scale(float(f32(2.0 ** -15 / float(s["hidden"]) * 2.0 ** -15)))
        made = np.array([cut(hidden(logistic(number(y)).raw * tanh(number(cells[u], 15 + log)).raw) - q["zhidden"], 8)
                         for u, y in enumerate(gate("o", cells))], np.int8)
        c2[batch_] = cells
        if v is None:
            h2[batch_] = made
            continue
        last = Scale(float(s["v"] * s["hidden"] / s["h"]))
        most = int(min(f32(q["clip_h"]) / s["h"], f32(127)))
        for o in range(len(v)):
            y = wrap((0 if vb is None else int(vb[o])) + dot(made, -q["zhidden"], v[o]), 32)
            y = cut(last(y) + q["zh"], 8)
            h2[batch_, o] = max(-most, min(most, y)) if most > 0 else y
    return h2, c2


def eight():
    def case(name, batch, features, units, outputs=None, coupled=False, peephole=False, norm=False, project=False,
             bias=3000, spread=256, **change):
        q = {"x": 0.0078, "zx": 5, "w": 0.0047, "r": 0.0039, "p": 0.0006, "h": 0.009, "zh": -3, "c": 2.0 ** -11,
             "n": 0.0001, "v": 0.0061, "hidden": 0.0077, "zhidden": 0, "clip_cell": 0, "clip_h": 0,
             "mid": [2.0 ** -12] * 4}
        q.update(change)
        outputs = outputs or units
        gates = "fco" if coupled else "ifco"
        pick = lambda *d: np.clip(rng.integers(-spread // 2, spread // 2 + 1, d), -128, 127).astype(np.int8)
        wide = lambda *d: rng.integers(-32768, 32768, d).astype(np.int16)
        x, h, c = pick(batch, features), pick(batch, outputs), wide(batch, units)
        w, r = {g: pick(units, features) for g in gates}, {g: pick(units, outputs) for g in gates}
        p = {g: wide(units) for g in gates if g != "c"} if peephole else None
        b = {g: rng.integers(-bias, bias + 1, units).astype(np.int32) for g in gates}
        n = {g: wide(units) for g in gates} if norm else None
        v = pick(outputs, units) if project else None
        vb = rng.integers(-bias, bias + 1, outputs).astype(np.int32) if project == "bias" else None
        h2, c2 = step8(x, w, r, p, b, v, vb, h, c, n, q)
        listed = lambda d, gs, s: [tensor(d[g], q[s]) if d and g in d else None for g in gs]
        state = lambda a: tensor(a, q["h"], q["zh"])
        ins = [tensor(x, q["x"], q["zx"]), *listed(w, "ifco", "w"), *listed(r, "ifco", "r"), *listed(p, "ifo", "p"),
               *[b.get(g) for g in "ifco"], None if v is None else tensor(v, q["v"]), vb, state(h), tensor(c, q["c"]),
               *listed(n, "ifco", "n")]
        attrs = {"ClipCell": q["clip_cell"], "ClipProjection": q["clip_h"], "Intermediate": q["mid"],
                 "HiddenZero": q["zhidden"], "HiddenScale": q["hidden"]}
        add("quantized_lstm", "quantized_lstm", name, attrs, ins, [state(h2), tensor(c2, q["c"])], True)

    case("one", 1, 1, 1)
    case("small", 2, 3, 4)
    case("peepholes", 2, 3, 4, peephole=True)
    case("coupled", 2, 3, 4, coupled=True)
    case("coupled with peepholes, normalized", 2, 3, 4, coupled=True, peephole=True, norm=True)
    case("normalized", 3, 5, 8, norm=True, mid=[0.003, 0.0021, 0.0035, 0.0027])
    case("normalized, no power of two", 2, 5, 7, norm=True, mid=[0.003, 0.0021, 0.0035, 0.0027], bias=200000)
    case("normalized, one unit", 2, 3, 1, norm=True, bias=300000)
    case("normalized, hardly any variance", 2, 3, 6, norm=True, mid=[100.0] * 4, bias=2000000)
    case("projection", 2, 4, 6, 3, project=True)
    case("projection with bias", 2, 4, 6, 3, project="bias", zhidden=7)
    case("everything", 3, 5, 9, 4, project="bias", peephole=True, norm=True, zhidden=-11, clip_cell=3.0, clip_h=0.7,
         mid=[0.003, 0.0021, 0.0035, 0.0027])
    case("hidden zero point, no projection", 2, 4, 6, zhidden=20)
    case("clips", 3, 4, 6, 5, project=True, clip_cell=0.4, clip_h=0.2)
    case("clips beyond the codes", 2, 4, 6, 5, project=True, clip_cell=1e9, clip_h=1e9)
    case("sums saturate", 2, 9, 6, w=0.3, r=0.4)
    case("tiny sums", 2, 4, 6, w=1e-12, r=1e-13)
    for k in range(9, 16):
        case(f"cell at 2^-{k}", 2, 4, 5, c=2.0 ** -k, peephole=True)
    case("near zero", 3, 4, 6, spread=8, bias=9)
    case("cell's scale of six digits", 2, 4, 6, c=3.05176e-05, peephole=True, clip_cell=0.5)
    case("no batch", 0, 3, 4)
    case("no feature", 2, 0, 4)


def functions(folder):
    """Every 64th number, and those near 0 and at the ends, of sigmoid and tanh per number of integer bits."""
    xs = sorted({*range(-32768, 32768, 61), *range(-40, 41), -32768, -32767, 32766, 32767})
    table = {"x": xs}
    for name, f, bits in (("logistic", logistic, range(1, 8)), ("tanh", tanh, range(7))):
        table[name] = {str(k): [f(Fixed(x, k, 16)).raw for x in xs] for k in bits}
    vs = sorted({0, 1, 2, 3, 4, 5, 1000, 1 << 20, (1 << 30) - 1,
                 *(int(1.37 ** k) for k in range(5, 66)), (1 << 31) - 1})
    roots = [inverse_root(v) for v in vs]
    table["roots"] = [[v, s.mantissa, s.shift] for v, s in zip(vs, roots)]
    with open(os.path.join(folder, "fixed_point.json"), "w") as f:
        json.dump(table, f, separators=(",", ":"))


if __name__ == "__main__":
    sixteen()
    eight()
    write()
    target = os.path.join(sys.argv[1], "backends/cpu/ref/testdata/tables")
    os.makedirs(target, exist_ok=True)
    functions(target)
