// Package dl finds vendors' drivers: the manifests that name them, what is wrong with their files, and whether they can
// be opened, which a program of its own tries first. It opens nothing itself; backends/driver does.
//
// Sources: the search path and the manifests follow the loader of Vulkan (Loader Interface Architecture, Driver
// Discovery); docs/drivers.md is what users read.
package dl

import (
	"slices"
	"strconv"
	"strings"
)

// An API is one that has drivers.
type API struct {
	Name     string
	Required []string // symbols without which nothing works
	Table    *Table   // where a driver may have its functions if it does not export all of Required; nil: nowhere
	// Override reads the variable that names a driver's file, Setting the one that says where calls go. getenv returns
	// "" for everything in a set-id program.
	Override func(getenv func(string) string) string
	Setting  func(getenv func(string) string) string
	// Alone says that no program calls the API through this library: drivers are devices alone, all that can be used.
	Alone bool
}

// APIs are those with drivers.
var APIs = []API{
	{
		Name: "ohnn",
		Required: []string{"OH_NNDevice_GetAllDevicesID", "OH_NNModel_Construct", "OH_NNModel_Destroy",
			"OH_NNCompilation_Construct", "OH_NNCompilation_Build", "OH_NNCompilation_Destroy", "OH_NNExecutor_Construct",
			"OH_NNExecutor_Destroy"},
		Override: func(getenv func(string) string) string { return getenv("ANYNPU_DRIVER_OHNN") },
		Setting:  func(getenv func(string) string) string { return getenv("ANYNPU_OHNN") },
	},
	{
		Name:     "rknn",
		Required: []string{"rknn_init", "rknn_destroy", "rknn_query", "rknn_run"},
		Override: func(getenv func(string) string) string { return getenv("ANYNPU_DRIVER_RKNN") },
		Setting:  func(getenv func(string) string) string { return getenv("ANYNPU_RKNN") },
	},
	{
		Name: "hbdnn",
		Required: []string{"hbDNNGetVersion", "hbDNNInitializeFromFiles", "hbDNNRelease", "hbDNNGetModelNameList",
			"hbDNNGetModelHandle", "hbDNNGetInputTensorProperties", "hbDNNGetOutputTensorProperties", "hbDNNInfer",
			"hbDNNWaitTaskDone", "hbDNNReleaseTask", "hbSysAllocCachedMem", "hbSysFlushMem", "hbSysFreeMem"},
		Override: func(getenv func(string) string) string { return getenv("ANYNPU_DRIVER_HBDNN") },
		Setting:  func(getenv func(string) string) string { return getenv("ANYNPU_HBDNN") },
	},
	{
		Name: "hbucp",
		Required: []string{"hbDNNGetVersion", "hbDNNInitializeFromFiles", "hbDNNRelease", "hbDNNGetModelNameList",
			"hbDNNGetModelHandle", "hbDNNGetInputTensorProperties", "hbDNNGetOutputTensorProperties", "hbDNNInferV2",
			"hbUCPSubmitTask", "hbUCPWaitTaskDone", "hbUCPReleaseTask", "hbUCPMallocCached", "hbUCPMemFlush", "hbUCPFree"},
		Override: func(getenv func(string) string) string { return getenv("ANYNPU_DRIVER_HBUCP") },
		Setting:  func(getenv func(string) string) string { return getenv("ANYNPU_HBUCP") },
	},
	{
		Name: "nnapi",
		Required: []string{"ANeuralNetworksModel_create", "ANeuralNetworksModel_addOperand",
			"ANeuralNetworksModel_addOperation", "ANeuralNetworksModel_finish", "ANeuralNetworksCompilation_create",
			"ANeuralNetworksCompilation_finish", "ANeuralNetworksExecution_create", "ANeuralNetworksExecution_startCompute"},
		Table:    nnapiTable,
		Override: func(getenv func(string) string) string { return getenv("ANYNPU_DRIVER_NNAPI") },
		Setting:  func(getenv func(string) string) string { return getenv("ANYNPU_NNAPI") },
	},
	{
		Name:     RuntimeAPI,
		Required: []string{"OrtGetApiBase"},
		Override: func(getenv func(string) string) string { return runtimeFile(getenv("ANYNPU_ONNXRUNTIME")) },
		Setting: func(getenv func(string) string) string {
			value := getenv("ANYNPU_ONNXRUNTIME")
			if runtimeFile(value) != "" {
				return string(ToDevice)
			}
			return value
		},
		Alone: true,
	},
}

// RuntimeAPI is the API of ONNX Runtime's libraries.
const RuntimeAPI = "onnxruntime"

// runtimeFile is the value of a variable that names a file or says where calls go, if it names a file.
func runtimeFile(value string) string {
	if strings.Contains(value, "/") {
		return value
	}
	return ""
}

// fileVariable is the variable that Override reads.
func (a *API) fileVariable() string {
	if a.Alone {
		return "ANYNPU_" + strings.ToUpper(a.Name)
	}
	return "ANYNPU_DRIVER_" + strings.ToUpper(a.Name)
}

// Settings are the values of the variable that Setting reads, for messages.
func (a *API) Settings() string {
	if a.Alone {
		return "a file's path, auto or cpu"
	}
	return "auto, driver, device or cpu"
}

// Find returns the API of a name.
func Find(name string) (API, bool) {
	for _, a := range APIs {
		if a.Name == name {
			return a, true
		}
	}
	return API{}, false
}

func apiNames() string {
	var names []string
	for _, a := range APIs {
		names = append(names, a.Name)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// words name the functions that the helper looks for in a driver of the API.
func (a *API) words() []string {
	words := slices.Clone(a.Required)
	if t := a.Table; t != nil {
		words = append(words, "--table", t.Function)
		for _, l := range t.Levels {
			words = append(words, strconv.FormatInt(l.From, 10), strconv.Itoa(l.Count))
		}
	}
	return words
}
