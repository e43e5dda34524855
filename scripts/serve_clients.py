"""usage: serve_clients.py CLIENT GRPC HTTP FOLDER

Asks the servers at the addresses GRPC and HTTP with the client library of CLIENT: triton, kserve or mlserver. FOLDER has
MODEL.npz for each model: inputs as in.NAME and outputs as out.NAME, computed by ONNX Runtime. Exits 1 when an answer
differs, or an error is not the protocol's.
"""
import asyncio
import glob
import json
import os
import sys
import urllib.error
import urllib.request

import numpy as np

DATATYPES = {"bool": "BOOL", "float16": "FP16", "float32": "FP32", "float64": "FP64"}
right, wrong = 0, []


def datatype(a):
    return DATATYPES.get(a.dtype.name) or a.dtype.name.upper()


def check(what, got, want):
    global right
    if got is None or got.dtype != want.dtype or got.shape != want.shape or not np.allclose(
            got.astype(np.float64), want.astype(np.float64), rtol=1e-4, atol=1e-5):
        wrong.append(f"{what}: {got}, want {want}")
    else:
        right += 1


def true(what, value):
    global right
    if value is not True:
        wrong.append(f"{what}: {value}, want True")
    else:
        right += 1


def cases(folder):
    for path in sorted(glob.glob(folder + "/*.npz")):
        data = np.load(path)
        yield os.path.basename(path)[:-4], {k[3:]: data[k] for k in data if k.startswith("in.")}, {
            k[4:]: data[k] for k in data if k.startswith("out.")}


def triton(grpc_at, http_at, folder):
    import tritonclient.grpc as tg
    import tritonclient.http as th
    for kind, module, c in (("grpc", tg, tg.InferenceServerClient(grpc_at)), ("http", th, th.InferenceServerClient(http_at))):
        for what in ("is_server_live", "is_server_ready"):
            true(f"triton {kind} {what}", getattr(c, what)())
        about = c.get_server_metadata()
        name = about.name if kind == "grpc" else about["name"]
        true(f"triton {kind} name", name == "anynpu")
        for model, inputs, outputs in cases(folder):
            true(f"triton {kind} {model} ready", c.is_model_ready(model))
            c.get_model_metadata(model)
            ins = []
            for n, a in inputs.items():
                i = module.InferInput(n, a.shape, datatype(a))
                i.set_data_from_numpy(a)
                ins.append(i)
            outs = [module.InferRequestedOutput(n) for n in outputs]
            for more in ({}, {"outputs": outs}, {"outputs": outs, "request_id": "7"},
                         {"compression_algorithm": "gzip"} if kind == "grpc" else {"request_compression_algorithm": "gzip"}):
                r = c.infer(model, ins, **more)
                for n, a in outputs.items():
                    check(f"triton {kind} {model} {n}", r.as_numpy(n), a)
        calls = c.infer if kind == "grpc" else c.infer
        for model, says in (("nosuch", "unknown model"), ("digits", "unexpected inference input")):
            i = module.InferInput("nosuch", [1], "FP32")
            i.set_data_from_numpy(np.zeros(1, np.float32))
            try:
                calls(model, [i])
                wrong.append(f"triton {kind} {model}: no error")
            except module.InferenceServerException as e:
                true(f"triton {kind} {model} says {e}", says in str(e))
        index = c.get_model_repository_index()
        names = [m.name for m in index.models] if kind == "grpc" else [m["name"] for m in index]
        true(f"triton {kind} index {names}", "digits" in names)
        c.unload_model("digits")
        true(f"triton {kind} unloaded", not c.is_model_ready("digits"))
        c.load_model("digits")
        true(f"triton {kind} loaded", c.is_model_ready("digits"))
        c.close()
    c = th.InferenceServerClient(http_at)
    stats = c.get_inference_statistics("digits")["model_stats"][0]
    true(f"triton statistics {stats}", stats["inference_stats"]["success"]["count"] > 0)
    c.close()


def kserve(grpc_at, http_at, folder):
    from kserve import InferenceGRPCClient, InferenceRESTClient, InferInput, InferRequest
    from kserve.inference_client import RESTConfig

    async def ask():
        url = "http://" + http_at
        rest = InferenceRESTClient(RESTConfig(protocol="v2"))
        grpc = InferenceGRPCClient(grpc_at)
        true("kserve grpc live", await grpc.is_server_live())
        true("kserve grpc ready", await grpc.is_server_ready())
        true("kserve rest live", await rest.is_server_live(url))
        true("kserve rest ready", await rest.is_server_ready(url))
        for model, inputs, outputs in cases(folder):
            true(f"kserve grpc {model} ready", await grpc.is_model_ready(model))
            true(f"kserve rest {model} ready", await rest.is_model_ready(url, model))
            for kind in ("grpc", "rest raw", "rest"):
                ins = []
                for n, a in inputs.items():
                    i = InferInput(n, list(a.shape), datatype(a))
                    i.set_data_from_numpy(a, binary_data=kind != "rest")
                    ins.append(i)
                if kind == "rest" and any(a.dtype == np.float16 for a in inputs.values()):
                    continue  # half precision has no form in JSON
                extra = {} if kind == "grpc" else {"request_outputs": None}
                if kind == "rest raw":
                    from kserve.protocol.infer_type import RequestedOutput
                    extra = {"request_outputs": [RequestedOutput(n, parameters={"binary_data": True}) for n in outputs]}
                q = InferRequest(model_name=model, infer_inputs=ins, request_id="7", **extra)
                if kind == "grpc":
                    r = await grpc.infer(q)
                else:
                    r = await rest.infer(url, q, model_name=model)
                got = {o.name: o.as_numpy() for o in r.outputs}
                for n, a in outputs.items():
                    check(f"kserve {kind} {model} {n}", got.get(n), a)
        await grpc.close()
        await rest.close()

    asyncio.run(ask())


def mlserver(grpc_at, http_at, folder):
    import grpc
    from mlserver.codecs import NumpyCodec
    from mlserver.grpc import dataplane_pb2 as pb
    from mlserver.grpc.converters import ModelInferRequestConverter, ModelInferResponseConverter
    from mlserver.grpc.dataplane_pb2_grpc import GRPCInferenceServiceStub
    from mlserver.types import InferenceRequest, InferenceResponse
    with grpc.insecure_channel(grpc_at) as channel:
        stub = GRPCInferenceServiceStub(channel)
        true("mlserver live", stub.ServerLive(pb.ServerLiveRequest()).live)
        true("mlserver ready", stub.ServerReady(pb.ServerReadyRequest()).ready)
        for model, inputs, outputs in cases(folder):
            if any(a.dtype == np.float16 for a in inputs.values()):
                continue  # its typed contents have no half precision
            stub.ModelMetadata(pb.ModelMetadataRequest(name=model))
            q = InferenceRequest(id="7", inputs=[NumpyCodec.encode_input(n, a) for n, a in inputs.items()])
            body = q.model_dump_json(exclude_none=True).encode()  # the converter takes raw data out of q
            answers = {}
            for raw in (False, True):
                m = ModelInferRequestConverter.from_types(q, model_name=model, model_version="1", use_raw=raw)
                r = ModelInferResponseConverter.to_types(stub.ModelInfer(m))
                answers[f"grpc raw={raw}"] = r
            h = urllib.request.Request(f"http://{http_at}/v2/models/{model}/infer", body, {"Content-Type": "application/json"})
            answers["rest"] = InferenceResponse.model_validate(json.load(urllib.request.urlopen(h)))
            for kind, r in answers.items():
                got = {o.name: NumpyCodec.decode_output(o) for o in r.outputs}
                for n, a in outputs.items():
                    check(f"mlserver {kind} {model} {n}", got.get(n), a)


{"triton": triton, "kserve": kserve, "mlserver": mlserver}[sys.argv[1]](*sys.argv[2:])
for w in wrong[:10]:
    print(w)
print(f"{sys.argv[1]}: {right} of {right + len(wrong)} right")
sys.exit(bool(wrong))
