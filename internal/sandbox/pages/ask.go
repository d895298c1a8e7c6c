package pages

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// apiError is an answer of the API that is no success.
type apiError struct {
	status  int
	Message string `json:"message"`
	Errors  []any  `json:"errors"`
}

func (e *apiError) Error() string {
	text := e.Message
	for _, detail := range e.Errors {
		switch d := detail.(type) {
		case string:
			text += ": " + d
		case map[string]any:
			text += fmt.Sprintf(": %v", cmp.Or(d["message"], d["field"], d["code"]))
		}
	}
	return text
}

// answer is what a handler in this process answers.
type answer struct {
	bytes.Buffer
	header http.Header
	status int
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) { a.status = cmp.Or(a.status, status) }

func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.Buffer.Write(b)
}

// rest is where the API has repositories.
const rest = "/api/v3/repos/"

// call asks the sandbox something as login, and reads its answer into out if that is not nil.
func (p *Pages) call(ctx context.Context, login, method, path string, in, out any) error {
	var body bytes.Buffer
	if in != nil {
		if err := json.NewEncoder(&body).Encode(in); err != nil {
			return fmt.Errorf("%s %s: %w", method, path, err)
		}
	}
	got, err := p.send(ctx, login, method, path, &body)
	if err != nil {
		return err
	}
	if got.status >= http.StatusMultipleChoices {
		wrong := &apiError{status: got.status}
		if err := json.Unmarshal(got.Bytes(), wrong); err != nil {
			wrong.Message = http.StatusText(got.status)
		}
		return wrong
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(got.Bytes(), out); err != nil {
		return fmt.Errorf("read the answer to %s %s: %w", method, path, err)
	}
	return nil
}

func (p *Pages) send(ctx context.Context, login, method, path string, body *bytes.Buffer) (*answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, p.Origin+path, body)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	if login != "" {
		req.Header.Set("Authorization", "Bearer sandbox-"+login)
	}
	got := &answer{header: http.Header{}}
	p.API.ServeHTTP(got, req)
	return got, nil
}

// get reads what is at a path below the repository's.
func (v *view) get(path string, out any) error {
	return v.call(v.r.Context(), v.Reader, http.MethodGet, rest+v.repo+path, nil, out)
}

// list reads all pages of a list.
func list[T any](v *view, path string) ([]T, error) {
	const full = 100
	sep := "?"
	if strings.Contains(path, "?") {
		sep = "&"
	}
	var all []T
	for n := 1; ; n++ {
		var some []T
		if err := v.get(fmt.Sprintf("%s%sper_page=%d&page=%d", path, sep, full, n), &some); err != nil {
			return nil, err
		}
		all = append(all, some...)
		if len(some) < full {
			return all, nil
		}
	}
}

// person is somebody as whom one may speak.
type person struct {
	Login string `json:"login"`
	Type  string `json:"type"`
	Role  string `json:"role_name"`
}

// people are those of the repository, without its bots.
func (v *view) people() ([]person, error) {
	all, err := list[person](v, "/collaborators")
	all = slices.DeleteFunc(all, func(p person) bool { return p.Type != "User" })
	slices.SortFunc(all, func(a, b person) int { return cmp.Compare(a.Login, b.Login) })
	return all, err
}

// stamped is what every line of a log begins with.
var stamped = regexp.MustCompile(`(?m)^\x{feff}?\d{4}-\d\d-\d\dT[\d:.]+Z `)

// log reads the log of a job, without the times.
func (v *view) log(job int64) (string, error) {
	at, err := v.send(v.r.Context(), v.Reader, http.MethodGet, fmt.Sprintf(rest+"%s/actions/jobs/%d/logs", v.repo, job), &bytes.Buffer{})
	if err != nil || at.status != http.StatusFound {
		return "", err
	}
	to, err := url.Parse(at.header.Get("Location"))
	if err != nil {
		return "", fmt.Errorf("find the log of job %d: %w", job, err)
	}
	got, err := v.send(v.r.Context(), "", http.MethodGet, to.RequestURI(), &bytes.Buffer{})
	if err != nil || got.status != http.StatusOK {
		return "", err
	}
	return stamped.ReplaceAllString(got.String(), ""), nil
}
