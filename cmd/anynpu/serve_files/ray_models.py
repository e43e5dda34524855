# Serves the models of this folder with Ray Serve and ONNX Runtime, over gRPC and HTTP. It needs ray[serve],
# onnxruntime and tritonclient[grpc], whose messages of the protocol it uses:
#   python ray_models.py --http_port PORT --grpc_port PORT [--replicas N] [--cpus PER_REPLICA] [--ray ADDRESS]
# A Ray that runs already, at ADDRESS, must have been started with this folder in PYTHONPATH.
# The gRPC port listens on all interfaces: Ray Serve has no setting for that.
import argparse
import asyncio
import glob
import json
import os
import signal

import grpc
import numpy as np
import ray
from ray import serve
from ray.serve.config import gRPCOptions
from ray.serve.grpc_util import RayServegRPCContext
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from tritonclient.grpc import service_pb2 as pb

HERE = os.path.dirname(os.path.abspath(__file__))
LENGTH = "Inference-Header-Content-Length"
TYPES = {"BOOL": "?", "INT8": "i1", "INT16": "<i2", "INT32": "<i4", "INT64": "<i8", "UINT8": "u1", "UINT16": "<u2",
         "UINT32": "<u4", "UINT64": "<u8", "FP16": "<f2", "FP32": "<f4", "FP64": "<f8"}


METHODS = ("ServerLive", "ServerReady", "ModelReady", "ServerMetadata", "ModelMetadata", "ModelInfer")


def add_service(servicer, server):
    """Adds the protocol's methods. Requests stay bytes on the way to a replica: messages cannot be pickled."""
    handlers = {name: grpc.unary_unary_rpc_method_handler(getattr(servicer, name)) for name in METHODS}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("inference.GRPCInferenceService", handlers),))


class Refused(Exception):
    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


class Model:
    def __init__(self, folder):
        import onnxruntime

        with open(os.path.join(folder, "model.json")) as f:
            about = json.load(f)
        self.name, self.inputs, self.outputs = about["name"], about["inputs"], about["outputs"]
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        path = os.path.join(folder, "model.onnx")
        self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    def array(self, name, datatype, shape, raw):
        """The array of an input, which must be as the model has it."""
        port = next((p for p in self.inputs if p["name"] == name), None)
        if port is None or port["datatype"] != datatype:
            raise Refused(400, f"input {name!r} is {datatype}, want one of {self.inputs}")
        if len(shape) != len(port["shape"]) or any(w not in (-1, n) for w, n in zip(port["shape"], shape)):
            raise Refused(400, f"input {name!r} has the shape {shape}, want {port['shape']}")
        kind = np.dtype(TYPES[datatype])
        if isinstance(raw, list):
            raw = np.asarray(raw, kind).tobytes()
        if len(raw) != kind.itemsize * int(np.prod(shape)):
            raise Refused(400, f"input {name!r} has {len(raw)} bytes, want {shape} of {datatype}")
        return np.frombuffer(raw, kind).reshape(shape)

    def run(self, given, wanted):
        """The outputs that are wanted, all without names, each with its port."""
        if sorted(given) != sorted(p["name"] for p in self.inputs):
            raise Refused(400, f"inputs {sorted(given)}, want {self.inputs}")
        ports = {p["name"]: p for p in self.outputs}
        names = list(wanted) or list(ports)
        for name in names:
            if name not in ports:
                raise Refused(400, f"no output {name!r}")
        made = self.session.run(names, given)
        return [(ports[n], np.ascontiguousarray(v, TYPES[ports[n]["datatype"]])) for n, v in zip(names, made)]


CODES = {400: grpc.StatusCode.INVALID_ARGUMENT, 404: grpc.StatusCode.NOT_FOUND, 500: grpc.StatusCode.INTERNAL}


@serve.deployment(max_ongoing_requests=64, health_check_period_s=2)
class Models:
    def __init__(self, folder):
        self.models = {}
        for path in sorted(glob.glob(os.path.join(folder, "*", "model.json"))):
            model = Model(os.path.dirname(path))
            self.models[model.name] = model

    def find(self, name):
        if name not in self.models:
            raise Refused(404, f"unknown model {name!r}")
        return self.models[name]

    async def call(self, context, f, kind, request):
        """f of a message on a thread; what it refuses becomes the call's status."""
        try:
            return await asyncio.to_thread(lambda: f(kind.FromString(request)))
        except Refused as e:
            context.set_code(CODES[e.status])
            context.set_details(str(e))
            raise

    # The methods of gRPC.
    async def ServerLive(self, request):
        return pb.ServerLiveResponse(live=True)

    async def ServerReady(self, request):
        return pb.ServerReadyResponse(ready=True)

    async def ServerMetadata(self, request):
        return pb.ServerMetadataResponse(name="ray-serve", version=ray.__version__, extensions=["binary_tensor_data"])

    async def ModelReady(self, request):
        return pb.ModelReadyResponse(ready=pb.ModelReadyRequest.FromString(request).name in self.models)

    async def ModelMetadata(self, request, grpc_context: RayServegRPCContext):
        def about(request):
            m = self.find(request.name)
            return pb.ModelMetadataResponse(name=m.name, versions=["1"], platform="onnxruntime", inputs=m.inputs,
                                            outputs=m.outputs)

        return await self.call(grpc_context, about, pb.ModelMetadataRequest, request)

    async def ModelInfer(self, request, grpc_context: RayServegRPCContext):
        return await self.call(grpc_context, self.infer, pb.ModelInferRequest, request)

    def infer(self, request):
        m = self.find(request.model_name)
        if len(request.raw_input_contents) != len(request.inputs):
            raise Refused(400, f"{len(request.raw_input_contents)} raw contents of {len(request.inputs)} inputs")
        given = {t.name: m.array(t.name, t.datatype, list(t.shape), raw)
                 for t, raw in zip(request.inputs, request.raw_input_contents)}
        answer = pb.ModelInferResponse(model_name=m.name, model_version="1", id=request.id)
        for port, value in m.run(given, [o.name for o in request.outputs]):
            answer.outputs.add(name=port["name"], datatype=port["datatype"], shape=value.shape)
            answer.raw_output_contents.append(value.tobytes())
        return answer

    # HTTP.
    async def __call__(self, request: Request):
        body = await request.body()
        try:
            return await asyncio.to_thread(self.http, request.method, request.url.path, request.headers, body)
        except Refused as e:
            return JSONResponse({"error": str(e)}, e.status)

    def http(self, method, path, headers, body):
        parts = path.strip("/").split("/")
        if parts == ["v2"]:
            return JSONResponse({"name": "ray-serve", "version": ray.__version__, "extensions": ["binary_tensor_data"]})
        if parts[:2] == ["v2", "health"]:
            return JSONResponse({parts[-1]: True})
        if parts[:2] != ["v2", "models"] or len(parts) < 3:
            raise Refused(404, f"no {path}")
        m, rest = self.find(parts[2]), parts[3:]
        if rest[:1] == ["versions"]:
            rest = rest[2:]
        if rest == ["ready"]:
            return JSONResponse({"name": m.name, "ready": True})
        if not rest:
            return JSONResponse({"name": m.name, "versions": ["1"], "platform": "onnxruntime", "inputs": m.inputs,
                                 "outputs": m.outputs})
        if rest != ["infer"] or method != "POST":
            raise Refused(404, f"no {path}")
        try:
            return self.infer_json(m, int(headers.get(LENGTH, len(body))), body)
        except (ValueError, KeyError, TypeError, AttributeError) as e:
            raise Refused(400, f"{type(e).__name__}: {e}") from e

    def infer_json(self, m, length, body):
        head, at = json.loads(body[:length]), length
        given = {}
        for t in head["inputs"]:
            raw = t.get("data")
            size = t.get("parameters", {}).get("binary_data_size")
            if size is not None:
                raw, at = body[at:at + size], at + size
            given[t["name"]] = m.array(t["name"], t["datatype"], t["shape"], raw)
        all_binary = head.get("parameters", {}).get("binary_data_output", False)
        asked = {o["name"]: o.get("parameters", {}).get("binary_data", all_binary) for o in head.get("outputs", [])}
        outputs, tail = [], b""
        for port, value in m.run(given, asked):
            out = {"name": port["name"], "datatype": port["datatype"], "shape": list(value.shape)}
            if asked.get(port["name"], all_binary):
                raw = value.tobytes()
                out["parameters"] = {"binary_data_size": len(raw)}
                tail += raw
            else:
                out["data"] = value.ravel().tolist()
            outputs.append(out)
        answer = {"model_name": m.name, "model_version": "1", "outputs": outputs}
        if "id" in head:
            answer["id"] = head["id"]
        if not any("parameters" in o for o in outputs):
            return JSONResponse(answer)
        text = json.dumps(answer).encode()
        return Response(text + tail, media_type="application/octet-stream", headers={LENGTH: str(len(text))})


if __name__ == "__main__":
    flags = argparse.ArgumentParser()
    flags.add_argument("--http_port", type=int, default=8000)
    flags.add_argument("--grpc_port", type=int, default=8001)
    flags.add_argument("--replicas", type=int, default=1)
    flags.add_argument("--cpus", type=float, default=1, help="of a replica")
    flags.add_argument("--ray", help="address of a Ray that runs")
    flags = flags.parse_args()
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [HERE, os.environ.get("PYTHONPATH")]))  # of Ray's processes
    ray.init(address=flags.ray)
    serve.start(proxy_location="HeadOnly", http_options={"host": "127.0.0.1", "port": flags.http_port},
                grpc_options=gRPCOptions(port=flags.grpc_port, grpc_servicer_functions=["ray_models.add_service"]))
    options = Models.options(num_replicas=flags.replicas, ray_actor_options={"num_cpus": flags.cpus})
    serve.run(options.bind(HERE), name="models", route_prefix="/")
    print("ready", flush=True)
    signal.sigwait({signal.SIGTERM, signal.SIGINT})
    serve.shutdown()
