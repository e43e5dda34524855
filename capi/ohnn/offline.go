package ohnn

import (
	"bytes"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
)

// foreignFormats are the first bytes of models that other software makes, for messages.
var foreignFormats = []struct{ start, name string }{
	{"RKNN", "a Rockchip RKNN model, which needs that vendor's device"},
	{"IMOD", "an offline model for Ascend or Kirin, which needs that vendor's device"},
	{"\x08", "perhaps an ONNX model, which has to be built by OH_NNModel calls"},
	{"PK", "a ZIP archive"},
}

// loadOffline restores an offline model of any format that this library reads, told by its content.
func loadOffline(d *npu, data []byte, o device.Options) (*compiled, error) {
	if bytes.HasPrefix(data, []byte(storedMagic)) {
		return loadModel(d, data, o)
	}
	what := "nothing known"
	for _, f := range foreignFormats {
		if bytes.HasPrefix(data, []byte(f.start)) {
			what = f.name
			break
		}
	}
	if len(data) > 8 && string(data[4:7]) == "MSL" {
		what = "a MindSpore Lite model, which its own engine has to build"
	}
	return nil, fault.New(fault.File, "this is %s: want what OH_NNCompilation_ExportCacheToBuffer wrote", what)
}
