# Serves model.onnx beside this file with KServe and ONNX Runtime:
#   python kserve_model.py --http_port PORT --grpc_port PORT [--grpc_max_receive_message_length BYTES ...]
import json
import os

import onnxruntime
from kserve import InferOutput, InferRequest, InferResponse, Model, ModelServer

HERE = os.path.dirname(os.path.abspath(__file__))


class Ort(Model):
    def __init__(self, about):
        super().__init__(about["name"])
        self.about = about
        self.ready = False

    def load(self):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        path = os.path.join(HERE, "model.onnx")
        self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.ready = True
        return self.ready

    async def get_input_types(self):
        return self.about["inputs"]

    async def get_output_types(self):
        return self.about["outputs"]

    def predict(self, payload: InferRequest, headers=None, response_headers=None) -> InferResponse:
        given = {i.name: i.as_numpy() for i in payload.inputs}
        names = [o["name"] for o in self.about["outputs"]]
        outputs = []
        for about, value in zip(self.about["outputs"], self.session.run(names, given)):
            output = InferOutput(name=about["name"], shape=list(value.shape), datatype=about["datatype"])
            output.set_data_from_numpy(value, binary_data=True)
            outputs.append(output)
        return InferResponse(response_id=payload.id or "", model_name=self.name, infer_outputs=outputs)


if __name__ == "__main__":
    with open(os.path.join(HERE, "model.json")) as f:
        model = Ort(json.load(f))
    model.load()
    ModelServer().start([model])
