package internal_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/must"
)

// convention is a call that only some places may make.
type convention struct {
	pkg     string   // import path
	names   []string // functions
	allowed []string // files, or packages with everything in them
	why     string
}

var conventions = []convention{
	{"os", []string{"Getenv", "LookupEnv", "Environ", "ExpandEnv", "Setenv", "Unsetenv", "Clearenv", "UserHomeDir", "UserCacheDir", "UserConfigDir", "TempDir"},
		[]string{"internal/cli"}, "only cli reads the environment"},
	{"syscall", []string{"Getenv", "Environ", "Setenv", "Unsetenv", "Clearenv"}, []string{"internal/cli"}, "only cli reads the environment"},
	{"os", []string{"Exit"}, []string{"cmd/mergexo/main.go"}, "only main exits"},
	{"syscall", []string{"Exit"}, nil, "only main exits"},
	{"log", []string{"Fatal", "Fatalf", "Fatalln", "Panic", "Panicf", "Panicln"}, nil, "only main exits"},
	{"os", []string{"MkdirTemp"}, []string{"internal/scratch", "internal/git/transport/unbundle.go", "internal/agent/isolation_user.go", "internal/git/checkout/workspace.go"}, "make it with package scratch, so that the next run removes what a killed one leaves"},
	{"time", []string{"Sleep"}, nil, "wait on a timer that a context can end"},
	{"", []string{"panic"}, nil, "return an error"},
	{module + "/internal/git/transport", []string{"Publish", "PublishIsolated", "Rewrite", "PushCar", "SwapPrivate", "Stage", "WritePrivate", "Mirror", "Delete", "DeleteAll", "Forget", "AcquireLock", "TakeOverLock", "Unlock"},
		[]string{"internal/engine/effect", "internal/git/transport", "internal/engine/landing/local.go", "internal/engine/landing/local_land.go"}, onlyAppliers},
}

// A merge without GitHub is the exception: what it changes is the person's own.
const onlyAppliers = "only the appliers of effects change anything outside"

// writes are the methods of GitHub's client that change something, by its handles.
var writes = map[string][]string{
	"Actions":  {"Cancel", "Dispatch", "RerunFailed"},
	"Comments": {"Create", "Delete", "Edit", "Minimize", "React", "Reply"},
	"Commits":  {"Report"},
	"Issues":   {"AddLabel", "AddSub", "Close", "Create", "Open", "RemoveLabel"},
	"Pulls":    {"Close", "Create", "Dequeue", "Enqueue", "Merge", "ResolveThread", "Retarget", "Review"},
	"Refs":     {"Create", "Delete"},
}

// written are the methods of GitHub's client that a file calls, as writes has them. Effects call no others.
func written(file *ast.File) map[string][]string {
	all := map[string][]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if handle, ok := sel.X.(*ast.SelectorExpr); ok {
				client, asked := handle.X.(*ast.CallExpr)
				if strings.HasPrefix(selected(handle), "to.") || asked && strings.HasSuffix(selected(client.Fun), ".GitHub") {
					all[handle.Sel.Name] = append(all[handle.Sel.Name], sel.Sel.Name)
				}
			}
		}
		return true
	})
	return all
}

// checkWrites lists the calls in a file of the engine by which it changes something on GitHub itself.
func checkWrites(path string, file *ast.File) []string {
	var wrong []string
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if handle, ok := call.X.(*ast.SelectorExpr); ok && slices.Contains(writes[handle.Sel.Name], call.Sel.Name) {
			wrong = append(wrong, fmt.Sprintf("%s calls %s.%s: %s", path, handle.Sel.Name, call.Sel.Name, onlyAppliers))
		}
		return true
	})
	return wrong
}

// checkConventions lists the calls in one file, named by its path in this repository, that it may not make.
func checkConventions(path string, file *ast.File) []string {
	names := map[string]string{} // as the file calls it -> import path
	for _, i := range file.Imports {
		p, _ := strconv.Unquote(i.Path.Value)
		name := filepath.Base(p)
		if i.Name != nil {
			name = i.Name.Name
		}
		names[name] = p
	}
	var wrong []string
	ast.Inspect(file, func(n ast.Node) bool {
		pkg, fn := "", ""
		switch x := n.(type) {
		case *ast.SelectorExpr:
			if id, ok := x.X.(*ast.Ident); ok && names[id.Name] != "" {
				pkg, fn = names[id.Name], x.Sel.Name
			}
		case *ast.CallExpr:
			if id, ok := x.Fun.(*ast.Ident); ok {
				fn = id.Name
			}
		}
		for _, m := range conventions {
			if m.pkg == pkg && slices.Contains(m.names, fn) && !slices.Contains(m.allowed, path) && !slices.Contains(m.allowed, filepath.Dir(path)) {
				wrong = append(wrong, fmt.Sprintf("%s calls %s: %s", path, strings.TrimPrefix(pkg+"."+fn, "."), m.why))
			}
		}
		return true
	})
	return wrong
}

// hasty are what lets the machine's speed decide how a test ends: a span of time that is waited for or measured.
var hasty = map[string][]string{
	"time":    {"Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick", "Since", "Until", "Millisecond", "Microsecond"},
	"context": {"WithTimeout", "WithTimeoutCause", "WithDeadline", "WithDeadlineCause"},
	"assert":  {"Eventually", "Eventuallyf", "EventuallyWithT", "EventuallyWithTf", "Never", "Neverf"},
	"require": {"Eventually", "Eventuallyf", "EventuallyWithT", "EventuallyWithTf", "Never", "Neverf"},
}

// checkTest lists what a test may not do: a test that is skipped shows nothing, and one that goes by the time shows how fast
// a machine is. Benchmarks may measure it; clocktest.Hang is the only limit, and durations are compared where they are values.
func checkTest(path string, file *ast.File) []string {
	var wrong []string
	for _, decl := range file.Decls {
		f, isFunc := decl.(*ast.FuncDecl)
		measures := strings.HasSuffix(path, "bench_test.go") || isFunc && takesB(f)
		ast.Inspect(decl, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.CallExpr: // a limit that nothing but a hang reaches
				if slices.ContainsFunc(x.Args, func(a ast.Expr) bool { return selected(a) == "clocktest.Hang" }) {
					return false
				}
			case *ast.CompositeLit: // a list of durations is a value
				if t, ok := x.Type.(*ast.ArrayType); ok && selected(t.Elt) == "time.Duration" {
					return false
				}
			case *ast.SelectStmt: // without cgo, the runtime takes a program that waits so for a deadlock, and ends it
				if len(x.Body.List) == 0 {
					wrong = append(wrong, path+" waits in an empty select: read from a pipe that nobody closes")
				}
			case *ast.SelectorExpr:
				if slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, x.Sel.Name) {
					wrong = append(wrong, path+" skips a test")
				}
				if id, ok := x.X.(*ast.Ident); ok && !measures && slices.Contains(hasty[id.Name], x.Sel.Name) {
					wrong = append(wrong, fmt.Sprintf("%s goes by the time with %s: wait for what happens, with package clocktest", path, selected(x)))
				}
			}
			return true
		})
	}
	return wrong
}

// takesB says whether a function is a benchmark or serves one.
func takesB(f *ast.FuncDecl) bool {
	return slices.ContainsFunc(f.Type.Params.List, func(p *ast.Field) bool {
		star, ok := p.Type.(*ast.StarExpr)
		return ok && selected(star.X) == "testing.B"
	})
}

// selected is x.y as text; "" for what is no such thing.
func selected(e ast.Expr) string {
	if sel, ok := e.(*ast.SelectorExpr); ok {
		if id, ok := sel.X.(*ast.Ident); ok {
			return id.Name + "." + sel.Sel.Name
		}
	}
	return ""
}

// checkPhases lists where the engine names a phase of a run: its methods tell what it does, or thread.ByPhase chooses.
func checkPhases(path string, file *ast.File) []string {
	if path == "internal/engine/thread/phase.go" {
		return nil
	}
	var wrong []string
	ast.Inspect(file, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && slices.Contains([]string{"WholeRun", "AgentPhase", "ApplyPhase"}, id.Name) {
			wrong = append(wrong, path+" asks for "+id.Name+": choose by thread.ByPhase")
		}
		return true
	})
	return wrong
}

func parse(t *testing.T, path string, source any) *ast.File {
	t.Helper()
	return must.Get(parser.ParseFile(token.NewFileSet(), path, source, parser.ParseComments|parser.SkipObjectResolution))(t)
}

func TestConventions(t *testing.T) {
	sent := map[string][]string{}
	for _, p := range packages(t) {
		if strings.HasPrefix(p.name(), "scripts/") {
			continue
		}
		forTests := strings.HasSuffix(p.name(), "/gittest") // all of it
		for _, f := range slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles, p.IgnoredFiles) {
			file := parse(t, filepath.Join(p.Dir, f), nil)
			if forTests || strings.HasSuffix(f, "_test.go") {
				assert.Empty(t, checkTest(p.name()+"/"+f, file))
				continue
			}
			assert.Empty(t, checkConventions(p.name()+"/"+f, file))
			switch own, _ := house(p.name()); {
			case p.name() == "internal/engine/effect":
				for handle, methods := range written(file) {
					sent[handle] = slices.Compact(slices.Sorted(slices.Values(append(sent[handle], methods...))))
				}
			case own == "internal/engine":
				assert.Empty(t, checkWrites(p.name()+"/"+f, file))
				assert.Empty(t, checkPhases(p.name()+"/"+f, file))
			}
		}
	}
	assert.Equal(t, sent, writes, "what effects call and what only they may call")
}

func TestCheckConventionsSeesWhatIsWrong(t *testing.T) {
	source := `package x
import ("os"; env "os"; "log"; "time"; "syscall")
type t struct{ panic func() }
func f(o t) {
	_ = os.Getenv("A"); g := env.LookupEnv; _ = os.Args; _ = g
	log.Fatal(); time.Sleep(1); panic("x"); os.Exit(1); _, _ = syscall.Getenv("A")
	o.panic(); os.ReadFile("x")
}`
	file := parse(t, "x.go", source)
	assert.Equal(t, []string{
		"internal/turn/x.go calls os.Getenv: only cli reads the environment",
		"internal/turn/x.go calls os.LookupEnv: only cli reads the environment",
		"internal/turn/x.go calls log.Fatal: only main exits",
		"internal/turn/x.go calls time.Sleep: wait on a timer that a context can end",
		"internal/turn/x.go calls panic: return an error",
		"internal/turn/x.go calls os.Exit: only main exits",
		"internal/turn/x.go calls syscall.Getenv: only cli reads the environment",
	}, checkConventions("internal/turn/x.go", file))
	assert.Len(t, checkConventions("internal/cli/x.go", file), 4)
	assert.Len(t, checkConventions("cmd/mergexo/main.go", file), 6)
	assert.Equal(t, []string{"x.go calls Pulls.Close: " + onlyAppliers},
		checkWrites("x.go", parse(t, "x.go", "package x\nfunc f(p pass) { p.GitHub.Pulls.Close(); p.GitHub.Pulls.Now(); p.Refs.List() }")))
	assert.Equal(t, []string{"x.go asks for AgentPhase: choose by thread.ByPhase"},
		checkPhases("x.go", parse(t, "x.go", "package x\nfunc f(p pass) bool { return p.Phase == thread.AgentPhase }")))
	assert.Len(t, checkTest("x_test.go", parse(t, "x_test.go", "package x\nfunc f(t T) { t.Skip(); t.Run() }")), 1)
	assert.Len(t, checkTest("x_test.go", parse(t, "x_test.go", "package x\nfunc f() { select {}; select { default: } }")), 1)
	hurried := parse(t, "x_test.go", `package x
func f(t T) {
	<-time.After(1); require.Eventually(t, f, 5 * time.Second, 20 * time.Millisecond); g := context.WithTimeout
	context.WithTimeout(ctx, clocktest.Hang); eq([]time.Duration{time.Millisecond})
}
func g(b *testing.B) { time.Since(x) }`)
	assert.Equal(t, []string{
		"x_test.go goes by the time with time.After: wait for what happens, with package clocktest",
		"x_test.go goes by the time with require.Eventually: wait for what happens, with package clocktest",
		"x_test.go goes by the time with time.Millisecond: wait for what happens, with package clocktest",
		"x_test.go goes by the time with context.WithTimeout: wait for what happens, with package clocktest",
	}, checkTest("x_test.go", hurried))
	assert.Empty(t, checkTest("x_bench_test.go", hurried))
}

// topLevel is what may lie at the top of the repository.
var topLevel = []string{
	".ci", ".github", ".gitattributes", ".gitignore", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md",
	"action.yml", "cmd", "go.mod", "go.sum", "internal", "scripts",
}

// checkTop lists the entries of the top level that do not belong there. files are paths as git lists them.
func checkTop(files []string) []string {
	var wrong []string
	for _, f := range files {
		top, _, _ := strings.Cut(f, "/")
		if top != "" && !slices.Contains(topLevel, top) && !slices.Contains(wrong, top) {
			wrong = append(wrong, top)
		}
	}
	return wrong
}

func TestTopLevel(t *testing.T) {
	cmd := exec.Command("git", "ls-files", "-z")
	cmd.Dir = ".."
	assert.Empty(t, checkTop(strings.Split(string(must.Get(cmd.Output())(t)), "\x00")))
	assert.Equal(t, []string{"docs", "main.go"}, checkTop([]string{"docs/a", "docs/b", "main.go", "cmd/mergexo/main.go", ""}))
}
