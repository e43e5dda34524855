"""Control flow: IF and WHILE with the models that they refer to."""
import numpy as np

from case import FLOATS, Operand, STD, case, given, i32, like, out, x

CODES = {"Q8": (0.05, 121), "Q8S": (0.04, -7)}


class Graph:
    """A model that an operation refers to."""

    def __init__(self, *inputs):
        self.operands, self.operations, self.outputs = [], [], []
        self.inputs = [self.like(o) for o in inputs]

    def add(self, d):
        self.operands.append(d)
        return len(self.operands) - 1

    def like(self, o, dims=None):
        """An operand as o is. Dimensions of 0 are open."""
        d = {k: v for k, v in Operand(o.type, o.value, o.scale, o.zero).json().items() if k != "data"}
        if dims is not None:
            d["dims"] = list(dims)
        return self.add(d)

    def constant(self, o):
        return self.add(o.json())

    def op(self, name, ins, outs):
        self.operations.append({"op": name, "in": ins, "out": outs})
        return outs[0]

    def gives(self, *outs):
        self.outputs = list(outs)
        return {"operands": self.operands, "operations": self.operations, "in": self.inputs, "out": self.outputs}


def model(name):
    return Operand("model", np.zeros(0), model=name)


def binary(op, a, b, y):
    """A model of y = op(a, b)."""
    g = Graph(a, b)
    return g.gives(g.op(op, [*g.inputs, g.constant(i32(0))], [g.like(y)]))


def truth(v):
    return given("B8", [int(v)])


def branches():
    fs = {"ADD": np.add, "SUB": np.subtract, "MUL": np.multiply}
    for t in (*STD, "I32"):
        for dims in ((5,), (2, 3), (2, 1, 2, 2)):
            for c in (True, False):
                a, b = x(t, dims, -3, 3, *CODES.get(t, (None, None))), x(t, dims, -3, 3, *CODES.get(t, (None, None)))
                chosen = fs["ADD"] if c else fs["SUB"]
                v = chosen(a.value, b.value) if t == "I32" else chosen(a.real(), b.real())
                y = like(a, v) if t == "I32" else out(t, v,
                                                      *((0.09, 100) if t == "Q8" else (0.09, 3)) if t in CODES else ())
                case("IF", f"{t}_{len(dims)}_{c}", [truth(c), model("then"), model("else"), a, b], [y],
                     {"then": binary("ADD", a, b, y), "else": binary("SUB", a, b, y)})
    for t in FLOATS:
        for c in (True, False):
            a, b = x(t, (2, 3)), x(t, (2, 3))
            for label, cond in (("constant", truth(c).const()), ("given", truth(c))):
                g = Graph(a, b)  # two results, the else model with their roles exchanged
                none = g.constant(i32(0))
                s, d = g.op("ADD", [0, 1, none], [g.like(a)]), g.op("MUL", [0, 1, none], [g.like(a)])
                then = g.gives(s, d)
                otherwise = dict(then, out=[d, s])
                ys = [out(t, a.real() + b.real()), out(t, a.real() * b.real())]
                case("IF", f"{t}_two_{label}_{c}", [cond, model("then"), model("else"), a, b], ys if c else ys[::-1],
                     {"then": then, "else": otherwise})
            g = Graph(a, b)  # dimensions that the branches decide
            g.op("CONCATENATION", [0, 1, g.constant(i32(1))], [g.like(a, (0, 0))])
            then = g.gives(len(g.operands) - 1)
            g = Graph(a, b)
            g.op("SUB", [0, 1, g.constant(i32(0))], [g.like(a, (0, 0))])
            y = np.concatenate([a.real(), b.real()], 1) if c else a.real() - b.real()
            case("IF", f"{t}_dims_{c}", [truth(c), model("then"), model("else"), a, b], [out(t, y, open=True)],
                 {"then": then, "else": g.gives(len(g.operands) - 1)})
            case("IF", f"{t}_shared_{c}", [truth(c), model("both"), model("both"), a, b], [out(t, a.real() * b.real())],
                 {"both": binary("MUL", a, b, a)})


def loop(t, dims, step, trips, carried):
    """cond: i < n. body: i + 1, and a (op) b. i and a are carried, n and b are only read."""
    i, n = given("I32", [0]), given("I32", [trips])
    a, b = x(t, dims, -1, 1, *CODES.get(t, (None, None))), x(t, dims, 0.5, 1.5, *CODES.get(t, (None, None)))
    args = [i, a, n, b] if carried == "state" else [a, i, n, b]
    at = {id(o): k for k, o in enumerate(args)}
    g = Graph(*args)
    cond = g.gives(g.op("LESS", [at[id(i)], at[id(n)]], [g.like(truth(True))]))
    g = Graph(*args)
    none, one = g.constant(i32(0)), g.constant(given("I32", [1]))
    next_i = g.op("ADD", [at[id(i)], one, none], [g.like(i)])
    next_a = g.op(step, [at[id(a)], at[id(b)], none], [g.like(a)])
    body = g.gives(*((next_i, next_a) if carried == "state" else (next_a, next_i)))
    return args, {"cond": cond, "body": body}, a, b


def loops():
    fs = {"ADD": np.add, "MUL": np.multiply}
    for t in ("F32", "F16", "I32"):
        for dims in ((3,), (2, 2)):
            for step in ("ADD", "MUL"):
                for trips in (0, 1, 3):
                    args, models, a, b = loop(t, dims, step, trips, "io")
                    v = a.value if t == "I32" else a.real()
                    for _ in range(trips):
                        v = fs[step](v, b.value if t == "I32" else b.real())
                    y = like(a, v) if t == "I32" else out(t, v)
                    case("WHILE", f"{t}_{len(dims)}_{step}_{trips}", [model("cond"), model("body"), *args], [y], models)
    for t, trips in (("F32", 4), ("F16", 2), ("I32", 5)):
        args, models, a, b = loop(t, (2, 3), "ADD", trips, "state")
        v = (a.value if t == "I32" else a.real()) + trips * (b.value if t == "I32" else b.real())
        case("WHILE", f"{t}_both_outputs", [model("cond"), model("body"), *args],
             [given("I32", [trips]), like(a, v) if t == "I32" else out(t, v)], models)
    for t in ("Q8", "Q8S"):  # a carried tensor keeps its scale: nothing is rounded
        args, models, a, b = loop(t, (4,), "ADD", 2, "io")
        lo, hi = np.iinfo(a.value.dtype).min, np.iinfo(a.value.dtype).max
        v = a.value.astype(int)
        for _ in range(2):
            v = np.clip(v + b.value.astype(int) - b.zero, lo, hi)
        case("WHILE", f"{t}_steps", [model("cond"), model("body"), *args], [like(a, v)], models)
    for t in FLOATS:  # a tensor that grows with each trip
        for trips in (0, 2):
            i, n, a, b = given("I32", [0]), given("I32", [trips]), x(t, (1, 2)), x(t, (1, 2))
            g = Graph(a, i, n, b)
            g.operands[0]["dims"] = [0, 2]
            cond = g.gives(g.op("LESS", [1, 2], [g.like(truth(True))]))
            g = Graph(a, i, n, b)
            g.operands[0]["dims"] = [0, 2]
            longer = g.op("CONCATENATION", [0, 3, g.constant(i32(0))], [g.like(a, (0, 2))])
            further = g.op("ADD", [1, g.constant(given("I32", [1])), g.constant(i32(0))], [g.like(i)])
            y = np.concatenate([a.real()] + [b.real()] * trips)
            case("WHILE", f"{t}_grows_{trips}",
                 [model("cond"), model("body"), a.open(), i, n, b], [out(t, y, open=True)], {
                     "cond": cond,
                     "body": g.gives(longer, further)
                 })


def make():
    branches()
    loops()
