//go:build !amd64 || noasm

package kernel

func gemmPanel(t *tileArgs) { gemmPanelGeneric(t) }

func pairs() bool { return false }
