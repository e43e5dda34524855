package main

import (
	"bufio"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/backends/dl/loader"
	"github.com/anynpu/anynpu/core/spec"
)

func newExec(stderr io.Writer) *cobra.Command {
	f := execFlags{}
	cmd := &cobra.Command{
		Use:   "exec [--api NAME] [--log LEVEL] [--report[=FILE]] -- PROGRAM ARGS...",
		Short: "Run a program with AnyNPU in place of the vendors' libraries",
		Long: `exec runs a program that is already built, for which the vendors' library names
mean AnyNPU: the folder of its stub libraries goes first in LD_LIBRARY_PATH. The
programs that it starts get the same. No file is changed.

A program that this cannot serve is told so, with what to do: one that is
set-id, 32-bit or for another machine, or has an RPATH that leads to a vendor's
library. A script is judged by its interpreter. A static program runs, with a
warning.

--api NAME preloads the libraries of one API instead, so that the names of other
APIs keep their meaning, and an RPATH does not matter.

--report tells what the program did: the functions that it called, refused calls
with the reason, models, devices, times, and what it did not give back. It goes to
standard error, or to FILE: as one HTML page if that ends in .html, else as text.

exec becomes the program, so that its exit code and its signals are the
program's. With --report, and for a program of hbDNN whose file does not say how
large its structs are, it waits for the program, passes signals on, and ends as
the program ended. Before that, 125 means that exec itself failed, 126 that the program
cannot be run so, 127 that there is none.`,
		Example: "  anynpu exec -- ./program model.rknn\n  anynpu exec --log rknn=trace -- ./run.sh\n" +
			"  anynpu exec --report=report.html -- ./program model.rknn",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("exec: want the program to run, as in: anynpu exec -- ./program [tool-exec-program-run]")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			return f.run(args, os.Environ(), stderr)
		},
	}
	cmd.Flags().StringVar(&f.api, "api", "", "put AnyNPU in place of this API's libraries alone: "+
		strings.Join(vendorAPIs(), " or "))
	complete(cmd, "api", vendorAPIs()...)
	cmd.Flags().StringVar(&f.log, "log", "", "sets ANYNPU_LOG")
	complete(cmd, "log", "off", "error", "warn", "info", "debug", "trace")
	cmd.Flags().StringVar(&f.report, "report", "", "tell what the program did: text to standard error, or a `FILE`")
	cmd.Flags().Lookup("report").NoOptDefVal = "-"
	cmd.Flags().SetInterspersed(false)
	return cmd
}

// vendorAPIs are the APIs whose libraries have vendors' names.
func vendorAPIs() (names []string) {
	for _, a := range spec.Vendors() {
		names = append(names, a.Name)
	}
	return names
}

// run becomes the program. It returns only with an error.
func (f *execFlags) run(args, environment []string, stderr io.Writer) error {
	if f.api != "" && !slices.Contains(vendorAPIs(), f.api) {
		return usage("exec: no API %q; there is: %s [tool-exec-no-api]", f.api, strings.Join(vendorAPIs(), ", "))
	}
	stubs := stubFolder()
	if stubs == "" {
		return exit(exitExec, errors.New("exec: AnyNPU's libraries are not beside this tool, as make and make "+
			"install put them"))
	}
	if strings.ContainsAny(stubs, ":; \t\n") {
		return exit(exitExec, fmt.Errorf("exec: the loader takes no folder with this name: %q", stubs))
	}
	if f.core = loader.In(stubs, loader.Core); f.core == "" {
		f.core = loader.In(filepath.Dir(stubs), loader.Core)
	}
	if core, err := loader.Read(f.core); err == nil {
		f.musl = core.Musl()
	}
	path, err := findProgram(args[0], os.Getenv("PATH"))
	if err != nil {
		return err
	}
	note, err := f.judge(args[0], path, 0)
	if err != nil {
		return err
	}
	if note != "" {
		printf(stderr, "anynpu: exec: %s\n", note)
	}
	environment, note = f.setABI(args[0], path, f.environ(stubs, environment))
	if note != "" {
		printf(stderr, "anynpu: exec: %s\n", note)
	}
	if f.report != "" {
		return f.reported(path, args, environment, stderr)
	}
	if untoldABI(path, environment) {
		return watched(path, args, environment, stderr)
	}
	return startError(args[0], unix.Exec(path, args, environment))
}

// environ returns the environment of the program.
func (f *execFlags) environ(stubs string, environment []string) []string {
	env := lookup(environment)
	set := func(name, value string) { environment = setVariable(environment, name, value) }
	first := func(name, value string) {
		if before := env(name); before != "" {
			value += ":" + before
		}
		set(name, value)
	}
	if f.api == "" {
		first("LD_LIBRARY_PATH", stubs)
		if f.musl { // whose loader cannot open the library later
			first("LD_PRELOAD", f.core)
		}
	} else {
		var files []string
		for _, soname := range sonames(f.api) {
			files = append(files, filepath.Join(stubs, soname))
		}
		first("LD_PRELOAD", strings.Join(files, ":"))
	}
	if f.log != "" {
		set("ANYNPU_LOG", f.log)
	}
	return environment
}

// findProgram finds a program as shells do: a name with a slash is a path, any other is looked for in the folders of
// PATH.
func findProgram(name, search string) (string, error) {
	if strings.Contains(name, "/") {
		return name, runnable(name, name)
	}
	var found error
	for _, folder := range filepath.SplitList(search) {
		if folder == "" {
			folder = "."
		}
		path := filepath.Join(folder, name)
		if !strings.Contains(path, "/") {
			path = "./" + path
		}
		err := runnable(name, path)
		var coded *exitError
		switch {
		case err == nil:
			return path, nil
		case found == nil && errors.As(err, &coded) && coded.code != exitMissing:
			found = err
		}
	}
	if found == nil {
		found = refuse(exitMissing, name, "not found in PATH; a program in this folder is ./%s "+
			"[tool-found-path-program]", name)
	}
	return "", found
}

// runnable says why the file at path cannot be executed.
func runnable(name, path string) error {
	at, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR):
		return refuse(exitMissing, name, "there is no such file [tool-exec-no-file]")
	case err != nil:
		return refuse(exitCannot, name, "%v [tool-exec-file]", err)
	case at.IsDir():
		return refuse(exitCannot, name, "is a folder, not a program [tool-exec-folder]")
	case unix.Access(path, unix.X_OK) != nil:
		return refuse(exitCannot, name, "is not executable; type: chmod +x %s "+
			"[tool-executable-type-chmod]", quoted(path))
	}
	return nil
}

// judge says whether AnyNPU's libraries reach the program at path: an error says why not, a note what else to know.
// depth counts the scripts that led to it.
func (f *execFlags) judge(name, path string, depth int) (note string, err error) {
	file, err := loader.Read(path)
	switch {
	case errors.Is(err, loader.ErrNotELF) && depth < 5:
		return f.judgeScript(name, path, depth)
	case errors.Is(err, fs.ErrPermission): // it can be executed, not read
		return "", nil
	case err != nil:
		return "", refuse(exitCannot, name, "%v [tool-exec-file]", err)
	}
	switch {
	case !file.Fits():
		return "", foreign(name, file)
	case file.Interp == "":
		return name + ": is linked statically and loads no library, AnyNPU's neither; only programs that it starts may. " +
			"Link it again without -static", nil
	case file.Musl() != f.musl:
		return "", refuse(exitCannot, name, "is a program of %s, and the libraries beside this tool are of %s "+
			"[tool-program-libraries-beside]",
			libcName(file.Musl()), libcName(f.musl))
	}
	if _, err := os.Stat(file.Interp); err != nil {
		return "", refuse(exitMissing, name, "its loader %s is not here [tool-loader]", file.Interp)
	}
	if privileged(path) {
		return "", refuse(exitCannot, name, "gets rights that you lack (set-id or capabilities), so the loader ignores "+
			"LD_LIBRARY_PATH and LD_PRELOAD; a copy has no such rights: cp %s /tmp/ && anynpu exec -- %s "+
			"[tool-gets-rights-you]", quoted(path),
			quoted(filepath.Join("/tmp", filepath.Base(path))))
	}
	return "", f.judgeRPath(name, path, file)
}

func libcName(musl bool) string {
	if musl {
		return "musl"
	}
	return "glibc"
}

// judgeRPath refuses a program whose own search path, which comes before LD_LIBRARY_PATH, has a vendor's library.
func (f *execFlags) judgeRPath(name, path string, file *loader.File) error {
	if f.api != "" || f.musl { // preloaded, or looked for in LD_LIBRARY_PATH first, as musl does
		return nil
	}
	for _, a := range spec.APIs {
		for _, soname := range a.Sonames {
			for _, folder := range file.RPath {
				at := loader.In(folder, soname)
				if found, err := loader.Read(at); err != nil || found.Ours {
					continue
				}
				return refuse(exitCannot, name, "its RPATH leads to %s and comes before LD_LIBRARY_PATH; type: "+
					"anynpu exec --api %s -- %s, which preloads, or, for good: patchelf --remove-rpath %s "+
					"[tool-rpath-leads-comes]", at, a.Name,
					quoted(name), quoted(path))
			}
		}
	}
	return nil
}

// foreign is the refusal of a program for another machine or of 32 bits.
func foreign(name string, file *loader.File) error {
	own, its := machineName(loader.Machine()), machineName(file.Machine)
	switch {
	case file.Class == elf.ELFCLASS32:
		return refuse(exitCannot, name, "is a 32-bit program, and AnyNPU's libraries are 64-bit; build it again "+
			"for %s [tool-bit-program-npu]", own)
	case file.Machine == elf.EM_AARCH64:
		return refuse(exitCannot, name, "is a program for arm64, and this machine is %s; with AnyNPU for arm64 installed in "+
			"FOLDER type: qemu-aarch64 -E LD_LIBRARY_PATH=FOLDER/lib/anynpu %s "+
			"[tool-program-arm64-machine]", own, quoted(name))
	}
	return refuse(exitCannot, name, "is a program for %s, and this machine is %s; build it again for %[2]s "+
		"[tool-program-machine-build]", its, own)
}

// machineName is the name that people use.
func machineName(m elf.Machine) string {
	if name := map[elf.Machine]string{elf.EM_X86_64: "x86_64", elf.EM_AARCH64: "arm64"}[m]; name != "" {
		return name
	}
	return strings.ToLower(strings.TrimPrefix(m.String(), "EM_"))
}

// privileged says whether the kernel gives the program rights that its caller lacks.
func privileged(path string) bool {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return false
	}
	if st.Mode&unix.S_ISUID != 0 && int(st.Uid) != os.Getuid() || st.Mode&unix.S_ISGID != 0 && st.Mode&unix.S_IXGRP != 0 &&
		int(st.Gid) != os.Getgid() {
		return true
	}
	n, err := unix.Getxattr(path, "security.capability", nil)
	return err == nil && n > 0 && os.Getuid() != 0
}

// judgeScript judges the interpreter that the first line of a script names, or the command behind env.
func (f *execFlags) judgeScript(name, path string, depth int) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", refuse(exitCannot, name, "%v [tool-exec-file]", err)
	}
	defer file.Close()
	line, _ := bufio.NewReader(io.LimitReader(file, 4096)).ReadString('\n')
	rest, script := strings.CutPrefix(line, "#!")
	words := strings.Fields(rest)
	if !script || len(words) == 0 {
		return "", refuse(exitCannot, name, "is neither a program nor a script whose first line begins with #!; if it is "+
			"one "+
			"of the shell's type: anynpu exec -- sh %s [tool-program-script-line]", quoted(path))
	}
	interpreter := words[0]
	if err := runnable(name, interpreter); err != nil {
		return "", refuse(exitMissing, name, "its interpreter %s cannot be run [tool-interpreter-run]", interpreter)
	}
	if filepath.Base(interpreter) == "env" {
		for _, word := range words[1:] {
			if strings.HasPrefix(word, "-") || strings.Contains(word, "=") {
				continue
			}
			at, err := findProgram(word, os.Getenv("PATH"))
			if err != nil {
				return "", refuse(exitMissing, name, "its interpreter %s is not in PATH [tool-interpreter-path]", word)
			}
			return f.judge(name+": its interpreter "+at, at, depth+1)
		}
	}
	return f.judge(name+": its interpreter "+interpreter, interpreter, depth+1)
}
