package internal_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// decisions are the functions of the engine that decide, by room. They read as much as they like, and return what is to be done.
// None of them reaches an applier, through whatever it calls.
var decisions = map[string][]string{
	"":          {"desk.decideHere", "desk.decideAbout", "desk.evaluate", "desk.evaluateIssue", "desk.Explain"},
	"turns":     {"plan", "nextTurn", "NextStep"},
	"landing":   {"Request.Find", "Request.Evaluate", "Ready", "Request.Gates", "Opening", "landedRange", "line.look", "unheard", "ShowTrains", "trainStanding"},
	"planning":  {"Issue.look", "Issue.readRunning", "problems", "proposed"},
	"reviewing": {"request", "Design", "Fresh", "Raised", "Unsafe", "Pull.Find", "refuse", "labelled", "reviewed"},
	"sweeping":  {"sweeper.scan", "sweeper.decide", "sweeper.next", "scan.places"},
	"thread":    {"Thread.Read", "Thread.Pending", "IssueFacts", "ForkFacts"},
}

// looksAhead are the calls that ask a run what it would do. Its applier, an effect.Probe, makes nothing.
var looksAhead = []string{"(" + module + "/internal/engine/sweeping.Runner).Survey", "(*" + module + "/internal/engine.topics).foresee"}

// applying is what a decision must not reach.
const applying = "(" + module + "/internal/engine/effect.Applier).Apply"

// calls maps each function of the engine to the functions of the program that it names. A method of an interface leads to all
// methods of that name: it may be any of them.
type calls map[string]map[string]bool

func (c calls) add(from, to string) {
	if c[from] == nil {
		c[from] = map[string]bool{}
	}
	c[from][to] = true
}

// path is a way from one function to another, through calls; nil for none.
func (c calls) path(from, to string) []string {
	came := map[string]string{from: ""}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		if queue[0] == to {
			var way []string
			for at := to; at != ""; at = came[at] {
				way = append(way, strings.ReplaceAll(at, module+"/internal/engine/", ""))
			}
			slices.Reverse(way)
			return way
		}
		for _, next := range slices.Sorted(maps.Keys(c[queue[0]])) {
			if _, seen := came[next]; !seen {
				came[next] = queue[0]
				queue = append(queue, next)
			}
		}
	}
	return nil
}

// callsIn adds what the functions of a package call, and notes the methods of its types by their names.
func callsIn(c calls, byName map[string][]string, name string, fset *token.FileSet, files []*ast.File, from types.Importer) error {
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	if _, err := (&types.Config{Importer: from}).Check(name, fset, files, info); err != nil {
		return err
	}
	for _, f := range files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			self := info.Defs[fn.Name].(*types.Func)
			c[self.FullName()] = map[string]bool{}
			if fn.Recv != nil {
				byName[self.Name()] = append(byName[self.Name()], self.FullName())
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				id, isName := n.(*ast.Ident)
				if !isName {
					return true
				}
				if called, isFunc := info.Uses[id].(*types.Func); isFunc && called.Pkg() != nil && strings.HasPrefix(called.Pkg().Path(), module+"/internal/") {
					c.add(self.FullName(), called.Origin().FullName())
					if recv := called.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) {
						c.add(called.FullName(), "any "+called.Name())
					}
				}
				return true
			})
		}
	}
	return nil
}

// exported opens what the compiler wrote of some packages and of those that they need.
func exported(t *testing.T, packages string) importer.Lookup {
	t.Helper()
	files := map[string]string{}
	dec := json.NewDecoder(strings.NewReader(string(goList(t, "-export", "-deps", "-json=ImportPath,Export", packages))))
	for {
		var p struct{ ImportPath, Export string }
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		files[p.ImportPath] = p.Export
	}
	return func(path string) (io.ReadCloser, error) {
		if files[path] == "" {
			return nil, fmt.Errorf("%s is not compiled", path)
		}
		return os.Open(files[path])
	}
}

// callsOfTheEngine are those of all its rooms.
func callsOfTheEngine(t *testing.T) calls {
	t.Helper()
	c, byName, fset := calls{}, map[string][]string{}, token.NewFileSet()
	from := importer.ForCompiler(fset, "gc", exported(t, "./internal/engine/..."))
	for _, p := range packages(t) {
		if own, _ := house(p.name()); own != "internal/engine" {
			continue
		}
		var files []*ast.File
		for _, f := range p.GoFiles {
			file := must.Get(parser.ParseFile(fset, filepath.Join(p.Dir, f), nil, parser.SkipObjectResolution))(t)
			files = append(files, file)
		}
		require.NoError(t, callsIn(c, byName, p.ImportPath, fset, files, from))
	}
	for name, methods := range byName {
		for _, m := range methods {
			c.add("any "+name, m)
		}
	}
	return c
}

// function is a function of a room by its full name, given as in the walks.
func function(room, name string) string {
	at := strings.TrimSuffix(module+"/internal/engine/"+room, "/")
	if typ, method, isMethod := strings.Cut(name, "."); isMethod {
		return fmt.Sprintf("(*%s.%s).%s", at, typ, method)
	}
	return at + "." + name
}

// changes are the functions by which effects are made: those of git's rooms and the methods of GitHub's client that the constructors of
// effects send with.
func changes(c calls) map[string]bool {
	all := map[string]bool{}
	for name := range c {
		if !strings.HasPrefix(name, module+"/internal/engine/effect.") { // a method makes none
			continue
		}
		for called := range c[name] {
			if strings.HasPrefix(called, module+"/internal/git/") || strings.HasPrefix(called, "("+module+"/internal/github.") {
				all[called] = true
			}
		}
	}
	return all
}

// TestOnlyAnApplierChangesAnything: whatever an effect calls to change something, nothing else of the engine calls. So a dry run
// cannot change it.
func TestOnlyAnApplierChangesAnything(t *testing.T) {
	c := callsOfTheEngine(t)
	changing := changes(c)
	assert.Subset(t, slices.Collect(maps.Keys(changing)), []string{
		module + "/internal/git/transport.Publish", module + "/internal/git/checkout.LandLocal", "(" + module + "/internal/github.Pulls).Merge",
	})
	for from, called := range c {
		if strings.Contains(from, "/internal/engine/effect.") {
			continue
		}
		for to := range called {
			assert.False(t, changing[to], "%s calls %s itself: it has to apply an effect", from, to)
		}
	}
}

// TestDecisionsApplyNothing: what decides returns what is to be done, and an applier does it later.
func TestDecisionsApplyNothing(t *testing.T) {
	c := callsOfTheEngine(t)
	for _, look := range looksAhead {
		assert.Contains(t, c, look)
		delete(c, look)
	}
	for room, names := range decisions {
		for _, name := range names {
			f := function(room, name)
			assert.Contains(t, c, f)
			assert.Empty(t, c.path(f, applying), "%s.%s applies an effect", room, name)
		}
	}
}
