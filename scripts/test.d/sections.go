package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// stories are flags of go test that every call has. Much of their time the stories wait, for git and for programs: more of
// them run at once than there are cores. What ends them is a hang, see hangTime.
func stories(more ...string) []string {
	return append([]string{fmt.Sprintf("-parallel=%d", 2*runtime.NumCPU()), timeout}, more...)
}

// change runs what a change needs, or only some packages of it.
func (m *machine) change(ctx context.Context, o options) error {
	packages, tags := o.packages, []string(nil)
	var env []string
	if len(packages) == 0 {
		packages = []string{"./..."}
		if err := m.formatted(ctx); err != nil {
			return err
		}
		for _, c := range circles(m.cache) {
			if n, err := tests(c.tag); err != nil {
				return err
			} else if !o.all {
				m.leave("%d %s", n, c.what)
			}
		}
		m.leave("the race detector, the linters and the Action: --all and CI run them")
	}
	if o.all {
		tags, env = m.tagged(ctx)
	}
	args := append(stories("-vet=all"), o.flags...)
	return m.goTest(ctx, o, env, tags, append(args, packages...)...)
}

// tagged fetches what the circles need, and gives the tags and the environment of those that have it.
func (m *machine) tagged(ctx context.Context) (tags, env []string) {
	for _, c := range circles(m.cache) {
		if why := m.fetch(ctx, c.tools...); why != "" {
			n, _ := tests(c.tag)
			m.leave("%d %s (%s)", n, c.what, why)
			continue
		}
		tags = append(tags, c.tag)
		for name, value := range c.env {
			env = append(env, name+"="+value)
		}
	}
	if why := m.fetch(ctx, "git-next"); why != "" {
		m.leave("merges with a second git (%s)", why)
	} else if dir := m.cache + "/tools/git-next/bin"; exists(dir) {
		env = append(env, "MERGEXO_TEST_GIT="+dir)
	}
	return tags, env
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// fetch sees to it that tools are there, and gives the reason why one is not.
func (m *machine) fetch(ctx context.Context, tools ...string) string {
	if len(tools) == 0 {
		return ""
	}
	cmd := m.command(ctx, nil, append([]string{"scripts/tools"}, tools...)...)
	said := &progress{to: m.out}
	cmd.Stdout, cmd.Stderr = said, said
	err := cmd.Run()
	last := said.last
	if err != nil {
		return strings.TrimPrefix(last, "scripts/tools: ")
	}
	if _, none, ok := strings.Cut(last, ": none, "); ok {
		return none
	}
	return ""
}

func (m *machine) formatted(ctx context.Context) error {
	list, err := exec.CommandContext(ctx, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate", "--", "*.go").Output()
	if err != nil {
		return fmt.Errorf("list files: %w", err)
	}
	argv := []string{"gofmt", "-l"}
	for name := range strings.SplitSeq(strings.Trim(string(list), "\x00"), "\x00") {
		if exists(name) {
			argv = append(argv, name)
		}
	}
	out, err := m.command(ctx, nil, argv...).CombinedOutput()
	if (err != nil || len(out) > 0) && ctx.Err() == nil {
		m.out.line("not formatted:\n%s", strings.TrimSpace(string(out)))
		m.tally.add(0, "gofmt -w "+strings.Join(strings.Fields(string(out)), " "))
	}
	return nil
}

// everything runs all circles: two chains beside each other, so that what waits for a program or the network costs nothing.
func (m *machine) everything(ctx context.Context, o options) error {
	if err := m.formatted(ctx); err != nil {
		return err
	}
	var tags, env []string
	fetched := make(chan struct{})
	go func() {
		defer close(fetched)
		began := time.Now()
		if tags, env = m.tagged(ctx); ctx.Err() != nil {
			return
		}
		m.out.line("tools for the tests are there after %s: agent programs, browser, examples, second git", time.Since(began).Round(time.Second))
	}()
	m.check(ctx, "go vet", nil, "go", "vet", "-tags="+strings.Join(allTags(), ","), "./...") // compiles what the tests need
	<-fetched
	watched := []string{"-vet=off"}
	if m.raceable(ctx) {
		watched = append(watched, "-race")
	}
	both(
		func() {
			m.tests(ctx, o, env, tags, stories("-vet=off", "-skip="+beside), waiting...)
			m.tests(ctx, o, env, tags, append(stories(watched...), "-run="+beside), m.racing(ctx)...)
		},
		func() {
			m.tests(ctx, o, env, tags, stories("-vet=off"), m.others(ctx)...)
			m.tests(ctx, o, env, tags, stories(watched...), shared...)
			m.linters(ctx)
		},
	)
	return ctx.Err()
}

func allTags() []string {
	var tags []string
	for _, c := range circles("") {
		tags = append(tags, c.tag)
	}
	return tags
}

// both runs two chains beside each other.
func both(chains ...func()) {
	var wg sync.WaitGroup
	for _, chain := range chains {
		wg.Go(chain)
	}
	wg.Wait()
}

// tests is goTest for one of several chains: what cannot be run is one more failure.
func (m *machine) tests(ctx context.Context, o options, env, tags, flags []string, packages ...string) {
	if err := m.goTest(ctx, o, env, tags, append(flags, packages...)...); err != nil && ctx.Err() == nil {
		m.out.line("%v", err)
		m.tally.add(0, "scripts/test --all")
	}
}

// others are the packages that are neither shared nor waiting.
func (m *machine) others(ctx context.Context) []string {
	all, err := m.list(ctx, "./...")
	apart, err2 := m.list(ctx, slices.Concat(shared, waiting)...)
	if err != nil || err2 != nil {
		return []string{"./..."}
	}
	return slices.DeleteFunc(all, func(pkg string) bool { return slices.Contains(apart, pkg) })
}

// racing are those of the waiting packages that have a test which the race detector watches: the others are not compiled for it.
func (m *machine) racing(ctx context.Context) []string {
	files := make([]string, 0, len(waiting))
	for _, pattern := range waiting {
		files = append(files, ":(glob)"+strings.Replace(strings.TrimPrefix(pattern, "./"), "/...", "/**", 1)+"/*_test.go")
	}
	argv := append([]string{"git", "grep", "--untracked", "-lE", `^func (Test|Fuzz)\w*(` + beside + ")", "--"}, files...)
	out, err := m.command(ctx, nil, argv...).Output()
	if err != nil {
		return waiting
	}
	var dirs []string
	for name := range strings.FieldsSeq(string(out)) {
		dirs = append(dirs, "./"+filepath.Dir(name))
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// list gives the packages that patterns match.
func (m *machine) list(ctx context.Context, patterns ...string) ([]string, error) {
	out, err := m.command(ctx, nil, append([]string{"go", "list"}, patterns...)...).Output()
	return strings.Fields(string(out)), err
}

// raceable reports whether there is what the race detector needs.
func (m *machine) raceable(ctx context.Context) bool {
	cc, err := m.command(ctx, nil, "go", "env", "CC").Output()
	if err == nil {
		err = m.command(ctx, nil, strings.Fields(string(cc))[0], "--version").Run()
	}
	if err != nil {
		m.leave("the race detector (there is no C compiler: install gcc or clang)")
	}
	return err == nil
}

// check runs a program that is no test of Go's, once its tools are there.
func (m *machine) check(ctx context.Context, what string, tools []string, argv ...string) {
	if ctx.Err() != nil {
		return
	}
	if why := m.fetch(ctx, tools...); why != "" {
		m.leave("%s (%s)", what, why)
		return
	}
	began := time.Now()
	out, err := m.command(ctx, nil, argv...).CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		m.out.line("%s\nFAIL\t%s: %v", strings.TrimSpace(string(out)), what, err)
		m.tally.add(0, strings.Join(argv, " "))
		return
	}
	m.out.line("ok  \t%s\t%.3fs", what, time.Since(began).Seconds())
}

// linters are the checks of what is written, and of the Action.
func (m *machine) linters(ctx context.Context) {
	m.check(ctx, "the published descriptions", nil, "scripts/schemas", "--check")
	m.check(ctx, "the live run, against the sandbox", nil, "scripts/live", "--sandbox", "--only", "identity,refs")
	m.check(ctx, "the Action under a workflow runner", []string{"act"}, "scripts/act")
	m.check(ctx, "shellcheck and actionlint", []string{"shellcheck", "actionlint"}, "scripts/lint")
	m.check(ctx, "staticcheck", []string{"staticcheck"}, m.cache+"/tools/staticcheck", "-tags="+strings.Join(allTags(), ","), "./...")
}
