package node

import (
	"archive/zip"
	"context"
	"path"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/internal/tensordiff"
)

// RunArchive computes on a device every case of an archive, which has a folder per case, and calls report with the name
// and the outcome of each. A result is within the case's own tolerance, or, without one, 1e-4 of its size.
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
		report(name, RunCase(context.Background(), z, name, d, tol))
	}
}
