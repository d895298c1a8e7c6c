package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mergexo/mergexo/internal/clock"
)

// tally is the result of all tests so far.
type tally struct {
	mu     sync.Mutex
	passed int
	broken []string // a line for each thing that failed: what runs it again
}

func (t *tally) add(passed int, broken ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.passed += passed
	t.broken = append(t.broken, broken...)
}

func (t *tally) failed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.broken) > 0
}

// again prints what to run again where something failed.
func (t *tally) again(out io.Writer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, again := range t.broken[:min(len(t.broken), 20)] {
		fmt.Fprintf(out, "again: %s\n", again)
	}
	if len(t.broken) > 20 {
		fmt.Fprintf(out, "and %d more\n", len(t.broken)-20)
	}
}

// tell prints one line about all, with the order that runs it so again.
func (t *tally) tell(out io.Writer, took time.Duration, o options, order string, missing []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	left := "nothing left out"
	if len(missing) > 0 {
		left = "left out: " + strings.Join(missing, "; ")
		if o.all {
			left += "; CI runs these too"
		}
	}
	if o.stress {
		order = "an order a round"
	}
	fmt.Fprintf(out, "scripts/test: %d tests passed, %d failed, in %s, %s; %s\n", t.passed, len(t.broken), took.Round(time.Second), order, left)
}

// event is a line of go test -json: https://pkg.go.dev/cmd/test2json
type event struct {
	Action, Package, Test, Output string
	ImportPath                    string
	Elapsed                       float64
}

// result is a package under test.
type result struct {
	passed int
	failed []string            // tests, in the order in which they failed
	said   map[string][]string // by test; "" for the package itself
}

// goTest runs go test with these arguments and prints a line for each package, and all that a test said that failed.
func (m *machine) goTest(ctx context.Context, o options, env, tags []string, args ...string) error {
	argv := []string{"go", "test", "-json", fmt.Sprintf("-shuffle=%d", o.seed)}
	if len(tags) > 0 {
		argv = append(argv, "-tags="+strings.Join(tags, ","))
	}
	if slices.Contains(args, "-race") {
		env = append(slices.Clone(env), "CGO_ENABLED=1") // the race detector needs cgo
	}
	cmd := m.command(ctx, env, append(argv, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	var errout bytes.Buffer
	cmd.Stderr = &errout
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start go test: %w", err)
	}
	heard, stop := onSilence(clock.Or(nil), func(s syscall.Signal, silent time.Duration) {
		m.out.line("nothing has happened for %s: the tests that run hang, and are ended", silent)
		_ = syscall.Kill(-cmd.Process.Pid, s)
	})
	f := &folding{m: m, o: o, packages: map[string]*result{}, heard: heard}
	f.read(out)
	err = cmd.Wait()
	stop()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil && !f.told { // it did not even come to a package
		m.out.line("%s", strings.TrimSpace(errout.String()))
		m.tally.add(0, shown(cmd))
	}
	return nil
}

// shown is a command as one can type it.
func shown(cmd *exec.Cmd) string { return strings.Join(cmd.Args, " ") }

// folding makes of events what a person reads.
type folding struct {
	m        *machine
	o        options
	packages map[string]*result
	told     bool // that something failed
	heard    func()
}

func (f *folding) read(out io.Reader) {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		f.heard()
		var e event
		if json.Unmarshal(line, &e) != nil {
			f.m.out.line("%s", bytes.TrimSpace(line))
			continue
		}
		f.take(e)
	}
}

func (f *folding) take(e event) {
	if e.Package == "" { // what the compiler says
		if e.Action == "build-output" {
			f.m.out.line("%s", strings.TrimSuffix(e.Output, "\n"))
		}
		return
	}
	r := f.packages[e.Package]
	if r == nil {
		r = &result{said: map[string][]string{}}
		f.packages[e.Package] = r
	}
	switch e.Action {
	case "output":
		r.said[e.Test] = append(r.said[e.Test], e.Output)
	case "pass":
		if e.Test == "" {
			f.end(e, r)
		} else {
			r.passed++
			delete(r.said, e.Test)
		}
	case "fail":
		if e.Test == "" {
			f.end(e, r)
		} else {
			r.failed = append(r.failed, e.Test)
		}
	}
}

// end prints a package whose tests are over.
func (f *folding) end(e event, r *result) {
	delete(f.packages, e.Package)
	if e.Action == "pass" {
		if r.passed > 0 {
			f.m.out.line("ok  \t%s\t%.3fs\t%d tests", e.Package, e.Elapsed, r.passed)
		}
		f.m.tally.add(r.passed)
		return
	}
	f.told = true
	var text strings.Builder
	again := f.again(e.Package, "")
	for _, name := range r.failed {
		text.WriteString(strings.Join(r.said[name], ""))
	}
	leaves := slices.DeleteFunc(slices.Clone(r.failed), func(name string) bool {
		return slices.ContainsFunc(r.failed, func(other string) bool { return strings.HasPrefix(other, name+"/") })
	})
	broken := make([]string, 0, len(leaves))
	for _, name := range leaves {
		broken = append(broken, f.again(e.Package, name))
	}
	if len(broken) == 0 { // a panic, a hang, a test program that does not compile
		broken = append(broken, again)
		var running []string
		for name := range r.said {
			if name != "" {
				running = append(running, name)
			}
		}
		slices.Sort(running)
		for _, name := range running {
			text.WriteString(strings.Join(r.said[name], ""))
		}
		text.WriteString(strings.Join(r.said[""], ""))
	}
	f.m.out.line("%s\nFAIL\t%s\t%.3fs", strings.TrimRight(text.String(), "\n"), e.Package, e.Elapsed)
	f.m.tally.add(r.passed, broken...)
}

// again is the command that runs one test again, in the same order among the others of its package.
func (f *folding) again(pkg, test string) string {
	argv := []string{"scripts/test"}
	if f.o.all {
		argv = append(argv, "--all")
	}
	argv = append(argv, "./"+strings.TrimPrefix(pkg, "github.com/mergexo/mergexo/"))
	if test != "" {
		parts := strings.Split(test, "/")
		for i, p := range parts {
			parts[i] = "^" + strings.ReplaceAll(regexp.QuoteMeta(p), "'", ".") + "$" // the shell reads a quote, and a dot is any character
		}
		argv = append(argv, "-run", "'"+strings.Join(parts, "/")+"'")
	}
	return strings.Join(append(argv, f.o.order()), " ")
}

// order is the flag that has tests run in the order of this run: the caller's own, else that of our seed.
func (o options) order() string {
	for _, flag := range slices.Backward(o.flags) {
		if strings.HasPrefix(flag, "-shuffle=") {
			return flag
		}
	}
	return fmt.Sprintf("-shuffle=%d", o.seed)
}
