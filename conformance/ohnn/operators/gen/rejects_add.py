"""What AddOperation and Finish refuse: numbers of inputs, outputs and parameters, and every parameter's type, element count, data, range."""

from case import CASES
from near import ADD, BUILD, FINISH, Base, base, near, parameter, refuse
from operators import ADVISED, OPERATORS, REQUIRED, Operator

WRONG = {"int64": ["int32", "float32"], "int32": ["int64", "int8"], "int8": ["int32", "bool"], "bool": ["int8", "int32"], "float32": ["float64", "int32"]}


def counts(o):
    b = base(o.name)
    extra = len(b.tensors)
    n = len(b.ins)
    if o.more:
        refuse(b, "input_too_few", "inputs", ADD, ins=b.ins[:1], mentions=[])
    elif o.fewer:
        refuse(b, "input_too_few", "inputs", BUILD, ins=b.ins[:1], mentions=["input"])
        refuse(b, "input_too_many", "inputs", BUILD, ins=b.ins[:2] + [b.ins[1]] * 2, mentions=["input"])
    else:
        if n > 1:  # no inputs at all are refused before the operator is looked at
            refuse(b, "input_too_few", "inputs", ADD, ins=b.ins[:-1], mentions=["inputIndices"])
        else:
            near(b, "input_too_few", "inputs", ADD, ins=[], mentions=["inputIndices"])
        refuse(b, "input_too_many", "inputs", ADD, ins=b.ins + b.ins[-1:], mentions=["inputIndices"])
    if len(b.outs) > 1 and o.outputs > 0:
        refuse(b, "output_too_few", "outputs", ADD, outs=b.outs[:-1], mentions=["outputIndices"])
    else:
        near(b, "output_too_few", "outputs", ADD, outs=[], mentions=["outputIndices"])
    if o.outputs > 0:
        more = {k: v for k, v in b.output(0).items() if k != "param"}
        refuse(b, "output_too_many", "outputs", ADD, {extra: more}, outs=b.outs + [extra], mentions=["outputIndices"])


def foreign(o):
    b = base(o.name)
    extra = len(b.tensors)
    other = "CONCAT_AXIS" if o.name == "SOFTMAX" else "SOFTMAX_AXIS"
    kept = b.params[: max(0, len(o.params) - 1)]
    shown = "parameters" if o.params else "paramIndices"
    p = parameter(other, "int64", [0])
    refuse(b, "parameter_of_another_operator", "parameters", ADD, {extra: p}, params=kept + [extra], mentions=["OH_NN_" + other] if o.params else [shown])
    refuse(b, "parameter_of_no_kind", "parameters", ADD, {extra: {k: v for k, v in p.items() if k != "param"}}, params=kept + [extra], mentions=["OH_NN_TENSOR"] if o.params else [shown])
    if o.name == "LAYER_NORM":
        refuse(b, "parameter_elementwise_affine", "parameters", ADD, {extra: parameter("LAYER_NORM_ELEMENTWISE_AFFINE", "bool", 1)}, params=kept + [extra],
               mentions=["OH_NN_LAYER_NORM_ELEMENTWISE_AFFINE"])
    if len(o.params) > 1:
        full = {extra + k: example(o, p) for k, p in enumerate(o.params)}
        full[extra + len(o.params)] = example(o, o.params[0])
        refuse(b, "parameter_too_many", "parameters", ADD, full, params=list(full), mentions=["paramIndices.size"])
        many = base(o.name, lambda b: len(b.params) > 1)
        if many:
            near(many, "parameters_in_another_order", "parameters", params=many.params[::-1])


def example(o, p):
    """A tensor of a parameter with a value that AddOperation takes."""
    n = {"list": 2, "four": [[0, 0], [0, 0]], "pair": [1, 1], "pairs": [[0, 0], [0, 0]], "scalar": p.default, "pad": [0] if p.name == "PAD_MODE" else [0, 0, 0, 0]}.get(p.count, [0])
    return parameter(f"{o.name}_{p.name}", p.dtype, [1, 1] if n == 2 else n)


def other_value(p, t):
    """Another value that AddOperation takes."""
    if p.dtype == "bool":
        return [1 - v for v in t["data"]]
    if p.hi is not None:
        return [p.hi if v == p.lo else p.lo for v in t["data"]]
    return [v + 1 for v in t["data"]]


def parameters(o):
    for p in o.params:
        full = f"OH_NN_{o.name}_{p.name}"
        b = base(o.name, lambda b: b.param(p.name) is not None)
        name = p.name.lower()
        if b is None:  # a parameter that is refused whenever it says something: see rejects_values.py
            b = base(o.name)
            i, params = len(b.tensors), b.params + [len(b.tensors)]
            t = example(o, p)
            near(b, name + "_of_its_default", p.name, tensors={i: t}, params=params)
        else:
            i, params = b.param(p.name), None
            t = b.tensors[i]

        def refused(suffix, change, shown=full):
            new = {**t, **change} if params else change
            refuse(b, name + suffix, p.name, ADD, {i: new}, params=params, mentions=[shown])

        for kind in WRONG[p.dtype]:
            if (p.name, kind) != ("COORDINATE_TRANSFORM_MODE", "int32"):  # the manual promises int32, the reference takes int8
                refused("_of_" + kind, {"type": kind})
        refused("_without_data", {"data": None})
        elements(o, p, b, i, t, params, refused)
        if p.lo is not None and p.name != "BEGIN_NORM_AXIS":
            for suffix, v in (("_below", p.lo - 1), ("_above", p.hi + 1)):
                refused(suffix, {"data": [v]}, p.name)
        twice(o, p, b, i, t, params, full)
        if p.default == REQUIRED:
            refuse(b, name + "_left_out", p.name, FINISH, params=[k for k in b.params if k != i], mentions=[p.name])
        elif p.default == ADVISED:
            refuse(b, name + "_left_out", p.name, BUILD, params=[k for k in b.params if k != i], mentions=[p.name])


def elements(o, p, b, i, t, params, refused):
    v = t["data"]
    name = p.name.lower()
    if p.count == "one":
        refused("_of_two_elements", {"dims": [2], "data": v * 2})
        near(b, name + "_as_scalar", p.name, tensors={i: {**t, "dims": []} if params else {"dims": []}}, params=params)
    elif p.count == "scalar":
        refused("_of_shape_1", {"dims": [1]})
    elif p.count == "first":
        two = {"dims": [2], "data": v + other_value(p, t)}
        near(b, name + "_of_two_elements_first_counts", p.name, tensors={i: {**t, **two} if params else two}, params=params)
    elif p.count == "pad":
        for n in (2, 3, 5):
            refused(f"_of_{n}_elements", {"type": "int64", "dims": [n], "data": [0] * n})
    elif p.count == "four":
        refused("_of_two_elements", {"dims": [2], "data": v[:2]})
        near(b, name + "_in_one_dimension", p.name, tensors={i: {"dims": [4]}})
    elif p.count == "pair":
        refused("_of_rank_2", {"dims": [1, 2]})
        refused("_of_one_element", {"dims": [1], "data": v[:1]})
        refused("_of_three_elements", {"dims": [3], "data": v + v[:1]})
    elif p.count == "pairs":
        refused("_of_rank_1", {"dims": [4]})
        refused("_of_two_elements", {"dims": [1, 2], "data": v[:2]})
        refused("_of_six_elements", {"dims": [3, 2], "data": v + v[:2]})


def twice(o, p, b, i, t, params, full):
    """One given twice counts as two; of those the last one holds."""
    given = params or b.params
    extra = max(len(b.tensors), i + 1)
    earlier = {**t, "data": other_value(p, t)}
    tensors = {extra: earlier, **({i: t} if params else {})}
    if len(given) + 1 > len(o.params):
        refuse(b, p.name.lower() + "_twice", p.name, ADD, tensors, params=[extra] + given, mentions=["paramIndices.size", full])
    else:
        near(b, p.name.lower() + "_twice_the_last_counts", p.name, tensors=tensors, params=[extra] + given)


def defaults(o):
    """A parameter that is given with its default means what its absence means."""
    for p in o.params:
        if p.default is None or p.default in (REQUIRED, ADVISED, []):
            continue
        absent = lambda b: b.param(p.name) is None
        b = base(o.name, absent) or next(b for b in map(Base, CASES[o.name]) if "reject" not in b.c and absent(b))  # no BETA copies its input
        i = len(b.tensors)
        value = p.default if p.count == "scalar" or isinstance(p.default, list) else [p.default]
        near(b, p.name.lower() + "_given_with_its_default", p.name, tensors={i: parameter(f"{o.name}_{p.name}", p.dtype, value)}, params=b.params + [i])


def same_meaning(o):
    """Enumerators that stand for each other, and a pad list that a mode overrides."""
    by_name = {p.name: p for p in o.params}
    if "PAD_MODE" in by_name:
        b = base(o.name, lambda b: b.param("PAD_MODE") is not None)
        near(b, "pad_mode_by_the_name_of_the_list", "PAD_MODE", tensors={b.param("PAD_MODE"): {"param": f"{o.name}_PAD"}})
        valid = base(o.name, lambda b: b.param("PAD_MODE") is not None and b.tensors[b.param("PAD_MODE")]["data"] == [1])
        near(valid, "pad_mode_2_is_valid_too", "PAD_MODE", tensors={valid.param("PAD_MODE"): {"data": [2]}})
        i = len(b.tensors)
        near(b, "pad_beside_a_mode_does_not_count", "PAD", tensors={i: parameter(f"{o.name}_PAD", "int64", [1, 1, 1, 1])}, params=b.params + [i])
        b = base(o.name, lambda b: b.param("PAD") is not None and any(b.tensors[b.param("PAD")]["data"]))
        near(b, "pad_by_the_name_of_the_mode", "PAD", tensors={b.param("PAD"): {"param": f"{o.name}_PAD_MODE"}})
    if o.name in ("AVG_POOL", "MAX_POOL"):
        other = {"AVG_POOL": "MAX_POOL", "MAX_POOL": "AVG_POOL"}[o.name]
        for p in o.params:
            b = base(o.name, lambda b: b.param(p.name) is not None)
            near(b, p.name.lower() + "_of_the_other_pool", p.name, tensors={b.param(p.name): {"param": f"{other}_{p.name}"}})
    if o.name == "RESIZE_BILINEAR":
        b = base(o.name, lambda b: b.param("COORDINATE_TRANSFORM_MODE") is not None)
        near(b, "coordinate_transform_mode_as_the_manual_has_it", "COORDINATE_TRANSFORM_MODE", tensors={b.param("COORDINATE_TRANSFORM_MODE"): {"type": "int32"}})


def make():
    for op in OPERATORS:
        o = Operator(op)
        defaults(o)
        same_meaning(o)
        counts(o)
        foreign(o)
        parameters(o)
