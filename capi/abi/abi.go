// Package abi is the table of every exported C function, and nothing else: one file per façade (table_NAME.go), one row
// per function. The generator in capi/abi/gen makes from it all code that can be derived from a prototype and the roles
// of its parameters; what remains is one Go function of behaviour per row.
//
// # Roles
//
// Roles lists one role per parameter, in order, separated by commas. The role decides what the glue checks before the
// behaviour is called and which Go type the behaviour receives. A refused argument is reported as fault.Argument
// (fault.State for an object in use), and the behaviour is not called.
//
//	role          C parameter          checked by the glue               the behaviour receives
//	value         number, enum, bool   -                                 the number; enums as Facade.Types says
//	handle        T * or T             a living handle of that kind      *Object, held during the call
//	handle?       as handle            NULL allowed                      *Object or nil
//	handles[n]    T *[]                array not NULL, elements living   []*Object, nil for NULL elements
//	take          T **                 both not NULL, not in use         *Object; on nil error the handle ends, *p = NULL
//	take          T * or T             not NULL, not in use              *Object; on nil error the handle ends
//	take?         as take              NULLs: the call does nothing      as take
//	new           T **, T *            not NULL                          nothing; it returns (*Object, error), stored in *p, NULL on an error
//	newkeep       as new               not NULL                          as new, but *p stays as it was on an error
//	in            const S *            not NULL                          *S
//	in            S                    -                                 *S, a copy that ends with the call
//	in?           const S *            -                                 *S or nil
//	in[n]         const E *            not NULL, length below 2^47       []E (void: []byte), n elements
//	in?[n]        const E *            NULL allowed                      []E or nil
//	out           S *                  not NULL                          *S to write to (pointers as *uintptr)
//	out?          S *                  -                                 *S or nil
//	out0          S **                 not NULL, *p NULL on entry        *uintptr
//	out[n]        E *                  not NULL, length below 2^47       []E to write to
//	inout         S *                  not NULL                          *S
//	string        const char *         not NULL                          string, a copy
//	string?       const char *         -                                 *string or nil
//	len           integer              by the array that names it        nothing, the slice has it
//	callback      function pointer     not NULL                          uintptr
//	callback?     function pointer     -                                 uintptr
//	opaque        void *               not NULL, never looked at         uintptr
//	opaque?       void *               -                                 uintptr
//	raw           anything             -                                 pointers as unsafe.Pointer, handles as uintptr
//
// [n<=200] bounds a count: 0 and more than 200 are refused. The parameter named in brackets has the role len. handles
// are read before the behaviour is called: with [n<=200:m] method m of the first parameter's object judges n first, so
// that no element beyond what the object wants is touched. Other arrays are read by the behaviour, which compares their
// length with the one that it knows.
//
// # Owners
//
// Where both a driver and this library have objects, Owner says whose a call is:
//
//	"ctx"                   the handle in the parameter ctx
//	"*context_in"           the handle that the parameter points to
//	"mem->priv_data"        the word in a field of the struct that the parameter points to
//	OwnerDriver             always the driver, if there is one
//	OwnerNever              never the driver
//
// Several places are separated by commas: a call is the driver's if one of them has a word and none has one of ours,
// which lie in the window of package handle. A field's word counts also if it is 0, a handle of 0 does not: that call
// comes to this library, which refuses it. Structs that programs may copy carry such a word, never their own address.
//
// # Results
//
// The behaviour's last result is always an error. Before it comes what the C function returns: nothing for void and
// status functions (the façade's function status, or Codes of the row, turns the error into a code), *Object for a
// handle (the same object always gives the same handle), uintptr for any other pointer, else the number. On an error
// the C function returns the row's failure value.
package abi

// A Facade is one vendor's API.
type Facade struct {
	Name    string   // its package under capi, and its component in logs
	Prefix  string   // removed from a symbol to name the Go function: OH_NNTensorDesc_SetName is tensorDescSetName
	Also    []string // further prefixes of symbols, which stay in the Go function's name
	Headers []string // what a C program includes, in this order
	Check   string   // C header of the generated misuse test with make_TYPE and drop_TYPE for every handle kind
	Status  string   // C type of status codes, "" if the API has none
	Failed  int      // status of a call that failed inside the library
	Forked  int      // status of a call in a forked child, and where a sandbox forbids what the start needs
	Starved int      // status of a call where the start lacks memory, threads or descriptors

	StarvedBy map[string]int // the same for rows that have Codes, by those

	Handles map[string]Handle
	Types   map[string]Type // every other type that is not a C scalar
	Stubs   []Library       // vendor libraries besides the core library
	Since   string          // what the rows' Since means, a sentence of docs/support.md
	Version string          // of the API that is served; "": the library's
	Drivers bool            // calls can be passed on to a vendor's own library

	HandlesFirst bool // the API judges handles before all other arguments

	// Named says which enumeration names the numbers of parameters and fields whose C type is a plain integer: NAME, or
	// FUNCTION.NAME and STRUCT.NAME, which count before it. "result" stands for status codes, CODES.result for those of
	// rows with Codes. The trace shows the names.
	Named map[string]Named

	// Lengths are the fields that count the elements of other fields, STRUCT.FIELD to a field of the same struct, or to
	// one of a struct in it: "shape.rank".
	Lengths map[string]string

	// Replaces names the façade of an older generation of the API: a process uses one of the two. Names that both have
	// are exported once and lead to the one that the process uses. It uses this one if Sign says so, or if its first call
	// is of a function that the older one lacks.
	Replaces string
	Sign     Sign

	Rows []Row
}

// Named are the enumerators of the listed enumerations whose names have the prefix. With Bits a number is a sum of
// some.
type Named struct {
	Enums  []string
	Prefix string
	Bits   bool
}

// A Sign tells a process of the newer generation of an API. Another value of the variable than Value, if it is set,
// says that it is of the older one.
type Sign struct {
	Variable, Value string
	Library         string // a file of this name is mapped
}

// Owners of calls that are not a place.
const (
	OwnerDriver = "driver"
	OwnerNever  = "never"
)

// A Handle is an opaque C type behind which a Go object stands.
type Handle struct {
	Go      string // type of the object, embeds handle.Ref
	ByValue bool   // the C type is itself the handle (an integer or a typedef of void *), not a struct that is pointed to
}

// A Type says how a C type appears in Go. A struct that is passed by value is in the lists of abicheck.
type Type struct {
	Go     string // type in the façade's package
	Scalar string // for enums and other scalars: C's underlying type
	Func   bool   // a pointer to a function
}

// A Library is a stub library: a vendor's file name whose functions jump into the core library.
type Library struct {
	Soname  string
	Version string // symbol version of every name, "" for none
}

// A Row is one exported function.
type Row struct {
	C     string   // the prototype
	Roles string   // role of each parameter
	Since int      // version of the API that introduced it, as the façade's Since says
	Stubs []string // sonames of the stub libraries that have it; nil means all of the façade's

	CXX     string // parameter types in C++ where the header has others there, such as references
	Mangled bool   // C cannot name it: a function of C++, whose symbol is the mangled one, or one without a public prototype
	Codes   string // function that turns errors into codes, "": status

	// Refused is why every call is refused: the function has no behaviour of its own. The package's function refused makes
	// the error of it.
	Refused string

	// Older are parameters that callers of an older form of the function pass behind the others. The behaviour receives
	// them as raw ones; from other callers they are whatever the registers and the stack hold.
	Older string

	// Former is the parameter list of a former version of the API where it is no beginning of today's, and FormerRoles its
	// roles. It has a way into Go and a behaviour of its own, called as the row's with Former behind. All calls of a
	// process have one form: boundary.Former decides which. A driver receives what the program has passed.
	Former, FormerRoles string

	// Chooses are the structs that a pointer to nothing in particular has, as the number of another parameter says. The
	// trace shows them.
	Chooses Choice

	Creates bool // makes objects: enters Go even where calls are passed on to a driver; the behaviour decides
	Fail    int  // result on failure of functions that return a number

	// Owner says what decides between this library and a driver, as the package's documentation has it. In an API with
	// drivers every row that does not create has one.
	Owner string

	// Lifts is a Go function that says, of the bare arguments of a call that was the driver's and that it has refused,
	// whether this library computes what was asked for where its own calls do not go to the driver.
	Lifts string

	// Undo is a call in C by which a test frees what a call with the arguments a0, a1 ... made, and gave as its result r
	// or otherwise, where that is no handle.
	Undo string
}

// Facades lists every façade in the order of their slots in the jump table.
// A Choice is of the struct in the parameter Param, by the enumerator that is the value of the parameter By.
type Choice struct {
	Param, By string
	Structs   map[string]string
}

var Facades = []*Facade{AnyNPU, OHNN, RKNN, HBDNN, NNAPI, HBUCP}
