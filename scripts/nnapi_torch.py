"""MobileNetV2 by PyTorch's NNAPI backend, float and 8 bits, against PyTorch's own results.

usage: nnapi_torch.py, with this project's libneuralnetworks.so on the loader's path. Weights are random, from a seed.
"""
import sys

import torch
from torch import nn
from torch.backends._nnapi.prepare import convert_model_to_nnapi

# Expansion, channels, repetitions and stride of the blocks: "MobileNetV2: Inverted Residuals and Linear Bottlenecks".
BLOCKS = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]


def convolution(inputs, outputs, kernel=3, stride=1, groups=1, active=True):
    parts = [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups)]
    return nn.Sequential(*parts, *([nn.ReLU()] if active else []))


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride, expansion):
        super().__init__()
        wide = inputs * expansion
        self.body = nn.Sequential(*([convolution(inputs, wide, 1)] if expansion > 1 else []),
                                  convolution(wide, wide, 3, stride, wide), convolution(wide, outputs, 1, active=False))
        self.adds = stride == 1 and inputs == outputs
        if self.adds:
            self.sum = nn.quantized.FloatFunctional()

    def forward(self, x):
        return self.sum.add(x, self.body(x)) if self.adds else self.body(x)


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        layers, channels = [convolution(3, 32, 3, 2)], 32
        for expansion, outputs, count, stride in BLOCKS:
            for i in range(count):
                layers.append(Block(channels, outputs, stride if i == 0 else 1, expansion))
                channels = outputs
        layers.append(convolution(channels, 1280, 1))
        self.features = nn.Sequential(*layers)
        self.pool = nn.AdaptiveAvgPool2d((1, 1))
        self.classes = nn.Linear(1280, 1000)
        self.before, self.after = torch.quantization.QuantStub(), torch.quantization.DeQuantStub()

    def forward(self, x):
        x = self.pool(self.features(self.before(x)))
        return self.after(self.classes(x.flatten(1)))


def compare(name, net, x, tolerance):
    x = x.contiguous(memory_format=torch.channels_last)
    x.nnapi_nhwc = True
    with torch.no_grad():
        want = net(x)
        got = convert_model_to_nnapi(torch.jit.trace(net, x), x)(x)
    worst = float((got - want).abs().max()) / float(want.abs().max())
    ok = worst <= tolerance
    print(f"{name}: {'right' if ok else 'WRONG'}, the worst of {want.numel()} numbers is {worst:.2g} of the largest off")
    return ok


def main():
    torch.manual_seed(1)
    x = torch.rand(1, 3, 224, 224)
    net = Network().eval()
    ok = compare("MobileNetV2, float", net, x, 1e-4)
    engine = next(e for e in ("qnnpack", "fbgemm") if e in torch.backends.quantized.supported_engines)
    torch.backends.quantized.engine = engine
    for m in list(net.modules()):  # fused ones get others
        if isinstance(m, nn.Sequential) and len(m) == 2 and isinstance(m[0], nn.Conv2d) and isinstance(m[1], nn.ReLU):
            torch.quantization.fuse_modules(m, ["0", "1"], inplace=True)
    net.qconfig = torch.quantization.get_default_qconfig("qnnpack")
    torch.quantization.prepare(net, inplace=True)
    with torch.no_grad():
        net(x)
    net = torch.quantization.convert(net)
    return compare("MobileNetV2, 8 bits", net, x, 0.02) and ok


sys.exit(0 if main() else 1)
