package sandbox

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/graph-gophers/graphql-go"
)

// maxText is how much of a blob GitHub shows: https://docs.github.com/en/graphql/reference/objects#blob
const maxText = 512 * 1000

// gqlObject is a git object of any kind, seen as GitObject. It is embedded in the resolver of its kind.
type gqlObject struct {
	look *look
	r    *Repository
	oid  string
	kind string // commit, tree, blob or tag
}

// object finds a git object by its full name; nil when there is none.
func (l *look) object(r *Repository, oid string) (*gqlObject, error) {
	kind, err := memo(l.s, fmt.Sprint("kind ", r.ID, oid), func() (string, error) {
		found, err := l.s.git.objects(r).find(oid)
		return found.kind, err
	})
	if err != nil {
		if errors.Is(err, errNoObject) {
			return nil, nil
		}
		return nil, err
	}
	return &gqlObject{l, r, oid, kind}, nil
}

// commit is nil when there is no such commit.
func (l *look) commit(r *Repository, oid string) *gqlCommit {
	if o, err := l.object(r, oid); err == nil && o != nil && o.kind == "commit" {
		return &gqlCommit{o}
	}
	return nil
}

// Object finds by name, or by what git rev-parse understands: "main", "main:path/to/file", "HEAD~2".
func (r *gqlRepository) Object(args struct {
	Expression *string
	OID        *text
}) (*gqlObject, error) {
	if err := r.look.forbids(r.r, "GitObject"); err != nil {
		return nil, err
	}
	var oid string
	switch {
	case args.OID != nil:
		oid = string(*args.OID)
	case args.Expression != nil:
		found, err := r.look.s.git.objects(r.r).find(*args.Expression)
		if err != nil {
			return nil, nil // GitHub answers null and no error
		}
		oid = found.sha
	default:
		return nil, &refusal{kind: "", message: "Field 'object' requires an argument: expression or oid"}
	}
	return r.look.object(r.r, oid)
}

// resolver is the resolver of the object's own kind.
func (o *gqlObject) resolver() any {
	switch o.kind {
	case "commit":
		return &gqlCommit{o}
	case "tree":
		return &gqlTree{o}
	case "blob":
		return &gqlBlob{o}
	}
	return &gqlTag{o}
}

func (o *gqlObject) ToCommit() (*gqlCommit, bool) { return &gqlCommit{o}, o.kind == "commit" }
func (o *gqlObject) ToTree() (*gqlTree, bool)     { return &gqlTree{o}, o.kind == "tree" }
func (o *gqlObject) ToBlob() (*gqlBlob, bool)     { return &gqlBlob{o}, o.kind == "blob" }
func (o *gqlObject) ToTag() (*gqlTag, bool)       { return &gqlTag{o}, o.kind == "tag" }

func (o *gqlObject) ID() graphql.ID {
	prefix := map[string]string{"commit": nodeCommit, "tree": nodeTree, "blob": nodeBlob, "tag": nodeTag}[o.kind]
	return objectID(prefix, o.r, o.oid)
}
func (o *gqlObject) OID() text { return text(o.oid) }

// read is the object's content, as git stores it.
func (o *gqlObject) read() ([]byte, error) {
	return memo(o.look.s, fmt.Sprint("read ", o.r.ID, o.oid), func() ([]byte, error) {
		found, data, err := o.look.s.git.objects(o.r).read(o.oid)
		if err == nil && found.kind != o.kind {
			err = errNoObject
		}
		return data, err
	})
}

// gqlBlob is https://docs.github.com/en/graphql/reference/objects#blob.
type gqlBlob struct{ *gqlObject }

func (b *gqlBlob) ByteSize() (int32, error) {
	data, err := b.read()
	return int32(len(data)), err
}

func (b *gqlBlob) IsBinary() (*bool, error) {
	data, err := b.read()
	binary := !isText(data)
	return &binary, err
}

func (b *gqlBlob) IsTruncated() (bool, error) {
	data, err := b.read()
	return len(data) > maxText, err
}

// Text is null for a binary.
func (b *gqlBlob) Text() (*string, error) {
	data, err := b.read()
	if err != nil || !isText(data) {
		return nil, err
	}
	s := strings.ToValidUTF8(string(data[:min(len(data), maxText)]), "")
	return &s, nil
}

func isText(data []byte) bool {
	return utf8.Valid(data) && !strings.ContainsRune(string(data[:min(len(data), 8000)]), 0)
}

// gqlTree is https://docs.github.com/en/graphql/reference/objects#tree.
type gqlTree struct{ *gqlObject }

func (t *gqlTree) Entries() (*[]*gqlTreeEntry, error) {
	there, err := t.look.s.trees.list(t.r, t.oid, "")
	entries := []*gqlTreeEntry{}
	for _, e := range there {
		entries = append(entries, &gqlTreeEntry{t.look, t.r, e})
	}
	return &entries, err
}

// gqlTreeEntry is https://docs.github.com/en/graphql/reference/objects#treeentry.
type gqlTreeEntry struct {
	look *look
	r    *Repository
	e    contentEntry
}

func (e *gqlTreeEntry) Name() string  { return path.Base(e.e.path) }
func (e *gqlTreeEntry) Path() *string { return &e.e.path }
func (e *gqlTreeEntry) Type() string  { return e.e.kind }
func (e *gqlTreeEntry) OID() text     { return text(e.e.sha) }
func (e *gqlTreeEntry) Size() int32   { return int32(e.look.s.trees.size(e.r, e.e)) }
func (e *gqlTreeEntry) Mode() int32 {
	mode, _ := strconv.ParseInt(e.e.mode, 8, 32) // git's own
	return int32(mode)
}
func (e *gqlTreeEntry) Object() (*gqlObject, error) { return e.look.object(e.r, e.e.sha) }

// gqlTag is https://docs.github.com/en/graphql/reference/objects#tag: an annotated tag.
type gqlTag struct{ *gqlObject }
