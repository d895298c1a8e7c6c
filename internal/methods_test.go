package internal_test

import (
	"fmt"
	"go/ast"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// mostMethods is how many methods a type may have, with those that it gets from embedded types of its package. A type with
// more of them is several topics that share a receiver.
const mostMethods = 40

// resolver says whether a type's methods are the fields of one of GitHub's GraphQL types, by name: how many there are is not
// ours to choose.
func resolver(full string) bool { return strings.HasPrefix(full, "internal/sandbox.gql") }

// declared is a type of a package: the methods that its own files declare, and the types of the package that it embeds.
type declared struct {
	methods map[string]bool
	embeds  []string
}

// declarations are the types of a package's files, by name.
func declarations(files []*ast.File) map[string]*declared {
	types := map[string]*declared{}
	at := func(name string) *declared {
		if types[name] == nil {
			types[name] = &declared{methods: map[string]bool{}}
		}
		return types[name]
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.FuncDecl:
				if x.Recv != nil {
					at(typeName(x.Recv.List[0].Type)).methods[x.Name.Name] = true
				}
			case *ast.TypeSpec:
				d := at(x.Name.Name)
				for _, field := range fields(x.Type) {
					if _, isFunc := field.Type.(*ast.FuncType); isFunc { // of an interface
						for _, name := range field.Names {
							d.methods[name.Name] = true
						}
					} else if name := typeName(field.Type); len(field.Names) == 0 && name != "" {
						d.embeds = append(d.embeds, name)
					}
				}
			}
			return true
		})
	}
	return types
}

// fields are those of a struct or an interface. A name for another type has that type's fields as its one embedded field.
func fields(e ast.Expr) []*ast.Field {
	switch x := e.(type) {
	case *ast.StructType:
		return x.Fields.List
	case *ast.InterfaceType:
		return x.Methods.List
	}
	return nil
}

// typeName is the name of T, *T or T[A] in its own package; "" for a type of another package.
func typeName(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.StarExpr:
		return typeName(x.X)
	case *ast.IndexExpr:
		return typeName(x.X)
	case *ast.IndexListExpr:
		return typeName(x.X)
	}
	return ""
}

// methodsOf are the names of the methods of a type, with those that embedding promotes. A field or method of the same name
// at another depth hides one, so this counts each name once.
func methodsOf(types map[string]*declared, name string, seen map[string]bool) map[string]bool {
	all := map[string]bool{}
	d := types[name]
	if d == nil || seen[name] {
		return all
	}
	seen[name] = true
	maps.Copy(all, d.methods)
	for _, e := range d.embeds {
		maps.Copy(all, methodsOf(types, e, seen))
	}
	return all
}

// checkMethods lists the types of a package that have more methods than they may.
func checkMethods(pkg string, files []*ast.File) []string {
	var wrong []string
	types := declarations(files)
	for _, name := range slices.Sorted(maps.Keys(types)) {
		full := pkg + "." + name
		if n := len(methodsOf(types, name, map[string]bool{})); n > mostMethods && !resolver(full) {
			wrong = append(wrong, fmt.Sprintf("%s has %d methods, %d at most: cut it by topic", full, n, mostMethods))
		}
	}
	return wrong
}

func TestNoTypeHasTooManyMethods(t *testing.T) {
	for _, p := range packages(t) {
		var files []*ast.File
		for _, f := range slices.Concat(p.GoFiles, p.IgnoredFiles) {
			if !strings.HasSuffix(f, "_test.go") {
				files = append(files, parse(t, filepath.Join(p.Dir, f), nil))
			}
		}
		for _, w := range checkMethods(p.name(), files) {
			assert.Fail(t, w)
		}
	}
}

func TestCheckMethodsSeesWhatIsWrong(t *testing.T) {
	many := func(receiver string, from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			fmt.Fprintf(&b, "func (x %s) m%d() {}\n", receiver, i)
		}
		return b.String()
	}
	check := func(sources ...string) []string {
		var files []*ast.File
		for _, s := range sources {
			files = append(files, parse(t, "x.go", "package x\n"+s))
		}
		return checkMethods("internal/x", files)
	}
	assert.Empty(t, check("type t struct{}\n", many("*t", 0, 40)))
	assert.Equal(t, []string{"internal/x.t has 41 methods, 40 at most: cut it by topic"}, check("type t struct{}\n", many("*t", 0, 20), many("t", 20, 41)))
	assert.Len(t, check("type t struct{ *u; v[int]; w }\ntype u struct{}\ntype v[T any] struct{}\ntype w interface{ a(); b() }\n", many("*u", 0, 20), many("v[T]", 20, 39)), 1, "by embedding")
	assert.Empty(t, check("type t struct{ u u; v.W }\ntype u struct{}\n", many("u", 0, 40), many("t", 40, 80)), "a field with a name promotes nothing")
}
