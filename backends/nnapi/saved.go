package nnapi

import (
	"context"
	"io"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
)

// savedMagic begins saved programs.
const savedMagic = "ANPUNNA1"

// Save implements device.Program.
func (p *program) Save(w io.Writer) error { return p.Write(w, savedMagic, p.dev.Info().ID) }

// Load implements device.Device: it compiles again what Save has written.
func (d *Device) Load(ctx context.Context, data []byte) (device.Program, error) {
	return driver.Load(ctx, d, savedMagic, data)
}
