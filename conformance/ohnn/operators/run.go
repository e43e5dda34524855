package operators

import (
	"errors"
	"fmt"
	"slices"

	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// refusal is a call of the API that did not succeed: at which stage, which function, with which code.
type refusal struct {
	stage, function string
	code            int
}

func (r *refusal) Error() string {
	return fmt.Sprintf("%s refused at %s with %s", ohnn.API.Prefix+r.function, r.stage, ohnn.API.CodeName(r.code))
}

// run holds the objects of one case.
type run struct {
	*suite.Library
	c       *Case
	model   uintptr
	comp    uintptr
	exec    uintptr
	tensors []uintptr
}

// compute computes the case with the library and judges the result; a nil error means that the case passed. message is
// what the library says of a refusal that the case wants, "" if there is none. The thread must be locked: messages
// belong to it.
func (c *Case) compute(l *suite.Library) (message string, err error) {
	r := &run{Library: l, c: c}
	defer r.close()
	err = r.execute()
	if c.Reject == nil {
		return "", err
	}
	refused, ok := err.(*refusal)
	switch {
	case err == nil:
		return "", fmt.Errorf("accepted; must be refused at %s", c.Reject.Stage)
	case !ok:
		return "", err
	case c.Reject.Stage != refused.stage || !slices.Contains(c.Reject.Codes, refused.code):
		return "", fmt.Errorf("%w; want %s with one of %v", err, c.Reject.Stage, c.Reject.Codes)
	}
	if !l.HasMessages() {
		return "", nil
	}
	message = l.LastError()
	return message, c.checkMessage(message)
}

func (r *run) execute() error {
	for _, step := range []func() error{r.build, r.available, r.compile, r.compute} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) close() {
	for i := range r.tensors {
		r.Call("Tensor_Destroy", &r.tensors[i])
	}
	r.Call("Executor_Destroy", &r.exec)
	r.Call("Compilation_Destroy", &r.comp)
	r.Call("Model_Destroy", &r.model)
}

// at calls a function at a stage of the case; a code other than success is a refusal.
func (r *run) at(stage, function string, args ...any) error {
	if code := r.Code(function, args...); code != ohnn.Success {
		return &refusal{stage, function, code}
	}
	return nil
}

// desc makes a tensor descriptor; dims empty means a scalar, for which no shape is set.
func (r *run) desc(typeName string, dims []int32) (uintptr, error) {
	d := r.Call("TensorDesc_Create")
	if d == 0 {
		return 0, &refusal{"add", "TensorDesc_Create", ohnn.MemoryError}
	}
	err := r.at("add", "TensorDesc_SetDataType", d, dataTypes[typeName].number)
	if err == nil && len(dims) > 0 {
		err = r.at("add", "TensorDesc_SetShape", d, dims, len(dims))
	}
	if err == nil {
		err = r.at("add", "TensorDesc_SetFormat", d, 2)
	}
	if err != nil {
		r.Call("TensorDesc_Destroy", &d)
	}
	return d, err
}

func (r *run) build() error {
	r.model = r.Call("Model_Construct")
	for i := range r.c.Tensors {
		if err := r.addTensor(uint32(i), &r.c.Tensors[i]); err != nil {
			return fmt.Errorf("tensor %d: %w", i, err)
		}
	}
	if err := r.at("add", "Model_AddOperation", r.model, ohnn.Operators[r.c.Op], ohnn.List(r.c.Params...),
		ohnn.List(r.c.In...), ohnn.List(r.c.Out...)); err != nil {
		return err
	}
	var inputs []uint32
	for _, i := range r.c.In {
		if r.c.Tensors[i].Feed != nil {
			inputs = append(inputs, i)
		}
	}
	if err := r.at("finish", "Model_SpecifyInputsAndOutputs", r.model, ohnn.List(inputs...),
		ohnn.List(r.c.Out...)); err != nil {
		return err
	}
	return r.at("finish", "Model_Finish", r.model)
}

// errUnavailable says that the library itself reports the operation as one its device does not compute.
var errUnavailable = errors.New("the device does not compute the operation, says OH_NNModel_GetAvailableOperations")

// available asks the library before a case whose result counts is compiled. A refusal that is expected is asked for in
// any case.
func (r *run) available() error {
	if r.c.Reject != nil {
		return nil
	}
	var supported *bool
	var n uint32
	if err := r.at("finish", "Model_GetAvailableOperations", r.model, 0, &supported, &n); err != nil {
		return err
	}
	if n != 1 || supported == nil {
		return fmt.Errorf("OH_NNModel_GetAvailableOperations: %d operations in a model of 1", n)
	}
	if !*supported {
		return errUnavailable
	}
	return nil
}

func (r *run) addTensor(i uint32, t *Tensor) error {
	d, err := r.desc(t.Type, t.Dims)
	if err != nil {
		return err
	}
	defer r.Call("TensorDesc_Destroy", &d)
	if err := r.at("add", "Model_AddTensorToModel", r.model, d); err != nil {
		return err
	}
	if t.Quant != nil {
		if err := r.setQuant(i, t.Quant); err != nil {
			return err
		}
	}
	if t.Param != "" {
		if err := r.at("add", "Model_SetTensorType", r.model, i, ohnn.TensorTypes[t.Param]); err != nil {
			return err
		}
	}
	if len(t.Data) == 0 {
		return nil
	}
	b := encode(t.Data, dataTypes[t.Type].dtype)
	return r.at("add", "Model_SetTensorData", r.model, i, b, len(b))
}

func (r *run) setQuant(i uint32, q *Quant) error {
	p := r.Call("QuantParam_Create")
	defer r.Call("QuantParam_Destroy", &p)
	bits := slices.Repeat([]uint32{8}, len(q.Scale))
	n := len(q.Scale)
	for _, e := range []error{
		r.at("add", "QuantParam_SetScales", p, q.Scale, n),
		r.at("add", "QuantParam_SetZeroPoints", p, q.Zero, n),
		r.at("add", "QuantParam_SetNumBits", p, bits, n),
		r.at("add", "Model_SetTensorQuantParams", r.model, i, p),
	} {
		if e != nil {
			return e
		}
	}
	return nil
}

func (r *run) compile() error {
	if r.comp = r.Call("Compilation_Construct", r.model); r.comp == 0 {
		return &refusal{"build", "Compilation_Construct", ohnn.Failed}
	}
	if err := r.at("build", "Compilation_Build", r.comp); err != nil {
		return err
	}
	if r.exec = r.Call("Executor_Construct", r.comp); r.exec == 0 {
		return &refusal{"build", "Executor_Construct", ohnn.Failed}
	}
	return nil
}

// tensor makes a tensor of the sizes dims for model tensor t.
func (r *run) tensor(t *Tensor, dims []int32) (uintptr, error) {
	if len(dims) == 0 {
		dims = []int32{1} // a tensor cannot be made without a shape
	}
	d, err := r.desc(t.Type, dims)
	if err != nil {
		return 0, err
	}
	defer r.Call("TensorDesc_Destroy", &d)
	x := r.Call("Tensor_Create", 0, d)
	if x == 0 {
		return 0, &refusal{"run", "Tensor_Create", ohnn.Failed}
	}
	r.tensors = append(r.tensors, x)
	return x, nil
}

func (r *run) bytes(x uintptr, n int) []byte {
	return cmem.Span[byte](r.Call("Tensor_GetDataBuffer", x), n)
}

func (r *run) compute() error {
	var in, out []uintptr
	for _, i := range r.c.In {
		t := &r.c.Tensors[i]
		if t.Feed == nil {
			continue
		}
		x, err := r.tensor(t, t.Feed.Dims)
		if err != nil {
			return err
		}
		b := encode(t.Feed.Data, dataTypes[t.Type].dtype)
		copy(r.bytes(x, len(b)), b)
		in = append(in, x)
	}
	for _, o := range r.c.Out {
		t := &r.c.Tensors[o]
		dims := t.Dims // a case that must be refused has no expected value
		switch {
		case t.Expect != nil:
			dims = t.Expect.Dims
		case t.Feed != nil:
			dims = t.Feed.Dims
		}
		x, err := r.tensor(t, dims)
		if err != nil {
			return err
		}
		out = append(out, x)
	}
	if err := r.at("run", "Executor_RunSync", r.exec, in, len(in), out, len(out)); err != nil {
		return err
	}
	if r.c.Reject != nil {
		return nil
	}
	for k, o := range r.c.Out {
		if err := r.judge(&r.c.Tensors[o], out[k]); err != nil {
			return fmt.Errorf("output %d: %w", k, err)
		}
	}
	return nil
}

func (r *run) judge(t *Tensor, x uintptr) error {
	var p, n uintptr
	if err := r.at("run", "TensorDesc_GetShape", r.Call("Tensor_GetTensorDesc", x), &p, &n); err != nil {
		return err
	}
	var dims []int32
	if n > 0 {
		dims = cmem.Copy[int32](p, int(n))
	}
	if !slices.Equal(dims, t.Expect.Dims) && !(len(dims) == 0 && slices.Equal(t.Expect.Dims, []int32{1})) {
		return fmt.Errorf("want shape %v, got %v", t.Expect.Dims, dims)
	}
	d := dataTypes[t.Type].dtype
	count := len(t.Expect.Data)
	size, _ := d.ByteSize(int64(count))
	got, err := decode(r.bytes(x, int(size)), d, count)
	if err != nil {
		return err
	}
	return r.c.compare(got, t.Expect.Data, t)
}
