package node

import (
	"archive/zip"
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/internal/tensordiff"
)

// refused imports a model that must be refused.
func refused(z *zip.Reader, file string) error {
	data, err := fs.ReadFile(z, file)
	if err != nil {
		return err
	}
	weights := mem.NewWeights()
	defer weights.Release()
	if _, err = onnx.Import(data, onnx.Options{Weights: weights}); err == nil || fault.KindOf(err) == fault.Internal {
		return fmt.Errorf("the model is not refused: %v", err)
	}
	return nil
}

// RunArchive computes on a device every case of an archive, which has a folder per case, and calls report with the name
// and the outcome of each. A result is within the case's own tolerance, or, without one, 1e-4 of its size. A case whose
// name begins with refused_ is a model that no importer may take.
func RunArchive(z *zip.Reader, d device.Device, own map[string]tensordiff.Tolerance, report func(string, error)) {
	for _, f := range z.File {
		if path.Base(f.Name) != "model.onnx" {
			continue
		}
		name := path.Dir(f.Name)
		tol, ok := own[name]
		if !ok {
			tol = tensordiff.Tolerance{Rel: 1e-4, Abs: 2e-6}
		}
		if strings.HasPrefix(name, "refused_") {
			report(name, refused(z, f.Name))
			continue
		}
		report(name, RunCase(context.Background(), z, name, d, tol))
	}
}
