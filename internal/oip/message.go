package oip

// Limits of what is read.
const (
	MaxTensors    = 4096     // inputs, outputs, versions, extensions, parameters of one message
	MaxRank       = 64       // dimensions of a tensor
	MaxText       = 64 << 10 // bytes of a name or another text
	MaxParameters = MaxTensors
)

// The methods of the service, as they stand in a gRPC path.
const (
	Service        = "/inference.GRPCInferenceService/"
	ServerLive     = Service + "ServerLive"
	ServerReady    = Service + "ServerReady"
	ModelReady     = Service + "ModelReady"
	ServerMetadata = Service + "ServerMetadata"
	ModelMetadata  = Service + "ModelMetadata"
	ModelInfer     = Service + "ModelInfer"
	// ModelStatistics is of Triton's extension of that name.
	ModelStatistics = Service + "ModelStatistics"
	// Of Triton's extension for memory of one machine.
	SharedMemoryRegister   = Service + "SystemSharedMemoryRegister"
	SharedMemoryUnregister = Service + "SystemSharedMemoryUnregister"
)

// Flag is a response of one bool: of ServerLive, ServerReady, ModelReady.
type Flag struct{ Value bool }

// ModelName is the request of ModelReady and of ModelMetadata. Version "" leaves the choice to the server.
type ModelName struct{ Name, Version string }

// Server is the response of ServerMetadata.
type Server struct {
	Name       string   `json:"name"`
	Version    string   `json:"version"`
	Extensions []string `json:"extensions"`
}

// Port is an input or output of a model; -1 in Shape is a size that is open.
type Port struct {
	Name     string  `json:"name"`
	Datatype string  `json:"datatype"`
	Shape    []int64 `json:"shape"`
}

// Model is the response of ModelMetadata.
type Model struct {
	Name     string   `json:"name"`
	Versions []string `json:"versions"`
	Platform string   `json:"platform"`
	Inputs   []Port   `json:"inputs"`
	Outputs  []Port   `json:"outputs"`
}

// Parameters are the extra settings of a message or tensor, by name: each is a bool, int64, uint64, float64 or string.
// Other types are written as nothing.
type Parameters map[string]any

// Tensor is an input of a request or an output of a response. Its elements stand in Raw; where that is nil, in
// Contents; where both are nil, in shared memory, as Parameters say, or nowhere.
type Tensor struct {
	Name       string
	Datatype   string
	Shape      []int64
	Parameters Parameters
	Contents   *Contents
	Raw        []byte // little endian, row-major
}

// Requested names an output that a request asks for.
type Requested struct {
	Name       string
	Parameters Parameters
}

// Request is what ModelInfer takes.
type Request struct {
	Model, Version, ID string
	Parameters         Parameters
	Inputs             []Tensor
	Outputs            []Requested // none: all
}

// Response is what ModelInfer answers.
type Response struct {
	Model, Version, ID string
	Parameters         Parameters
	Outputs            []Tensor
}

// Contents are typed elements: one field has them all. Signed types up to 32 bits lie in Int, unsigned ones in Uint.
type Contents struct {
	Bool   []bool
	Int    []int32
	Int64  []int64
	Uint   []uint32
	Uint64 []uint64
	FP32   []float32
	FP64   []float64
	Bytes  [][]byte
}
