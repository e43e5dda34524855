package nnapi

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/devices"
	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// config holds the settings of the environment.
type config struct {
	level   nnapi.FeatureLevel // ANYNPU_NNAPI_FEATURE_LEVEL: the library's; the newest unless it is set
	devices []devices.Guise    // ANYNPU_NNAPI_DEVICES: guises of the processor
}

// settings returns the configuration, read once from the C environment.
var settings = sync.OnceValue(func() config { return readConfig(boundary.Getenv) })

func readConfig(getenv func(string) string) config {
	return config{level: readLevel(getenv("ANYNPU_NNAPI_FEATURE_LEVEL")),
		devices: guises.Read(getenv("ANYNPU_NNAPI_DEVICES"))}
}

// readLevel reads a feature level by its value in FeatureLevelCode; what is none means the newest.
func readLevel(text string) nnapi.FeatureLevel {
	newest := nnapi.Levels[len(nnapi.Levels)-1]
	if text == "" {
		return newest
	}
	n, err := strconv.ParseInt(text, 10, 64)
	var values []string
	for _, l := range nnapi.Levels {
		if err == nil && int64(l) == n {
			return l
		}
		values = append(values, fmt.Sprint(int64(l)))
	}
	caution("value ignored "+
		"[nnapi-value-ignored]", "ANYNPU_NNAPI_FEATURE_LEVEL", text, "want", strings.Join(values, ", "))
	return newest
}

// guises reads ANYNPU_NNAPI_DEVICES: devices before the processor, which compute as it does.
var guises = devices.Guises{Component: "nnapi", Variable: "ANYNPU_NNAPI_DEVICES",
	Attributes: []string{"as-gpu", "as-accelerator", "as-other"}, Operator: isOperation}

// isOperation reports whether the API has an operation of that name, without ANEURALNETWORKS_.
func isOperation(name string) bool {
	for code := range nnapi.OperationCode(nnapi.Operations) {
		if code.String() == name {
			return true
		}
	}
	return false
}
