package boundary

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/fault"
)

// A Func describes an exported function to the glue at run time.
type Func struct {
	Component string   // the façade's name in logs
	Name      string   // the C symbol
	Params    []string // names of the parameters
	Index     uint32   // in the jump table
	Facade    uint32   // index of the façade
	Result    *Enum    // names of the results, nil if they have none
	Text      bool     // the result is a string
}

// A Call is one running call of an exported function. The glue makes one on its stack, fetches every argument through
// it, and ends it with a deferred End. The first fault of an argument stays in Err; the behaviour is called only if
// there is none.
type Call struct {
	Func  *Func
	Err   error
	Args  []Arg // set by the glue if Traced
	Began int64 // see Began
	// Lifted says of a call that the driver refuses that this library would not.
	Lifted bool

	held  [4]uintptr // handles to release
	more  []uintptr  // the fifth and later ones
	count int
	taken handle.Object // object under destruction
	self  uintptr       // its handle
	clear *uintptr      // the program's variable that holds it
	made  *uintptr      // the program's variable for a new handle

	passed bool          // the driver has answered
	long   time.Duration // how long the call was, if it has Began
}

// refuse records a fault of parameter i unless there is one already.
func (c *Call) refuse(i int, format string, args ...any) {
	if c.Err == nil {
		c.Err = fault.Wrap(fault.New(fault.Argument, format, args...), "%s", c.Func.Params[i])
	}
}

// ErrNullPointer is NULL for a pointer that is no handle. handle.ErrNull is in its chain, which an API may have a code
// for.
var ErrNullPointer = fault.As(fault.Argument, handle.ErrNull, "")

// null refuses NULL for parameter i.
func (c *Call) null(i int) {
	if c.Err == nil {
		c.Err = fault.Wrap(ErrNullPointer, "%s", c.Func.Params[i])
	}
}

// refuseCount refuses a number n of elements of array i in the name of the argument that n is, if count has its number.
func (c *Call) refuseCount(i int, n, limit uint64, count []int) {
	c.refuse(append(count, i)[0], "%d: want 1 to %d, the elements of %s [argument-count]", n, limit, c.Func.Params[i])
}

// BadHandle is implemented by objects whose API has a return code of its own for handles that are not of their kind. It
// is called on nil.
type BadHandle interface{ BadHandle(err error) error }

// refuseHandle refuses what is no handle of such objects as none, a nil pointer, would point to.
func refuseHandle(c *Call, i int, h uintptr, err error, none any) {
	switch {
	case c.Err != nil:
		return
	case h == 0:
		err = fault.Wrap(err, "%s", c.Func.Params[i])
	default:
		err = fault.Wrap(c.named(err), "%s: %#x", c.Func.Params[i], h)
	}
	if kind, ok := none.(BadHandle); ok && !errors.As(err, new(lack)) {
		err = kind.BadHandle(err)
	}
	c.Err = err
}

func (c *Call) hold(h uintptr) {
	if c.count < len(c.held) {
		c.held[c.count] = h
	} else {
		c.more = append(c.more, h)
	}
	c.count++
}

// Handle returns the object behind handle h and keeps it alive for the call.
func Handle[T any](c *Call, i int, h uintptr) *T {
	if h == 0 {
		refuseHandle(c, i, h, handle.ErrNull, (*T)(nil))
		return nil
	}
	o, err := handle.Hold[T](h)
	if err != nil {
		refuseHandle(c, i, h, err, (*T)(nil))
		return nil
	}
	c.hold(h)
	return o
}

// HandleOrNil is Handle for a parameter that may be NULL.
func HandleOrNil[T any](c *Call, i int, h uintptr) *T {
	if h == 0 {
		return nil
	}
	return Handle[T](c, i, h)
}

// Handles returns the objects behind an array of handles, nil where an element is NULL. limit and count are as in
// Slice. fits, unless nil, refuses a count that the array cannot have: it is asked before anything is read, and not
// when the call has failed already.
func Handles[T any](c *Call, i int, p unsafe.Pointer, n, limit uint64, fits func(n uint64) error, count ...int) []*T {
	switch {
	case p == nil:
		c.null(i)
	case limit > 0 && (n == 0 || n > limit):
		c.refuseCount(i, n, limit, count)
	case c.Err == nil && fits != nil:
		c.Err = fits(n)
	}
	if c.Err != nil {
		return nil
	}
	values := Slice[uintptr](c, i, p, n, limit)
	out := make([]*T, len(values))
	for k, h := range values {
		if h == 0 {
			continue
		}
		o, err := handle.Hold[T](h)
		if err != nil {
			if c.Err == nil {
				c.Err = fault.Wrap(c.named(err), "%s[%d]: %#x", c.Func.Params[i], k, h)
			}
			return nil
		}
		c.hold(h)
		out[k] = o
	}
	return out
}

// Take returns the object whose handle is in the variable at p and keeps all other calls away from it. If the call ends
// without an error, the handle ends and the variable becomes NULL; else the object stays as it was. With nullable, a
// NULL variable or value gives nil without a fault.
func Take[T any, P interface {
	*T
	handle.Object
}](c *Call, i int, p unsafe.Pointer, nullable bool) *T {
	if p == nil {
		if !nullable {
			c.null(i)
		}
		return nil
	}
	if !c.readable(i, p, unsafe.Sizeof(uintptr(0))) {
		return nil
	}
	variable := (*uintptr)(p)
	if *variable == 0 {
		if !nullable {
			c.refuse(i, "pointer to NULL [argument-pointer-to-null]")
		}
		return nil
	}
	o := TakeValue[T, P](c, i, *variable, false)
	if o != nil {
		c.clear = variable
	}
	return o
}

// TakeValue is Take for a handle that is passed by value.
func TakeValue[T any, P interface {
	*T
	handle.Object
}](c *Call, i int, h uintptr, nullable bool) *T {
	if h == 0 {
		if !nullable {
			refuseHandle(c, i, h, handle.ErrNull, (*T)(nil))
		}
		return nil
	}
	o, err := handle.Close[T](h)
	if err != nil {
		refuseHandle(c, i, h, err, (*T)(nil))
		return nil
	}
	c.taken, c.self = P(o), h
	return o
}

// Give returns the handle of o for the program, 0 for nil.
func Give[T any, P interface {
	*T
	handle.Object
}](c *Call, o *T) uintptr {
	if o == nil || c.Err != nil {
		return 0
	}
	if err := routes.given(c.Func.Facade); err != nil {
		c.Err = err
		return 0
	}
	h, err := handle.Of(P(o))
	c.Err = err
	return h
}

// New returns the variable that a new handle is stored in. A call that ends with an error sets it to NULL.
func New(c *Call, i int, p unsafe.Pointer) *uintptr {
	c.made = Ptr[uintptr](c, i, p)
	return c.made
}

// Ptr returns a pointer argument that must not be NULL.
func Ptr[T any](c *Call, i int, p unsafe.Pointer) *T {
	if p == nil {
		c.null(i)
		return nil
	}
	return PtrOrNil[T](c, i, p)
}

// PtrOrNil returns a pointer argument that may be NULL.
func PtrOrNil[T any](c *Call, i int, p unsafe.Pointer) *T {
	var t T
	if p == nil || !c.readable(i, p, unsafe.Sizeof(t)) {
		return nil
	}
	return (*T)(p)
}

// NullPtr returns a pointer to a pointer that must be NULL when the call begins.
func NullPtr(c *Call, i int, p unsafe.Pointer) *uintptr {
	v := Ptr[uintptr](c, i, p)
	if v != nil && *v != 0 {
		c.refuse(i, "want a pointer to NULL, got one to %#x [argument-not-null]", *v)
		return nil
	}
	return v
}

// Slice returns the array at p as a slice of n elements. limit, if not 0, bounds n, and then 0 is refused too, in the
// name of the argument that n is, whose number is count.
func Slice[T any](c *Call, i int, p unsafe.Pointer, n uint64, limit uint64, count ...int) []T {
	if p == nil {
		c.null(i)
		return nil
	}
	return SliceOrNil[T](c, i, p, n, limit, count...)
}

// SliceOrNil is Slice for an array that may be NULL.
func SliceOrNil[T any](c *Call, i int, p unsafe.Pointer, n uint64, limit uint64, count ...int) []T {
	var t T
	size := uint64(unsafe.Sizeof(t))
	switch {
	case p == nil:
		return nil
	case limit > 0 && (n == 0 || n > limit):
		c.refuseCount(i, n, limit, count)
		return nil
	case n > (1<<47)/size:
		c.refuse(i, "%d elements of %d bytes do not fit into memory [argument-elements-bytes-fit]", n, size)
		return nil
	case !c.readable(i, p, uintptr(n*size)):
		return nil
	}
	return unsafe.Slice((*T)(p), int(n))
}

// String returns a copy of the string at p.
func String(c *Call, i int, p unsafe.Pointer) string {
	if p == nil {
		c.null(i)
		return ""
	}
	if s := StringOrNil(c, i, p); s != nil {
		return *s
	}
	return ""
}

// StringOrNil returns a copy of the string at p, nil for NULL.
func StringOrNil(c *Call, i int, p unsafe.Pointer) *string {
	if p == nil {
		return nil
	}
	if checkPointers {
		if err := probeString(uintptr(p)); err != nil {
			c.refuse(i, "%v [argument-unreadable]", err)
			return nil
		}
	}
	s, err := CopyString(p)
	if err != nil {
		if c.Err == nil {
			c.Err = fault.Wrap(err, "%s", c.Func.Params[i])
		}
		return nil
	}
	return &s
}

// NotNull returns a callback or an opaque pointer that must not be NULL.
func NotNull(c *Call, i int, p uintptr) uintptr {
	if p == 0 {
		c.null(i)
	}
	return p
}

func (c *Call) readable(i int, p unsafe.Pointer, n uintptr) bool {
	if err := CheckRange(p, uint64(n)); err != nil {
		c.refuse(i, "%v [argument-unreadable]", err)
		return false
	}
	return true
}

// End is deferred by the glue. It turns a panic into the function's failure value, lets go of the objects, and reports.
func End[R any](c *Call, result *R, failed R) {
	if v := recover(); v != nil {
		c.Err = panicked(c.Func, v)
		*result = failed
	}
	c.finish()
	c.took()
	if c.passed && c.Err == nil && refused(*result) {
		c.Err = refusedBy(c.Func, c.Lifted)
	}
	if c.Err != nil || c.Args != nil {
		text, shown := "", ""
		if c.logged() {
			text = fmt.Sprint(*result)
		}
		if c.Args != nil {
			shown = resultText(c.Func, *result)
		}
		c.report(text, shown)
	}
}

// EndVoid is End for functions without a result.
func EndVoid(c *Call) {
	if v := recover(); v != nil {
		c.Err = panicked(c.Func, v)
	}
	c.finish()
	c.took()
	if c.Err != nil || c.Args != nil {
		c.report("", "")
	}
}

func (c *Call) finish() {
	for i := range min(c.count, len(c.held)) {
		handle.Unhold(c.held[i])
	}
	for _, h := range c.more {
		handle.Unhold(h)
	}
	if c.made != nil && c.Err != nil {
		*c.made = 0
	}
	if c.taken == nil {
		return
	}
	if c.Err != nil {
		handle.Reopen(c.self)
		return
	}
	handle.Drop(c.taken)
	if c.clear != nil {
		*c.clear = 0
	}
}

var stackLogged atomic.Bool

// panicked makes an error of a recovered panic and logs the first one's stack.
func panicked(f *Func, v any) error {
	if !stackLogged.Swap(true) {
		Log(LevelError, f.Component, "panic "+
			"[boundary-panic]", "function", f.Name, "value", v, "stack", string(debug.Stack()))
	}
	return fault.New(fault.Internal, "panic: %v [boundary-panicked]", v)
}

// Note marks an error that is an ordinary answer, such as "the shape is not known yet": it is logged as information.
func Note(err error) error { return note{err} }

type note struct{ error }

func (n note) Unwrap() error { return n.error }
