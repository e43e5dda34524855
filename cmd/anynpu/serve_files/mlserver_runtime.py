# Computes model.onnx with ONNX Runtime in MLServer:
#   PYTHONPATH=FOLDER mlserver start FOLDER
import onnxruntime
from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.types import InferenceRequest, InferenceResponse
from mlserver.utils import get_model_uri


class Ort(MLModel):
    async def load(self) -> bool:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        path = await get_model_uri(self.settings)
        self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        return True

    async def predict(self, payload: InferenceRequest) -> InferenceResponse:
        given = {}
        kinds = {i.name: i for i in self.session.get_inputs()}
        for i in payload.inputs:
            given[i.name] = NumpyCodec.decode_input(i).reshape(i.shape)
        names = [o.name for o in self.session.get_outputs()]
        made = self.session.run(names, {name: given[name] for name in kinds})
        outputs = [NumpyCodec.encode_output(name=n, payload=v) for n, v in zip(names, made)]
        return InferenceResponse(id=payload.id, model_name=self.name, outputs=outputs)
