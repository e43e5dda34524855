package hbucp

import (
	"sync"

	"github.com/anynpu/anynpu/capi/boundary"
)

// A target is a chip whose strides a program meets, so that one which ignores them shows on any machine. None reports
// gaps nowhere and takes all strides.
type target struct {
	name  string // value of ANYNPU_HBDNN_TARGET, empty: none
	soc   string // what hbUCPGetSocName says
	rows  int64  // what rows of codes, and strides that a program chooses, are a multiple of; 0: of anything
	cores uint64 // mask of its BPU cores
}

var targets = []target{
	{soc: "AnyNPU S100", cores: 1},
	{name: "s100", soc: "AnyNPU S100", rows: 32, cores: 1},
	{name: "s600", soc: "AnyNPU S600", rows: 64, cores: bpuCores},
}

// aimed is the target that ANYNPU_HBDNN_TARGET names; read once.
var aimed = sync.OnceValue(func() *target { return targetNamed(boundary.Getenv("ANYNPU_HBDNN_TARGET")) })

func targetNamed(name string) *target {
	for i := range targets {
		if targets[i].name == name {
			return &targets[i]
		}
	}
	api.Caution("value ignored [hbucp-value-ignored]", "ANYNPU_HBDNN_TARGET", name, "want", "s100, s600")
	return &targets[0]
}

// tellCores says once that a task asks for a core that there is not.
func (g *target) tellCores(mask uint64) {
	if mask&bpuCores&^g.cores != 0 {
		toldCores.Do(func() {
			api.Warn("a task asks for cores that this machine lacks: it runs on any "+
				"[hbucp-task-asks-cores]", "backend", mask, "cores", g.cores)
		})
	}
}

var toldCores sync.Once
