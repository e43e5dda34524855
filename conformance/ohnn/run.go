package ohnn

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"
)

// refusal is a call of the API that did not succeed: at which stage, which function, with which code.
type refusal struct {
	stage, function string
	code            int32
}

func (r *refusal) Error() string {
	return fmt.Sprintf("%s refused at %s with %d (%s)", r.function, r.stage, r.code, codeName(r.code))
}

// run holds the objects of one case.
type run struct {
	a       *api
	c       *Case
	model   uintptr
	comp    uintptr
	exec    uintptr
	tensors []uintptr
}

// Run computes the case with the library and judges the result; a nil error means that the case passed. message is what
// the library says of a refusal that the case wants, "" if there is none. The thread must be locked: messages belong to
// it.
func (a *api) Run(c *Case) (message string, err error) {
	r := &run{a: a, c: c}
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
	if a.lastError == nil {
		return "", nil
	}
	message = a.lastError()
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
		r.a.tensorDestroy(&r.tensors[i])
	}
	r.a.execDestroy(&r.exec)
	r.a.compDestroy(&r.comp)
	r.a.modelDestroy(&r.model)
}

func check(stage, function string, code int32) error {
	if code == 0 {
		return nil
	}
	return &refusal{stage, function, code}
}

func ints(v []uint32) *array {
	if len(v) == 0 {
		return &array{}
	}
	return &array{&v[0], uint32(len(v))}
}

// desc makes a tensor descriptor; dims empty means a scalar, for which no shape is set.
func (r *run) desc(typeName string, dims []int32) (uintptr, error) {
	d := r.a.descCreate()
	if d == 0 {
		return 0, &refusal{"add", "OH_NNTensorDesc_Create", 3}
	}
	err := check("add", "OH_NNTensorDesc_SetDataType", r.a.descSetType(d, dataTypes[typeName].number))
	if err == nil && len(dims) > 0 {
		err = check("add", "OH_NNTensorDesc_SetShape", r.a.descSetShape(d, &dims[0], uintptr(len(dims))))
	}
	if err == nil {
		err = check("add", "OH_NNTensorDesc_SetFormat", r.a.descSetFormat(d, 2))
	}
	if err != nil {
		r.a.descDestroy(&d)
	}
	return d, err
}

func (r *run) build() error {
	r.model = r.a.modelConstruct()
	for i := range r.c.Tensors {
		if err := r.addTensor(uint32(i), &r.c.Tensors[i]); err != nil {
			return fmt.Errorf("tensor %d: %w", i, err)
		}
	}
	if err := check("add", "OH_NNModel_AddOperation", r.a.addOperation(r.model, operators[r.c.Op], ints(r.c.Params),
		ints(r.c.In), ints(r.c.Out))); err != nil {
		return err
	}
	var inputs []uint32
	for _, i := range r.c.In {
		if r.c.Tensors[i].Feed != nil {
			inputs = append(inputs, i)
		}
	}
	if err := check("finish", "OH_NNModel_SpecifyInputsAndOutputs", r.a.specify(r.model, ints(inputs),
		ints(r.c.Out))); err != nil {
		return err
	}
	return check("finish", "OH_NNModel_Finish", r.a.finish(r.model))
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
	if err := check("finish", "OH_NNModel_GetAvailableOperations", r.a.availableOps(r.model, 0, &supported,
		&n)); err != nil {
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
	defer r.a.descDestroy(&d)
	if err := check("add", "OH_NNModel_AddTensorToModel", r.a.addTensor(r.model, d)); err != nil {
		return err
	}
	if t.Quant != nil {
		if err := r.setQuant(i, t.Quant); err != nil {
			return err
		}
	}
	if t.Param != "" {
		if err := check("add", "OH_NNModel_SetTensorType", r.a.setType(r.model, i, tensorTypes[t.Param])); err != nil {
			return err
		}
	}
	if len(t.Data) == 0 {
		return nil
	}
	b := encode(t.Data, dataTypes[t.Type].dtype)
	return check("add", "OH_NNModel_SetTensorData", r.a.setData(r.model, i, &b[0], uintptr(len(b))))
}

func (r *run) setQuant(i uint32, q *Quant) error {
	p := r.a.quantCreate()
	defer r.a.quantDestroy(&p)
	bits := slices.Repeat([]uint32{8}, len(q.Scale))
	n := uintptr(len(q.Scale))
	for _, e := range []error{
		check("add", "OH_NNQuantParam_SetScales", r.a.quantScales(p, &q.Scale[0], n)),
		check("add", "OH_NNQuantParam_SetZeroPoints", r.a.quantZeros(p, &q.Zero[0], n)),
		check("add", "OH_NNQuantParam_SetNumBits", r.a.quantBits(p, &bits[0], n)),
		check("add", "OH_NNModel_SetTensorQuantParams", r.a.setQuant(r.model, i, p)),
	} {
		if e != nil {
			return e
		}
	}
	return nil
}

func (r *run) compile() error {
	if r.comp = r.a.compConstruct(r.model); r.comp == 0 {
		return &refusal{"build", "OH_NNCompilation_Construct", 1}
	}
	if err := check("build", "OH_NNCompilation_Build", r.a.compBuild(r.comp)); err != nil {
		return err
	}
	if r.exec = r.a.execConstruct(r.comp); r.exec == 0 {
		return &refusal{"build", "OH_NNExecutor_Construct", 1}
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
	defer r.a.descDestroy(&d)
	x := r.a.tensorCreate(0, d)
	if x == 0 {
		return 0, &refusal{"run", "OH_NNTensor_Create", 1}
	}
	r.tensors = append(r.tensors, x)
	return x, nil
}

func (r *run) bytes(x uintptr, n int) []byte {
	p := r.a.tensorData(x)
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), n)
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
	if err := check("run", "OH_NNExecutor_RunSync", r.a.runSync(r.exec, &in[0], uintptr(len(in)), &out[0],
		uintptr(len(out)))); err != nil {
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
	if err := check("run", "OH_NNTensorDesc_GetShape", r.a.descGetShape(r.a.tensorDesc(x), &p, &n)); err != nil {
		return err
	}
	var dims []int32
	if n > 0 {
		dims = slices.Clone(unsafe.Slice(*(**int32)(unsafe.Pointer(&p)), n))
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
