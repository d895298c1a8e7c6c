package internal_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/must"
)

// mostCallable is how many methods may be called on a value of one type, with those that it gets from embedded types of every package.
// A type with more is several topics that share a receiver.
const mostCallable = 40

// resolver reports whether a type's methods are the fields of one of GitHub's GraphQL types, whose number is not ours to choose.
func resolver(full string) bool { return strings.HasPrefix(full, "internal/sandbox.gql") }

// tower is a type with the number of methods that may be called on it.
type tower struct {
	name    string
	methods int
}

// towers lists the types of a package with more callable methods than there may be, the largest first.
func towers(name string, pkg *types.Package, most int) (all []tower) {
	for _, of := range pkg.Scope().Names() {
		object, isType := pkg.Scope().Lookup(of).(*types.TypeName)
		if !isType || object.IsAlias() || resolver(name+"."+of) {
			continue
		}
		typed := object.Type()
		if !types.IsInterface(typed) {
			typed = types.NewPointer(typed)
		}
		if n := types.NewMethodSet(typed).Len(); n > most {
			all = append(all, tower{name + "." + of, n})
		}
	}
	slices.SortFunc(all, func(a, b tower) int { return b.methods - a.methods })
	return all
}

// typed checks the types of the files of a package, which a fset has.
func typed(t *testing.T, name string, fset *token.FileSet, files []*ast.File, imports types.Importer) *types.Package {
	t.Helper()
	pkg := must.Get((&types.Config{Importer: imports}).Check(name, fset, files, nil))(t, name)
	return pkg
}

func TestNoTypeHasTooManyMethods(t *testing.T) {
	fset, largest := token.NewFileSet(), tower{}
	imports := importer.ForCompiler(fset, "gc", exported(t, "./..."))
	for _, p := range packages(t) {
		var files []*ast.File
		for _, f := range p.GoFiles {
			file := must.Get(parser.ParseFile(fset, filepath.Join(p.Dir, f), nil, parser.SkipObjectResolution))(t)
			files = append(files, file)
		}
		for _, one := range towers(p.name(), typed(t, p.name(), fset, files, imports), 0) {
			assert.LessOrEqual(t, one.methods, mostCallable, "%s has %d callable methods: cut it by topic", one.name, one.methods)
			if one.methods > largest.methods {
				largest = one
			}
		}
	}
	assert.Equal(t, mostCallable, largest.methods, "%s is the largest: lower the number", largest.name)
}

func TestTowersSeesWhatIsWrong(t *testing.T) {
	check := func(source string) []tower {
		fset := token.NewFileSet()
		file := must.Get(parser.ParseFile(fset, "x.go", "package x\n"+source, 0))(t)
		return towers("x", typed(t, "x", fset, []*ast.File{file}, importer.Default()), 2)
	}
	assert.Empty(t, check("type t struct{}\nfunc (t) a() {}\nfunc (*t) b() {}"))
	assert.Equal(t, []tower{{"x.t", 3}}, check("type t struct{}\nfunc (t) a() {}\nfunc (*t) b() {}\nfunc (*t) c() {}"))
	assert.Equal(t, []tower{{"x.t", 4}}, check("type t struct{ *u; v }\ntype u struct{}\nfunc (*u) a() {}\nfunc (*u) b() {}\nfunc (t) c() {}\ntype v interface{ d() }"), "by embedding")
	assert.Empty(t, check("type t struct{ u u }\ntype u struct{}\nfunc (u) a() {}\nfunc (u) b() {}\nfunc (t) c() {}"), "a field with a name promotes nothing")
}
