//go:build !amd64 || noasm

package kernel

func intPanel(g *GemmInt8, r0, r1, j int) { intPanelGeneric(g, r0, r1, j) }
