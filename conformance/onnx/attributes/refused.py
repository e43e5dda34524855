"""Models that no importer may take: each operator with inputs, outputs and attributes that its definition does not have."""
import onnx
import onnxruntime as ort
from onnx import AttributeProto, ModelProto, defs, helper

from sweep import base

MANY = 2 ** 31 - 1


def refuses(model):
    """Whether the checker of the onnx package and ONNX Runtime both refuse a model."""
    try:
        onnx.checker.check_model(model, full_check=True)
        return False
    except Exception:
        pass
    try:
        ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        return False
    except Exception:
        return True


def changed(model, at, change):
    m = ModelProto()
    m.CopyFrom(model)
    change(m.graph.node[at])
    return m


def keep(items, values):
    del items[:]
    items.extend(values)


def forms(node, schema):
    """The ways in which a node can be wrong."""
    ins, outs = list(node.input), list(node.output)
    if schema.min_input > 0:
        yield "too_few_inputs", lambda n: keep(n.input, ins[:schema.min_input - 1])
        yield "no_inputs", lambda n: keep(n.input, [])
        yield "input_without_source", lambda n: keep(n.input, ["nowhere"] + ins[1:])
        yield "first_input_absent", lambda n: keep(n.input, [""] + ins[1:])
        yield "last_input_absent", lambda n: keep(n.input, ins[:schema.min_input - 1] + [""] + ins[schema.min_input:])
    if schema.max_input < MANY:
        yield "too_many_inputs", lambda n: keep(n.input, ins + ins[:1] * (schema.max_input + 1 - len(ins)))
    if schema.max_output < MANY:
        yield "too_many_outputs", lambda n: keep(n.output, outs + [f"more{i}" for i in range(schema.max_output + 1 - len(outs))])
    yield "no_outputs", lambda n: keep(n.output, [])
    for name, a in schema.attributes.items():
        rest = [b for b in node.attribute if b.name != name]
        if a.required:
            yield f"without_{name}", lambda n, rest=rest: keep(n.attribute, rest)
        other = helper.make_attribute(name, "text" if a.type != defs.OpSchema.AttrType.STRING else 3.5)
        yield f"wrong_type_of_{name}", lambda n, rest=rest, other=other: keep(n.attribute, rest + [other])
        given = [b for b in node.attribute if b.name == name]
        if given:
            yield f"{name}_twice", lambda n, given=given: n.attribute.extend(given)


def make():
    plain = {}
    for name, (model, _, _) in base.cases.items():
        opset = next(o.version for o in model.opset_import if o.domain in ("", "ai.onnx"))
        for at, n in enumerate(model.graph.node):
            if n.domain:
                continue
            since = defs.get_schema(n.op_type, opset).since_version
            old = plain.get((n.op_type, since))
            if old is None or len(model.graph.node) < len(old[0].graph.node):
                plain[n.op_type, since] = (model, at, opset)
    for (op, since), (model, at, opset) in sorted(plain.items()):
        for form, change in forms(model.graph.node[at], defs.get_schema(op, opset)):
            m = changed(model, at, change)
            if refuses(m):
                base.cases[f"refused_{op.lower()}_{since}_{form}"] = (m, {}, {})
