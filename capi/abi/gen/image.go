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
	b.WriteString("\n/* The way into Go. */")
	for _, fn := range img.forms() {
		b.WriteString(fn.enter())
	}
	b.WriteString("\nextern anynpu_fn anynpu_slot[] ANYNPU_HIDDEN;\nextern const anynpu_fn anynpu_counted[] " +
		"ANYNPU_HIDDEN;\n" +
		"anynpu_fn anynpu_target[FUNCTIONS] ANYNPU_HIDDEN;\nstatic anynpu_fn driver[FUNCTIONS], driven[FUNCTIONS];\n")
	column(&b, "static anynpu_fn live[FUNCTIONS]", img.funcs,
		func(fn *function) string { return fmt.Sprintf("(anynpu_fn)enter_%d", fn.index) })
	b.WriteString("\n/* A call of the driver's where calls are counted: counts those that it refuses. */\n")
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
	column(&b, "static const uint8_t own[FUNCTIONS]", img.funcs, func(fn *function) string {
		return fmt.Sprintf("%d /* %s */", btoi(fn.Creates || fn.Owner == abi.OwnerNever), fn.Name)
	})
	column(&b, "static const anynpu_fn mixed[FUNCTIONS]", img.funcs, func(fn *function) string {
		if fn.router() == "" {
			return "NULL"
		}
		return fmt.Sprintf("(anynpu_fn)mixed_%d", fn.index)
	})
	column(&b, "static const anynpu_fn judged[FUNCTIONS]", img.funcs, func(fn *function) string { return fn.judged() })
	b.WriteString("\nstatic const anynpu_fn judged_former[FUNCTIONS] = {\n")
	for _, fn := range img.funcs {
		if fn.former != nil {
			fmt.Fprintf(&b, "\t[%d] = %s, /* %s */\n", fn.index, fn.former.judged(), fn.Name)
		}
	}
	b.WriteString("};\n")
	b.WriteString("\nstatic const anynpu_fn former[FUNCTIONS] = {\n")
	for _, fn := range img.funcs {
		if fn.former != nil {
			fmt.Fprintf(&b, "\t[%[1]d] = (anynpu_fn)enter_%[1]d_former, /* %[2]s */\n", fn.index, fn.Name)
		}
	}
	b.WriteString("};\n")
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

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
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
	result, store, ret, failed := cABI(fn.goResult()), "", "return", ""
	if result != "void" {
		store, ret, failed = result+" r = ", "return r", " "+fn.failed()
	}
	return fmt.Sprintf(`
extern %[1]s nnc_%[2]s(%[3]s);
static %[1]s enter_%[4]d%[11]s(%[5]s)
{
	if (!anynpu_enter()) {
		if (anynpu_forked())
			return dead_%[4]d%[11]s(%[10]s);
		anynpu_report_handler(%[4]d);
		return%[6]s;
	}
	%[7]snnc_%[2]s(%[8]s);
	anynpu_leave();
	%[9]s;
}
`, result, fn.symbol(), taken, fn.index, decls(args), failed, store, strings.TrimSuffix(passed, "void"), ret,
		names(fn.deadArguments()), fn.form)
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
	if fn.judged() == "NULL" {
		return ""
	}
	failed := "!r"
	if fn.isStatus() {
		failed = "r"
	}
	args := fn.arguments()
	return fmt.Sprintf(`
static %[1]s judged_%[2]d%[3]s(%[4]s)
{
	%[1]s r = ((%[1]s (*)(%[5]s))driver[%[2]d])(%[6]s);
	if (%[7]s)
		__atomic_fetch_add(&anynpu_refusals[%[2]d], 1, __ATOMIC_RELAXED);
	return r;
}
`, cABI(fn.goResult()), fn.index, fn.form, decls(args), types(args), names(args), failed)
}

// judged names that function; NULL for functions whose result is no failure, and where there are no drivers.
func (fn *function) judged() string {
	if !fn.facade.Drivers || !fn.isStatus() && fn.goResult() != "uintptr" {
		return "NULL"
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
	result, ret := cABI(fn.goResult()), "return "
	if result == "void" {
		ret = ""
	}
	return fmt.Sprintf(`
static %[1]s mixed_%[2]d(%[3]s)
{
	anynpu_fn f = %[4]s ? driven[%[2]d] : __atomic_load_n(&live[%[2]d], __ATOMIC_ACQUIRE);
	%[5]s((%[1]s (*)(%[6]s))f)(%[7]s);
}
`, result, fn.index, decls(args), strings.Join(theirs, " || "), ret, types(args), names(args))
}

// routed says whether something in a call decides between Go and driver.
func (fn *function) routed() bool { return fn.facade.Drivers && (fn.Creates || len(fn.Owners) > 0) }

// owner is the C expression for what the word at a place says.
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
