//go:build !amd64 || noasm

package kernel

func intPanel(g *GemmInt8, sums []float32, r0, r1, j int) { intPanelGeneric(g, sums, r0, r1, j) }

func (d *DepthwiseInt8) dotWindow(**uint8, int, int, *uint8, *int32, *float32) {
	panic("kernel: DepthwiseInt8: no assembly in this build")
}
