"""Inputs that say how to compute (axes, shapes, pads, multiples, ...) known only when the model runs: the judged case's result comes out."""

from near import RUN, base, near, refuse
from operators import OPERATORS, Operator

LATE = {"CAST"}  # whose type must be there before the operator is added


def fed(t, dims=None):
    return {"data": None, "feed": {"dims": t["dims"], "data": t["data"]}, "dims": t["dims"] if dims is None else dims}


def index_inputs(o):
    for i, x in enumerate(o.inputs):
        b = base(o.name, lambda b: i < len(b.ins) and b.input(i).get("data") and any("feed" in b.tensors[k] for k in b.ins))
        if x.kind != "index" or b is None or o.name in LATE:
            continue
        t = b.input(i)
        near(b, f"input_{i}_known_at_run_time", f"input {i}", tensors={b.ins[i]: fed(t)})
        if len(t["dims"]) == 1 and o.name != "CROP":  # where the number of values says what they are
            open_outputs = {k: {"dims": [-1] * len(b.tensors[k]["dims"])} for k in b.outs}
            near(b, f"input_{i}_of_unknown_length", f"input {i}", tensors={b.ins[i]: fed(t, [-1]), **open_outputs})


def to_the_end():
    for op in ("MEAN", "SUM", "PROD", "MAX", "MIN", "L2", "ALL"):
        op = "REDUCE_" + op
        for word in ("", "_coefficient"):
            b = base(op, lambda b: b.param("REDUCE_TO_END") is not None and b.tensors[b.param("REDUCE_TO_END")]["data"] == [1] and b.rank(0) > 1
                     and (b.param("COEFF") is not None and b.tensors[b.param("COEFF")]["data"] != [0]) == bool(word))
            if b is None:
                continue
            t = b.input(1)
            near(b, "axis_to_the_end_known_at_run_time" + word, "input 1", tensors={b.ins[1]: fed(t)})
            near(b, "axis_to_the_end_of_unknown_length" + word, "input 1", tensors={b.ins[1]: fed(t, [-1])})
            minus = {**fed(t), "feed": {"dims": t["dims"], "data": [t["data"][0] - b.rank(0)]}}
            near(b, "negative_axis_to_the_end_known_at_run_time" + word, "input 1", tensors={b.ins[1]: minus})
            for name, data in (("above", [b.rank(0)]), ("below", [-b.rank(0) - 1])):
                refuse(b, f"axis_to_the_end_{name}_at_run_time{word}", "input 1", RUN, {b.ins[1]: {**fed(t), "feed": {"dims": [1], "data": data}}})
            refuse(b, "two_axes_to_the_end_at_run_time" + word, "input 1", RUN, {b.ins[1]: {**fed(t, [-1]), "feed": {"dims": [2], "data": [0, 1]}}})


def tile():
    b = base("TILE", lambda b: b.param("DIMS") is not None and "data" in b.input(1))
    t = b.input(1)
    near(b, "multiples_of_dims_known_at_run_time", "input 1", tensors={b.ins[1]: fed(t)})
    near(b, "multiples_of_dims_of_unknown_length", "input 1", tensors={b.ins[1]: fed(t, [-1])})
    refuse(b, "more_multiples_than_dims_at_run_time", "input 1", RUN, {b.ins[1]: {**fed(t, [-1]), "feed": {"dims": [3], "data": [2, 2, 2]}}, b.outs[0]: {"dims": [-1] * b.rank(0)}})
    few = base("TILE", lambda b: "data" in b.input(1) and b.param("DIMS") is None and b.value(b.ins[1]).size < b.rank(0))
    if few:
        near(few, "fewer_multiples_known_at_run_time", "input 1", tensors={few.ins[1]: fed(few.input(1))})
        near(few, "fewer_multiples_of_unknown_length", "input 1", tensors={few.ins[1]: fed(few.input(1), [-1])})
    many = base("TILE", lambda b: "data" in b.input(1) and b.value(b.ins[1]).size > b.rank(0))
    if many:
        near(many, "more_multiples_of_unknown_length", "input 1", tensors={many.ins[1]: fed(many.input(1), [-1])})


def sizes():
    """Sizes that only the run knows and the operator is built with."""
    for n in range(2):
        b = base("DEPTHWISE_CONV2D_NATIVE", lambda b: (b.input(1)["dims"][0] > b.input(0)["dims"][3]) == bool(n))
        if b is None:
            continue
        near(b, f"channels_known_at_run_time_{n}", "input 0", tensors={b.ins[0]: {"dims": b.input(0)["dims"][:3] + [-1]}})
    t = b.input(0)
    wrong = t["dims"][:3] + [b.input(1)["dims"][0] + 1]
    count = wrong[0] * wrong[1] * wrong[2] * wrong[3]
    refuse(b, "more_channels_than_the_filter_at_run_time", "input 0", RUN, {b.ins[0]: {"dims": t["dims"][:3] + [-1], "feed": {"dims": wrong, "data": [1.0] * count}}}, mentions=["input 1"])
    b = base("LSTM", lambda b: len(b.output(0)["dims"]) == 3)
    near(b, "hidden_size_known_at_run_time", "input 2", tensors={b.ins[2]: {**fed_of(b.input(2)), "dims": b.input(2)["dims"][:2] + [-1]}})
    b = base("FULL_CONNECTION", lambda b: b.rank(0) != 2 and b.param("AXIS") is None)
    near(b, "row_length_known_at_run_time", "input 1", tensors={b.ins[1]: {**fed_of(b.input(1)), "dims": [b.input(1)["dims"][0], -1]}})
    b = base("CONV2D_TRANSPOSE")
    near(b, "filter_known_at_run_time", "input 1", tensors={b.ins[1]: {**fed_of(b.input(1)), "dims": [-1] * 4}})


def fed_of(t):
    return fed(t) if "data" in t else {"feed": t["feed"]}


def make():
    for op in OPERATORS:
        index_inputs(Operator(op))
    to_the_end()
    tile()
    sizes()
