"""Replicas of Ray Serve, each with an anynpu server of its own on a socket; Serve spreads the HTTP requests over them.

    ANYNPU=anynpu MODELS=/path/to/models serve run ray_serve:app

A Ray that runs already must have been started with this folder in PYTHONPATH. Requests go on as they are: /v2/... of
the protocol. A replica whose server ends fails its health check and is replaced.
"""
import http.client
import os
import socket
import subprocess
import tempfile

from ray import serve
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response


class Connection(http.client.HTTPConnection):
    """HTTP over a socket of this machine."""

    def __init__(self, path):
        super().__init__("localhost")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


@serve.deployment(num_replicas=2, max_ongoing_requests=64, health_check_period_s=5)
class AnyNPU:
    def __init__(self, anynpu, models):
        self.dir = tempfile.mkdtemp()
        self.path = self.dir + "/http"
        self.server = subprocess.Popen([anynpu, "serve", models, "--grpc", "off", "--http", "unix:" + self.path],
                                       stdout=subprocess.PIPE, text=True)
        for line in self.server.stdout:
            if line.startswith("ready: "):
                return
        raise RuntimeError(f"anynpu ended with {self.server.wait()}")

    def __del__(self):
        self.server.terminate()
        self.server.wait()
        os.rmdir(self.dir)

    def check_health(self):
        if self.server.poll() is not None:
            raise RuntimeError(f"anynpu ended with {self.server.returncode}")

    def ask(self, method, path, body, headers):
        c = Connection(self.path)
        try:
            c.request(method, path, body, headers)
            r = c.getresponse()
            return r.status, r.read(), dict(r.getheaders())
        finally:
            c.close()

    async def __call__(self, request: Request):
        keep = ("content-type", "inference-header-content-length", "content-encoding")
        headers = {k: v for k, v in request.headers.items() if k in keep}
        status, body, answer = await run_in_threadpool(self.ask, request.method, request.url.path, await request.body(),
                                                       headers)
        return Response(body, status, {k: v for k, v in answer.items() if k.lower() in (*keep, "retry-after", "server-timing")})


app = AnyNPU.bind(os.environ.get("ANYNPU", "anynpu"), os.environ.get("MODELS", "models"))
