package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	gogithub "github.com/google/go-github/v60/github"

	"github.com/mergexo/mergexo/internal/model"
)

// mostRefPages bounds a list of refs, which GitHub so far gives whole: 10,000 refs where it does not.
const mostRefPages = 100

// refAddress is the part of an address that names a ref, or the beginning of its name: without refs/, and escaped.
func refAddress(name string) (string, error) {
	rest, ok := strings.CutPrefix(name, "refs/")
	segments := strings.Split(rest, "/")
	for i, s := range segments {
		// git allows no component that begins with a dot, and no two of them: https://git-scm.com/docs/git-check-ref-format
		if strings.HasPrefix(s, ".") || strings.Contains(s, "..") || s == "" && i < len(segments)-1 {
			ok = false
		}
		segments[i] = url.PathEscape(s)
	}
	if !ok {
		return "", fmt.Errorf("ref %q: want refs/, and no part that is empty or begins with a dot", oneLine(name))
	}
	return strings.Join(segments, "/"), nil
}

// List gives the refs whose full names begin with the prefix, such as "refs/mergexo/", in GitHub's order. A repository
// without any commit has none.
// https://docs.github.com/rest/git/refs#list-matching-references
func (c Refs) List(ctx context.Context, repo model.Repo, prefix string) ([]model.Ref, error) {
	op := fmt.Sprintf("list the refs %s of %s", oneLine(prefix), repo)
	address, err := refAddress(prefix)
	if err != nil {
		return nil, &Error{Kind: Invalid, Op: op, Message: c.line(err.Error())}
	}
	all, err := listOf[gogithub.Reference](ctx, c.conn, op, repo, "git/matching-refs/"+address, url.Values{}, mostRefPages)
	if e, ok := err.(*Error); ok && e.Status == http.StatusConflict { // "Git Repository is empty."
		return nil, nil
	}
	if err != nil {
		return nil, unless(err, NotFound)
	}
	var out []model.Ref
	for _, n := range all {
		if strings.HasPrefix(n.GetRef(), prefix) {
			out = append(out, model.Ref{Name: n.GetRef(), SHA: n.GetObject().GetSHA()})
		}
	}
	return out, nil
}

// Create makes a ref, by its full name. One that points there already is made. RefExists means that there is one of that name
// which points elsewhere; Invalid, that GitHub refuses it and there is none.
// https://docs.github.com/rest/git/refs#create-a-reference
func (c Refs) Create(ctx context.Context, repo model.Repo, name, sha string) error {
	op := fmt.Sprintf("create %s at %s in %s", oneLine(name), short(sha), repo)
	err := c.write(ctx, op, repo, http.MethodPost, "git/refs", map[string]string{"ref": name, "sha": sha}, nil)
	if e, ok := err.(*Error); ok && e.Status == http.StatusUnprocessableEntity {
		return c.notCreated(ctx, repo, name, sha, e)
	}
	return err
}

// notCreated looks at the ref that GitHub did not create. Its words are no help: one that exists is refused in more than one
// wording (https://github.com/github/rest-api-description/issues/4887).
func (c Refs) notCreated(ctx context.Context, repo model.Repo, name, sha string, e *Error) error {
	address, err := refAddress(name)
	if err != nil {
		return e // no name of a ref
	}
	var there gogithub.Reference
	switch err := c.read(ctx, e.Op, repo, "git/ref/"+address, &there); {
	case KindOf(err) == NotFound:
		e.Message = "GitHub refused it, and the ref does not exist: " + e.Message
		return e
	case err != nil:
		read := c.fail(e.Op, err)
		read.Message = fmt.Sprintf("GitHub refused it (%s), and whether it exists could not be read: %s", e.Message, read.Message)
		return read
	case there.GetObject().GetSHA() == sha && there.GetRef() == name:
		return nil
	}
	e.Kind, e.Message = RefExists, "it exists already, at "+short(there.GetObject().GetSHA())
	return e
}

// Delete deletes a ref, by its full name, wherever it points. One that is not there is deleted.
// https://docs.github.com/rest/git/refs#delete-a-reference
func (c Refs) Delete(ctx context.Context, repo model.Repo, name string) error {
	op := fmt.Sprintf("delete %s in %s", oneLine(name), repo)
	address, err := refAddress(name)
	if err != nil {
		return &Error{Kind: Invalid, Op: op, Message: c.line(err.Error())}
	}
	err = c.write(ctx, op, repo, http.MethodDelete, "git/refs/"+address, nil, nil)
	if e, ok := err.(*Error); ok && e.Status == http.StatusUnprocessableEntity && strings.Contains(e.Message, "does not exist") {
		return nil
	}
	return err
}
