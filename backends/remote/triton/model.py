# Computes model.onnx with ONNX Runtime in Triton's Python backend, for a Triton that lacks the onnxruntime backend.
# ORT_SITE names a folder with onnxruntime and numpy, if Triton's Python has none.
import os
import sys

for folder in filter(None, os.environ.get("ORT_SITE", "").split(os.pathsep)):
    sys.path.insert(0, folder)

import onnxruntime  # noqa: E402
import triton_python_backend_utils as pb_utils  # noqa: E402


class TritonPythonModel:
    def initialize(self, args):
        path = os.path.join(args["model_repository"], args["model_version"], "model.onnx")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.inputs = [i.name for i in self.session.get_inputs()]
        self.outputs = [o.name for o in self.session.get_outputs()]

    def execute(self, requests):
        answers = []
        for request in requests:
            given = {name: pb_utils.get_input_tensor_by_name(request, name).as_numpy() for name in self.inputs}
            wanted = [name for name in self.outputs if name in request.requested_output_names()] or self.outputs
            made = self.session.run(wanted, given)
            answers.append(pb_utils.InferenceResponse([pb_utils.Tensor(n, v) for n, v in zip(wanted, made)]))
        return answers
