package trace

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

var identifier = regexp.MustCompile(`\b[pmn]\d+\b`)

// source puts the program together.
func (p *printer) source() string {
	c := p.c
	var body strings.Builder
	for _, cb := range p.order {
		if !strings.Contains(p.main.String(), cb.name) && !p.mentioned(cb.name) {
			continue
		}
		fmt.Fprintf(&body, "\nstatic int %s_begun, %[1]s_done;\n\nstatic uint64_t %[1]s(%s) {\n"+
			"  uint64_t result = 0;\n", cb.name, cb.parameters())
		for i := range cb.args {
			fmt.Fprintf(&body, "  (void)a%d;\n", i)
		}
		fmt.Fprintf(&body, "  switch (__atomic_fetch_add(&%s_begun, 1, __ATOMIC_SEQ_CST)) {\n%s  }\n"+
			"  __atomic_fetch_add(&%[1]s_done, 1, __ATOMIC_SEQ_CST);\n  return result;\n}\n", cb.name, cb.cases.String())
	}
	most := 0
	for i, all := range p.bodies {
		most = max(most, len(all))
		for k, text := range all {
			fmt.Fprintf(&body, "\nstatic void *thread%d_%d(void *none) {\n%s  return none;\n}\n", i, k, text)
		}
	}
	body.WriteString("\nint main(int argc, char **argv) {\n")
	if most > 0 {
		fmt.Fprintf(&body, "  pthread_t threads[%d];\n", most)
	}
	for _, e := range c.Environ {
		name, value, _ := strings.Cut(e, "=")
		fmt.Fprintf(&body, "  setenv(%s, %s, 1);\n", quoted(name), quoted(value))
	}
	if p.files {
		body.WriteString("  if (!mkdtemp(folder))\n    fail(\"%s: %s\", folder, strerror(errno));\n")
	}
	fmt.Fprintf(&body, `  library = dlopen(argc > 1 ? argv[1] : %s, RTLD_NOW);
  if (!library)
    fail("%%s", dlerror());
`, quoted(c.Soname))
	for _, name := range slices.Sorted(maps.Keys(p.names)) {
		fmt.Fprintf(&body, "  need(&call_%s, %s);\n", name, quoted(name))
	}
	body.WriteString("  alarm(120);\n\n")
	body.WriteString(p.main.String())
	body.WriteString("  printf(\"passed\\n\");\n  return 0;\n}\n")

	mentioned := map[string]bool{}
	for _, m := range identifier.FindAllString(body.String(), -1) {
		mentioned[m] = true
	}
	var b strings.Builder
	fmt.Fprintf(&b, "/* %s\n", strings.ReplaceAll(c.ID, "*/", "* /"))
	fmt.Fprintf(&b, " * A case of the conformance suite of the %s%s as a program of its own.\n", c.API, c.mode())
	if c.Message != "" {
		fmt.Fprintf(&b, " * It failed with:\n *   %s\n", comment(c.Message))
	}
	fmt.Fprintf(&b, ` *
 *   cc -Wall -Wextra -Iinclude FILE.c -o FILE -ldl -lpthread -lm
 *   ./FILE [LIBRARY]
 *
 * include is the folder of the API's headers; LIBRARY is %s if it is not named. Exit code: 0 passed, 1 failed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

`, c.Soname)
	for _, h := range c.Headers.Files {
		fmt.Fprintf(&b, "#include <%s>\n", h)
	}
	b.WriteString("\n/* The functions of the library, found by their names. */\n")
	for _, name := range slices.Sorted(maps.Keys(p.names)) {
		if n, none := p.missing[name]; none {
			fmt.Fprintf(&b, "static uint64_t (*call_%s)(%s);\n", name, strings.TrimSuffix(strings.Repeat("uint64_t, ", n), ", "))
		} else {
			fmt.Fprintf(&b, "static __typeof__(%s) *call_%[1]s;\n", name)
		}
		fmt.Fprintf(&b, "#define %s (*call_%[1]s)\n", name)
	}
	b.WriteString(`
#define HELPER static __attribute__((unused))
#define CODE(want, call) check_code(#call, (int64_t)(call), want)
#define CODE_OR(call, codes, n) check_refusal(#call, (int64_t)(call), codes, n)

HELPER char folder[] = "/tmp/case-XXXXXX";

HELPER const char *code_name(int64_t code) {
  switch (code) {
`)
	for _, code := range slices.Sorted(maps.Keys(c.Codes)) {
		fmt.Fprintf(&b, "  case %d:\n    return %s;\n", code, quoted(c.Codes[code]))
	}
	b.WriteString("  }\n  return \"no code of the API\";\n}\n")
	b.WriteString(prelude)
	b.WriteString("\n/* Memory of the program. */\n")
	for _, r := range p.regions {
		if mentioned[r.name] {
			b.WriteString(r.declaration())
		}
	}
	b.WriteString("\n/* Objects and memory that the library gives. */\n")
	for _, k := range p.captures {
		if mentioned[k.name] {
			fmt.Fprintf(&b, "static void *%s;\n", k.name)
		}
	}
	for _, name := range p.descriptors {
		fmt.Fprintf(&b, "static int %s;\n", name)
	}
	for i := range p.codes {
		if name := fmt.Sprintf("n%d", i); mentioned[name] {
			fmt.Fprintf(&b, "static int64_t %s;\n", name)
		}
	}
	b.WriteString(body.String())
	return b.String()
}

// mentioned tells whether a name is used outside of main.
func (p *printer) mentioned(name string) bool {
	for _, cb := range p.order {
		if strings.Contains(cb.cases.String(), name) {
			return true
		}
	}
	for _, all := range p.bodies {
		for _, text := range all {
			if strings.Contains(text, name) {
				return true
			}
		}
	}
	return false
}

func (c *callback) parameters() string {
	if c.args == 0 {
		return "void"
	}
	out := make([]string, c.args)
	for i := range out {
		out[i] = fmt.Sprintf("uint64_t a%d", i)
	}
	return strings.Join(out, ", ")
}

func (c *Case) mode() string {
	if c.Mode == "" {
		return ""
	}
	return ", in the mode " + c.Mode + ","
}

func comment(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "*/", "* /"), "\n", "\n *   ")
}

// declaration declares an object.
func (r *region) declaration() string {
	count := int(r.size)
	switch {
	case r.path:
		return fmt.Sprintf("static char %s[4096];\n", r.name)
	case r.layout != nil:
		count = r.typ.Count
	case r.typ.scalar() != "":
		count /= sizes[r.typ.scalar()]
	default:
		return fmt.Sprintf("static _Alignas(16) unsigned char %s[%d];\n", r.name, count)
	}
	out := fmt.Sprintf("static %s ", r.cType())
	if strings.HasSuffix(r.cType(), "*") {
		out = "static void *"
	}
	out += r.name
	if !r.single() {
		out += fmt.Sprintf("[%d]", count)
	}
	if r.initial != "" {
		out += " = " + r.initial
	}
	return out + ";\n"
}
