package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/capi/abi"
)

// cImage writes the tables that boundary.h describes, the dead functions and the routers of façades with drivers.
func (img *image) cImage() string {
	var b strings.Builder
	fmt.Fprintf(&b, "/* %s */\n\n#include \"boundary/inside.h\"\n\n#include <stdbool.h>\n\n", banner)
	fmt.Fprintf(&b, "#define FUNCTIONS %d\n\n", len(img.funcs))
	for _, f := range img.facades {
		b.WriteString(f.structs())
	}
	b.WriteString("/* In a forked child: the failure value, one report, nothing else. */\n")
	for _, fn := range img.forms() {
		b.WriteString(fn.dead())
	}
	b.WriteString("\n/* Where the library cannot start for want of memory: that status, or the dead function if there " +
		"is none. */\n")
	for _, fn := range img.funcs {
		if fn.isStatus() {
			fmt.Fprintf(&b, "static %s starved_%d(%s) {%s return %d; }\n", cABI(fn.goResult()), fn.index,
				decls(fn.deadArguments()), fn.unused(), fn.starved())
		}
	}
	b.WriteString(enterMacros)
	for _, fn := range img.forms() {
		b.WriteString(fn.enter())
	}
	b.WriteString("\nextern anynpu_fn anynpu_slot[] ANYNPU_HIDDEN;\nextern const anynpu_fn anynpu_counted[] " +
		"ANYNPU_HIDDEN;\n" +
		"anynpu_fn anynpu_target[FUNCTIONS] ANYNPU_HIDDEN;\nstatic anynpu_fn driver[FUNCTIONS], driven[FUNCTIONS];\n")
	column(&b, "static anynpu_fn live[FUNCTIONS]", img.funcs,
		func(fn *function) string { return fmt.Sprintf("(anynpu_fn)enter_%d", fn.index) })
	b.WriteString(driverMacros)
	for _, fn := range img.forms() {
		b.WriteString(fn.judge())
	}
	for _, fn := range img.funcs {
		b.WriteString(fn.router())
	}
	column(&b, "static const char *const name[FUNCTIONS]", img.funcs,
		func(fn *function) string { return fmt.Sprintf("%q", fn.Name) })
	column(&b, "static const uint8_t facade[FUNCTIONS]", img.funcs,
		func(fn *function) string { return fmt.Sprintf("%d /* %s */", fn.facade.index, fn.Name) })
	some(&b, "static const uint8_t own[FUNCTIONS]", img.funcs, func(fn *function) string {
		if !fn.Creates && fn.Owner != abi.OwnerNever {
			return ""
		}
		return "1"
	})
	some(&b, "static const anynpu_fn mixed[FUNCTIONS]", img.funcs, func(fn *function) string {
		if !fn.routed() {
			return ""
		}
		return fmt.Sprintf("(anynpu_fn)mixed_%d", fn.index)
	})
	some(&b, "static const anynpu_fn judged[FUNCTIONS]", img.funcs, (*function).judged)
	some(&b, "static const anynpu_fn judged_former[FUNCTIONS]", img.funcs, func(fn *function) string {
		if fn.former == nil {
			return ""
		}
		return fn.former.judged()
	})
	some(&b, "static const anynpu_fn former[FUNCTIONS]", img.funcs, func(fn *function) string {
		if fn.former == nil {
			return ""
		}
		return fmt.Sprintf("(anynpu_fn)enter_%d_former", fn.index)
	})
	column(&b, "static const anynpu_fn dead[FUNCTIONS]", img.funcs,
		func(fn *function) string { return fmt.Sprintf("(anynpu_fn)dead_%d", fn.index) })
	column(&b, "static const anynpu_fn starved[FUNCTIONS]", img.funcs, func(fn *function) string {
		if !fn.isStatus() {
			return fmt.Sprintf("(anynpu_fn)dead_%d", fn.index)
		}
		return fmt.Sprintf("(anynpu_fn)starved_%d", fn.index)
	})
	column(&b, "static const uint16_t namesake[FUNCTIONS]", img.funcs, func(fn *function) string {
		return fmt.Sprintf("%d /* %s */", img.namesake(fn), fn.Name)
	})
	b.WriteString(img.pairs())
	fmt.Fprintf(&b, "\nconst struct anynpu_image anynpu_image = {\n\t.functions = FUNCTIONS,\n\t.facades = %d,\n",
		len(img.facades))
	for _, m := range []string{"name", "facade", "own", "mixed", "former", "dead", "starved", "judged",
		"judged_former", "namesake", "pair"} {
		fmt.Fprintf(&b, "\t.%s = %s,\n", m, m)
	}
	b.WriteString("\t.slot = anynpu_slot,\n\t.counted = anynpu_counted,\n\t.target = anynpu_target,\n\t.live = " +
		"live,\n\t.driver = driver,\n\t.driven = driven,\n};\n")
	return b.String()
}

// enterMacros are the two shapes of the way into Go.
const enterMacros = `
/* The way into Go. FORM ends the names of a function's former parameters. */
#define ENTER(RESULT, INDEX, FORM, SYMBOL, PARAMETERS, TYPES, ARGUMENTS, DEAD, FAILED) \
	extern RESULT nnc_##SYMBOL TYPES; \
	static RESULT enter_##INDEX##FORM PARAMETERS \
	{ \
		if (!anynpu_enter()) { \
			if (anynpu_forked()) \
				return dead_##INDEX##FORM DEAD; \
			anynpu_report_handler(INDEX); \
			return FAILED; \
		} \
		RESULT r = nnc_##SYMBOL ARGUMENTS; \
		anynpu_leave(); \
		return r; \
	}
#define ENTER_VOID(RESULT, INDEX, FORM, SYMBOL, PARAMETERS, TYPES, ARGUMENTS, DEAD, FAILED) \
	extern void nnc_##SYMBOL TYPES; \
	static void enter_##INDEX##FORM PARAMETERS \
	{ \
		if (!anynpu_enter()) { \
			if (anynpu_forked()) { \
				dead_##INDEX##FORM DEAD; \
				return; \
			} \
			anynpu_report_handler(INDEX); \
			return; \
		} \
		nnc_##SYMBOL ARGUMENTS; \
		anynpu_leave(); \
	}
`

// driverMacros are the shapes of calls of a driver's.
const driverMacros = `
/* A call of the driver's where calls are counted: counts those that it refuses. */
#define JUDGED(RESULT, INDEX, FORM, PARAMETERS, TYPES, ARGUMENTS, REFUSED) \
	static RESULT judged_##INDEX##FORM PARAMETERS \
	{ \
		RESULT r = ((RESULT (*) TYPES)driver[INDEX]) ARGUMENTS; \
		if (REFUSED) \
			__atomic_fetch_add(&anynpu_refusals[INDEX], 1, __ATOMIC_RELAXED); \
		return r; \
	}
/* What a slot holds where some handles are the driver's. */
#define MIXED(RESULT, RETURN, INDEX, PARAMETERS, TYPES, ARGUMENTS, THEIRS) \
	static RESULT mixed_##INDEX PARAMETERS \
	{ \
		anynpu_fn f = (THEIRS) ? driven[INDEX] : __atomic_load_n(&live[INDEX], __ATOMIC_ACQUIRE); \
		RETURN ((RESULT (*) TYPES)f) ARGUMENTS; \
	}
`

// namesake is the index of the function of that name of the other generation of the API, its own if there is none.
func (img *image) namesake(fn *function) int {
	if fn.older != nil {
		return fn.older.index
	}
	for _, newer := range img.funcs {
		if newer.older == fn {
			return newer.index
		}
	}
	return fn.index
}

// pairs writes the generations of which a process uses one.
func (img *image) pairs() string {
	var b strings.Builder
	b.WriteString("\nstatic const struct anynpu_pair pair[] = {\n")
	for _, f := range img.facades {
		for _, o := range img.facades {
			if f.Replaces == o.Name {
				fmt.Fprintf(&b, "\t{%d, %d, %q, %q, %q},\n", o.index, f.index, f.Sign.Variable, f.Sign.Value, f.Sign.Library)
			}
		}
	}
	b.WriteString("\t{0, 0, NULL, NULL, NULL},\n};\n")
	return b.String()
}

// forms lists the functions of all façades, with their former forms.
func (img *image) forms() (all []*function) {
	for _, f := range img.facades {
		all = append(all, f.forms()...)
	}
	return all
}

func column(b *strings.Builder, decl string, funcs []*function, value func(*function) string) {
	fmt.Fprintf(b, "\n%s = {\n", decl)
	for _, fn := range funcs {
		v, comment, _ := strings.Cut(value(fn), " /*")
		if comment != "" {
			comment = " /*" + comment
		}
		fmt.Fprintf(b, "\t%s,%s\n", v, comment)
	}
	b.WriteString("};\n")
}

// some writes a column in which those without a value are 0.
func some(b *strings.Builder, decl string, funcs []*function, value func(*function) string) {
	fmt.Fprintf(b, "\n%s = {\n", decl)
	for _, fn := range funcs {
		if v := value(fn); v != "" {
			fmt.Fprintf(b, "\t[%d] = %s, /* %s */\n", fn.index, v, fn.Name)
		}
	}
	b.WriteString("};\n")
}

// enter writes the function that enters Go: unless a signal handler calls where it must not, and with the default
// floating-point control.
func (fn *function) enter() string {
	args := fn.arguments()
	passed := list(args, func(a argument) string {
		if a.boxed {
			return "&" + a.name
		}
		return a.name
	})
	taken := list(args, func(a argument) string { return cABI(a.goType) })
	result, macro, failed := cABI(fn.goResult()), "ENTER", fn.failed()
	if result == "void" {
		macro, failed = "ENTER_VOID", ""
	}
	return fmt.Sprintf("%s(%s, %d, %s, %s, (%s),\n\t(%s), (%s), (%s), %s)\n", macro, result, fn.index, fn.form,
		fn.symbol(), decls(args), taken, strings.TrimSuffix(passed, "void"), names(fn.deadArguments()), failed)
}

func (fn *function) dead() string {
	result, value := cABI(fn.goResult()), fn.failed()
	switch {
	case result == "void":
		value = ""
	case fn.isStatus():
		value = fmt.Sprint(fn.Facade.Forked)
	}
	ret := fn.unused()
	if value != "" {
		ret += fmt.Sprintf(" return %s;", value)
	}
	return fmt.Sprintf("static %s dead_%d%s(%s) { anynpu_report_dead(%d);%s }\n", result, fn.index, fn.form,
		decls(fn.deadArguments()), fn.index, ret)
}

// unused keeps the compiler quiet about the arguments of a dead function.
func (fn *function) unused() (text string) {
	for _, a := range fn.deadArguments() {
		text += fmt.Sprintf(" (void)%s;", a.name)
	}
	return text
}

// starved is the status of a call that cannot start the library for want of memory.
func (fn *function) starved() int {
	if code, ok := fn.Facade.StarvedBy[fn.Codes]; ok {
		return code
	}
	return fn.Facade.Starved
}

// deadArguments lists the parameters that a dead function declares: none, unless a struct among them is passed by
// value.
func (fn *function) deadArguments() []argument {
	args := fn.arguments()
	if slices.ContainsFunc(args, func(a argument) bool { return a.boxed }) {
		return args
	}
	return nil
}

// judge writes the function that passes a call on to the driver and counts it as refused if its result is a failure.
func (fn *function) judge() string {
	if fn.judged() == "" {
		return ""
	}
	failed := "!r"
	if fn.isStatus() {
		failed = "r"
	}
	args := fn.arguments()
	return fmt.Sprintf("JUDGED(%s, %d, %s, (%s),\n\t(%s), (%s), %s)\n", cABI(fn.goResult()), fn.index, fn.form,
		decls(args), types(args), names(args), failed)
}

// judged names that function; "" for functions whose result is no failure, and where there are no drivers.
func (fn *function) judged() string {
	if !fn.facade.Drivers || !fn.isStatus() && fn.goResult() != "uintptr" {
		return ""
	}
	return fmt.Sprintf("(anynpu_fn)judged_%d%s", fn.index, fn.form)
}

// router writes the function that a slot holds in the mixed state: a call whose words are the driver's goes there. So
// does a creating call of the driver's own, in the pass-through state as well.
func (fn *function) router() string {
	if !fn.routed() {
		return ""
	}
	var theirs, words []string
	for _, place := range fn.Owners {
		words = append(words, fn.owner(place))
	}
	if len(words) > 0 {
		test := strings.Join(words, " | ")
		if len(words) > 1 {
			test = "(" + test + ")"
		}
		theirs = append(theirs, test+" == ANYNPU_THEIRS")
	}
	if fn.Creates {
		theirs = append(theirs, fmt.Sprintf("anynpu_by_driver(%d, "+
			"__builtin_extract_return_addr(__builtin_return_address(0)))", fn.index))
	}
	args := fn.arguments()
	result, ret := cABI(fn.goResult()), "return"
	if result == "void" {
		ret = ""
	}
	return fmt.Sprintf("MIXED(%s, %s, %d, (%s),\n\t(%s), (%s), %s)\n", result, ret, fn.index, decls(args), types(args),
		names(args), strings.Join(theirs, " || "))
}

// routed says whether something in a call decides between Go and driver.
func (fn *function) routed() bool { return fn.facade.Drivers && (fn.Creates || len(fn.Owners) > 0) }

// owner is the C expression for the owner that the word at a place names.
func (fn *function) owner(p abi.Place) string {
	switch {
	case p.Deref:
		return fmt.Sprintf("anynpu_owner_at(a%d)", p.Param)
	case p.Field != "":
		return fmt.Sprintf("anynpu_owner_in(a%d, %d)", p.Param, fn.facade.words[wordOf(fn, p)])
	}
	return fmt.Sprintf("anynpu_owner(a%d)", p.Param)
}

// wordOf names the field at a place: TYPE.FIELD.
func wordOf(fn *function, p abi.Place) string { return fn.Params[p.Param].Type.Base + "." + p.Field }
