"""Branches, loops, functions and lists, and the names and attributes that they pass on."""
import numpy as np
from onnx import AttributeProto, TensorProto, helper, numpy_helper

from sweep import base, f32, ints, node

F, I, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
info = helper.make_tensor_value_info


def add(name, nodes, feeds, want, inits=None, opset=21, **kw):
    """A case whose outputs a formula gives; evaluators that compute it have to agree unless kw leaves them out."""
    want = [np.asarray(w) for w in (want if isinstance(want, list) else [want])]
    base.add(name, nodes, feeds, inits, opset=opset, expected=want, **kw)


def function(name, ins, outs, nodes, attrs=(), defaults=(), opset=21, domain="local", uses=()):
    imports = [helper.make_opsetid("", opset)] + [helper.make_opsetid(d, 1) for d in uses]
    return helper.make_function(domain, name, ins, outs, nodes, imports, list(attrs), list(defaults))


def call(name, ins, outs="y", domain="local", **attrs):
    absent = lambda names: ["" if n == "-" else n for n in names.split()]
    return helper.make_node(name, absent(ins), absent(outs), domain=domain, **attrs)


def refers(n, **names):
    """The node with attributes that are those of the function around it."""
    for own, (kind, outer) in names.items():
        n.attribute.append(AttributeProto(name=own, type=kind, ref_attr_name=outer))
    return n


def functions():
    x, z = f32(2, 3), f32(2, 3)
    kinds = AttributeProto
    leak = lambda v, a: np.where(v < 0, v * np.float32(a), v)
    kept = {"skip_onnxruntime": True}  # it does not know defaults of functions, and reads bodies at the model's opset

    real = function("Slope", ["l"], ["r"], [refers(node("LeakyRelu", "l", "r"), alpha=(kinds.FLOAT, "slope"))], defaults=[helper.make_attribute("slope", 0.25)])
    add("local_default", call("Slope", "x"), {"x": x}, leak(x, .25), functions=[real], **kept)
    add("local_given", call("Slope", "x", slope=0.75), {"x": x}, leak(x, .75), functions=[real], **kept)
    add("local_twice", [call("Slope", "x", "t", slope=0.5), call("Slope", "t")], {"x": x}, leak(leak(x, .5), .25), functions=[real], **kept)
    through = function("Outer", ["l"], ["r"], [refers(call("Slope", "l", "t"), slope=(kinds.FLOAT, "steep")), node("Neg", "t", "r")], ["steep"], uses=("local",))
    add("local_forwarded", call("Outer", "x", steep=0.125), {"x": x}, -leak(x, .125), functions=[real, through], **kept)
    add("local_forwarded_absent", call("Outer", "x"), {"x": x}, -leak(x, .25), functions=[real, through], **kept)

    whole = function("Axis", ["l"], ["r"], [refers(node("Softmax", "l", "r"), axis=(kinds.INT, "along"))], ["along"])
    e = lambda v, a: np.exp(v) / np.exp(v).sum(a, keepdims=True)
    for along in (0, 1):
        add(f"local_int_{along}", call("Axis", "x", along=along), {"x": x}, e(x, along), functions=[whole], **kept)
    add("local_int_absent", call("Axis", "x"), {"x": x}, e(x, -1), functions=[whole], **kept)
    order = function("Order", ["l"], ["r"], [refers(node("Transpose", "l", "r"), perm=(kinds.INTS, "by"))], ["by"])
    y = f32(2, 3, 4)
    add("local_ints", call("Order", "x", by=[1, 2, 0]), {"x": y}, y.transpose(1, 2, 0), functions=[order], **kept)
    add("local_ints_absent", call("Order", "x"), {"x": y}, y.transpose(), functions=[order], **kept)
    text = function("Way", ["l"], ["r"], [refers(node("Gelu", "l", "r"), approximate=(kinds.STRING, "how"))], defaults=[helper.make_attribute("how", "tanh")])
    tanh = lambda v: (.5 * v * (1 + np.tanh(np.sqrt(2 / np.pi) * (v + .044715 * v.astype(np.float64) ** 3)))).astype(np.float32)
    add("local_string_default", call("Way", "x"), {"x": x}, tanh(x), functions=[text], **kept)
    held = function("Held", ["l"], ["r"], [refers(node("Constant", "", "c"), value=(kinds.TENSOR, "v")), node("Add", "l c", "r")], ["v"])
    add("local_tensor", call("Held", "x", v=numpy_helper.from_array(z)), {"x": x}, x + z, functions=[held], **kept)
    listed = function("Listed", ["l"], ["r"], [refers(node("Constant", "", "c"), value_floats=(kinds.FLOATS, "v")), node("Mul", "l c", "r")], ["v"])
    add("local_floats", call("Listed", "x", v=[2.0, -1.0, 0.5]), {"x": x}, x * np.float32([2, -1, .5]), functions=[listed], **kept)

    # What is inside has names of its own.
    inner = function("Inner", ["x", "y"], ["z"], [node("Sub", "y x", "t"), node("Mul", "t t", "z")])
    add("local_names", [node("Add", "x z", "t"), call("Inner", "t x", "u"), node("Sub", "u t")], {"x": x, "z": z}, (x - (x + z)) ** 2 - (x + z), functions=[inner])
    two = function("Two", ["a", "b"], ["s", "d"], [node("Add", "a b", "s"), node("Sub", "a b", "d")])
    add("local_two_outputs", [call("Two", "x z", "p q"), node("Mul", "p q")], {"x": x, "z": z}, (x + z) * (x - z), functions=[two])
    add("local_second_output", [call("Two", "x z", "- q"), node("Neg", "q")], {"x": x, "z": z}, z - x, functions=[two], **kept)
    maybe = function("Bounded", ["l", "lo", "hi"], ["r"], [node("Clip", "l lo hi", "r")])
    bounds = {"lo": np.float32(-.5), "hi": np.float32(.75)}
    for i, (ins, want) in enumerate((("x lo hi", np.clip(x, -.5, .75)), ("x - hi", np.minimum(x, np.float32(.75))), ("x lo", np.maximum(x, np.float32(-.5))), ("x", x))):
        add(f"local_absent_input_{i}", [call("Bounded", ins, "t"), node("Neg", "t")], {"x": x}, -want, {k: v for k, v in bounds.items() if k in ins.split()}, functions=[maybe], **kept)
    same = [function("Step", ["l"], ["r"], [node("Neg", "l", "r")]), function("Step", ["l"], ["r"], [node("Abs", "l", "r")], domain="other")]
    add("local_domains", [call("Step", "x", "t"), call("Step", "t", "u", domain="other"), node("Sub", "u t")], {"x": x}, np.abs(x) + x, functions=same)
    shadow = function("Relu", ["l"], ["r"], [node("Neg", "l", "r")])
    add("local_named_as_operator", [call("Relu", "x", "t"), node("Relu", "t")], {"x": x}, np.maximum(-x, 0), functions=[shadow])
    branch = lambda op, n: helper.make_graph([node(op, "l k", n)], n, [], [info(n, F, None)])
    cond = function("Branch", ["l", "k", "c"], ["r"], [node("If", "c", "r", then_branch=branch("Add", "p"), else_branch=branch("Sub", "q"))])
    for c in (True, False):
        add(f"local_if_{c}".lower(), [call("Branch", "x z c", "t"), node("Neg", "t")], {"x": x, "z": z, "c": np.array(c)}, -(x + z if c else x - z), functions=[cond])
    deep = [function(f"D{i}", ["l"], ["r"], [call(f"D{i + 1}", "l", "t"), node("Add", "t l", "r")], uses=("local",)) for i in range(6)]
    deep.append(function("D6", ["l"], ["r"], [node("Neg", "l", "r")]))
    add("local_deep", [call("D0", "x", "t"), node("Mul", "t x")], {"x": x}, 5 * x * x, functions=deep)


def branches():
    x, z = f32(2, 3), f32(2, 3)
    g = lambda nodes, out, inits=(), ins=(): helper.make_graph(nodes, "g", list(ins), [info(o, F, None) for o in out.split()], [numpy_helper.from_array(v, k) for k, v in inits])
    own, other = f32(3), f32(3)
    local = node("If", "c", then_branch=g([node("Add", "x w", "a")], "a", [("w", own)]), else_branch=g([node("Mul", "x w", "b")], "b", [("w", other)]))
    nested = lambda c: node("If", "c", then_branch=g([node("Neg", "x", "n"), node("If", "d", "a", then_branch=g([node("Add", "n z", "p")], "p"), else_branch=g([node("Sub", "n z", "q")], "q"))], "a"),
                            else_branch=g([node("Identity", "z", "b")], "b"))
    for c in (True, False):
        flag = {"c": np.array(c)}
        tag = str(c).lower()
        add(f"if_own_constants_{tag}", local, {"x": x, **flag}, x + own if c else x * other)
        add(f"if_known_{tag}", local, {"x": x}, x + own if c else x * other, flag)
        for d in (True, False):
            add(f"if_nested_{tag}_{str(d).lower()}", nested(c), {"x": x, "z": z, "d": np.array(d), **flag}, (-x + (z if d else -z)) if c else z)
        two = node("If", "c", "p q", then_branch=g([node("Add", "x z", "a"), node("Sub", "x z", "b")], "a b"), else_branch=g([node("Mul", "x z", "e"), node("Max", "x z", "f")], "e f"))
        add(f"if_two_outputs_{tag}", [two, node("Sub", "p q")], {"x": x, "z": z, **flag}, (x + z) - (x - z) if c else x * z - np.maximum(x, z))
        bare = node("If", "c", then_branch=g([node("Identity", "x", "a")], "a"), else_branch=g([node("Constant", "", "b", value=numpy_helper.from_array(z))], "b"))
        add(f"if_constant_{tag}", bare, {"x": x, **flag}, x if c else z)
        kept = [node("Relu", "x", "t"), node("If", "c", "u", then_branch=g([node("Neg", "t", "a")], "a"), else_branch=g([node("Add", "t z", "b")], "b")), node("Add", "u t")]
        add(f"if_reads_outer_{tag}", kept, {"x": x, "z": z, **flag}, (-np.maximum(x, 0) if c else np.maximum(x, 0) + z) + np.maximum(x, 0))
        joined = [node("If", "c", "u", then_branch=g([node("Neg", "x", "a")], "a"), else_branch=g([node("Abs", "x", "a")], "a"))] + [node("Mul", "u u")]
        add(f"if_same_names_{tag}", joined, {"x": x, **flag}, x * x)


def loops():
    x, z = f32(2, 3), f32(2, 3)
    trip = [info("i", I, []), info("c", B, [])]
    body = lambda nodes, ins, outs, inits=(): helper.make_graph(nodes, "body", trip + [info(n, F, [2, 3]) for n in ins.split()], [info("h", B, [])] + [info(n, F, [2, 3]) for n in outs.split()],
                                                                 [numpy_helper.from_array(v, k) for k, v in inits])
    stay = node("Identity", "c", "h")
    yes, three = {"k": np.array(True)}, {"n": np.array(3, np.int64)}
    step = body([stay, node("Add", "s z", "t")], "s", "t")
    for n in (0, 1, 5):
        count = {"n": np.array(n, np.int64)}
        want = x
        for _ in range(n):
            want = want + z
        add(f"loop_known_{n}", [node("Loop", "n k x", "l", body=step), node("Neg", "l")], {"x": x, "z": z}, -want, {**count, **yes})
        add(f"loop_given_{n}", [node("Loop", "n k x", "l", body=step), node("Neg", "l")], {"x": x, "z": z, **count}, -want, yes)
        add(f"loop_no_condition_{n}", [node("Loop", "n - x", "l", body=step), node("Neg", "l")], {"x": x, "z": z, **count}, -want, skip_reference=True)
    add("loop_false", [node("Loop", "n k x", "l", body=step), node("Neg", "l")], {"x": x, "z": z}, -x, {**three, "k": np.array(False)})
    add("loop_given_false", [node("Loop", "n k x", "l", body=step), node("Neg", "l")], {"x": x, "z": z, "k": np.array(False)}, -x, three)
    swap = body([stay, node("Identity", "b", "p"), node("Sub", "a b", "q")], "a b", "p q")
    a, b = x, z
    for _ in range(3):
        a, b = b, a - b
    add("loop_swaps", [node("Loop", "n k x z", "u v", body=swap), node("Concat", "u v", axis=0)], {"x": x, "z": z}, np.concatenate([a, b]), {**three, **yes})
    numbered = body([stay, node("Cast", "i", "f", to=F), node("Mul", "s f", "m"), node("Add", "m z", "t")], "s", "t")
    want = x
    for i in range(3):
        want = want * np.float32(i) + z
    add("loop_numbers", [node("Loop", "n k x", "l", body=numbered), node("Neg", "l")], {"x": x, "z": z}, -want, {**three, **yes})
    scanned = body([stay, node("Add", "s z", "t"), node("Mul", "t t", "o"), node("Neg", "s", "p")], "s", "t o p")
    state, first, second = x, [], []
    for _ in range(3):
        second.append(-state)
        state = state + z
        first.append(state * state)
    add("loop_scans", [node("Loop", "n k x", "l o p", body=scanned), node("Concat", "o p", "q", axis=0), node("Reshape", "q r")], {"x": x, "z": z}, np.stack(first + second).reshape(6, 6), {**three, **yes, "r": ints(6, 6)})
    own = body([stay, node("Mul", "s w", "t")], "s", "t", [("w", z)])
    add("loop_own_constants", [node("Loop", "n k x", "l", body=own), node("Neg", "l")], {"x": x}, -(x * z * z * z), {**three, **yes})
    within = helper.make_graph([node("Identity", "d", "e"), node("Add", "u s", "v")], "within", [info("j", I, []), info("d", B, []), info("u", F, [2, 3])], [info("e", B, []), info("v", F, [2, 3])])
    nested = body([stay, node("Loop", "two c z", "t", body=within)], "s", "t")
    state = x
    for _ in range(3):
        state = z + 2 * state
    add("loop_nested", [node("Loop", "n k x", "l", body=nested), node("Neg", "l")], {"x": x, "z": z}, -state, {**three, **yes, "two": np.array(2, np.int64)})
    ends = body([node("Add", "s p", "t"), node("ReduceMax", "t", "m", keepdims=0), node("Less", "m lim", "h")], "s", "t")
    p, state, trips = np.abs(z) + np.float32(.5), x, 0
    while trips < 20:
        state, trips = state + p, trips + 1
        if not state.max() < 9:
            break
    add("loop_until", [node("Loop", "most k x", "l", body=ends), node("Neg", "l")], {"x": x, "p": p}, -state, {**yes, "lim": np.float32(9), "most": np.array(20, np.int64)})
    add("loop_until_unbounded", [node("Loop", "- k x", "l", body=ends), node("Neg", "l")], {"x": x, "p": p}, -state, {**yes, "lim": np.float32(9)})
    # The body's own names hide those around it.
    hides = helper.make_graph([node("Identity", "c", "h"), node("Add", "x one", "y")], "hides", trip + [info("x", F, [2, 3])], [info("h", B, []), info("y", F, [2, 3])])
    add("loop_hides_names", [node("Loop", "n k z", "l", body=hides), node("Sub", "l x")], {"x": x, "z": z}, z + 3 - x, {**three, **yes, "one": np.float32(1)}, skip_reference=True)


def scans():
    x, s = f32(4, 3), f32(3)
    g = lambda nodes, ins, outs: helper.make_graph(nodes, "scan", [info(n, F, None) for n in ins.split()], [info(n, F, None) for n in outs.split()])
    run = g([node("Add", "a e", "n"), node("Mul", "n k", "o")], "a e", "n o")
    k = {"k": f32(3)}
    total = np.cumsum(np.concatenate([s[None], x]), 0)[1:]
    add("scan_reads_outer", [node("Scan", "s x", "l o", body=run, num_scan_inputs=1), node("Concat", "o x", axis=0)], {"s": s, "x": x}, np.concatenate([total * k["k"], x]), k)
    z = f32(3, 4)
    both = g([node("Mul", "e f", "p"), node("Add", "a p", "n"), node("Sub", "n f", "o")], "a e f", "n o")
    for i, (back, flip) in enumerate((([0, 0], 0), ([1, 0], 0), ([0, 1], 1), ([1, 1], 1))):
        e, f = x[::-1] if back[0] else x, z.T[::-1] if back[1] else z.T
        state, out = s, []
        for t in range(4):
            state = state + e[t] * f[t]
            out.append(state - f[t])
        out = np.stack(out[::-1] if flip else out, 1)
        add(f"scan_two_{i}", [node("Scan", "s x z", "l o", body=both, num_scan_inputs=2, scan_input_axes=[0, 1], scan_input_directions=back, scan_output_directions=[flip], scan_output_axes=[1]), node("Neg", "o")],
            {"s": s, "x": x, "z": z}, -out)
    none = g([node("Relu", "e", "o")], "e", "o")
    add("scan_no_state", [node("Scan", "x", "o", body=none, num_scan_inputs=1), node("Neg", "o")], {"x": x}, -np.maximum(x, 0), skip_reference=True)


def lists():
    a, b, c = f32(2, 3), f32(1, 3), f32(4, 3)
    three, build = {"a": a, "b": b, "c": c}, node("SequenceConstruct", "a b c", "s")
    last = node("ConcatFromSequence", "t", axis=0)
    some = lambda n: helper.make_tensor_sequence_value_info(n, F, None)
    for k, p in enumerate((-1, -2, 1)):
        for kind in (np.int32, np.int64):
            add(f"lists_erase_{k}_{kind.__name__}", [build, node("SequenceErase", "s p", "t"), last], three, np.concatenate([v for i, v in enumerate((a, b, c)) if i != p % 3]), {"p": kind(p)})
    two = helper.make_graph([node("Mul", "i k", "o"), node("Neg", "i", "m")], "two", [info("i", F, None), info("k", F, None)], [info("o", F, None), info("m", F, None)])
    k = f32(1, 3)
    add("lists_map_two_outputs", [build, node("SequenceMap", "s k", "t u", body=two), node("ConcatFromSequence", "t", "v", axis=0), node("ConcatFromSequence", "u", "w", axis=0), node("Concat", "v w", axis=1)],
        {**three, "k": k}, np.concatenate([np.concatenate([v * k for v in (a, b, c)]), np.concatenate([-v for v in (a, b, c)])], 1), skip_onnxruntime=True)
    outer = helper.make_graph([node("Add", "i k", "o")], "outer", [info("i", F, None)], [info("o", F, None)])
    add("lists_map_reads_outer", [build, node("SequenceMap", "s", "t", body=outer), last], {**three, "k": k}, np.concatenate([v + k for v in (a, b, c)]), skip_onnxruntime=True, skip_reference=True)
    add("lists_length", [build, node("SequenceInsert", "s a", "t"), node("SequenceLength", "t", "n"), node("Cast", "n", "f", to=F), node("Mul", "f k")], {**three, "k": k}, 4 * k)
    add("lists_of_lists", [build, node("SequenceAt", "s p", "q"), node("SequenceErase", "s p", "t"), node("SequenceInsert", "t q r", "u"), node("ConcatFromSequence", "u", axis=0)], three,
        np.concatenate([b, a, c]), {"p": np.array(1, np.int64), "r": np.array(0, np.int64)})
    y = f32(6, 4)
    for axis in (0, 1):
        parts = np.split(y, [1, 3], axis)
        add(f"lists_split_{axis}", [node("SplitToSequence", "x z", "s", axis=axis), node("SequenceAt", "s p", "u"), node("Neg", "u")], {"x": y}, -parts[1], {"z": ints(1, 2, y.shape[axis] - 3), "p": np.array(1, np.int64)})
    flag = lambda v: {"f": np.array(v)}
    yes = helper.make_graph([node("SequenceAt", "s p", "v")], "yes", [], [info("v", F, None)])
    no = helper.make_graph([node("SequenceAt", "s q", "w"), node("Neg", "w", "u")], "no", [], [info("u", F, None)])
    same = {"a": a, "b": a + 1, "c": a * 2}
    for v in (True, False):
        add(f"lists_read_in_branch_{v}".lower(), [build, node("If", "f", "r", then_branch=yes, else_branch=no), node("Abs", "r")], {**same, **flag(v)}, np.abs(same["b"] if v else same["c"]),
            {"p": np.array(1, np.int64), "q": np.array(-1, np.int64)})


def make():
    functions()
    branches()
    loops()
    scans()
    lists()
