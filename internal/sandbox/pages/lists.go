package pages

import (
	"encoding/base64"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// overview is a list of issues, of pull requests, or both.
type overview struct {
	About  string
	Pulls  []issueJSON
	Issues []issueJSON
	What   string // pulls, issues, or empty for both
	New    bool   // there is a form for a new issue
	Labels []label
	Frame  *page
}

// overview reads issues and pull requests, the open ones first.
func (v *view) overview(what, state string) (*page, string, error) {
	o := &overview{What: what, New: what != "pulls"}
	all, err := list[issueJSON](v, "/issues?state="+state)
	if err != nil {
		return nil, "", err
	}
	slices.SortStableFunc(all, func(a, b issueJSON) int { return strings.Compare(b.State, a.State) }) // open, closed
	for _, i := range all {
		if i.Pull != nil {
			o.Pulls = append(o.Pulls, i)
		} else {
			o.Issues = append(o.Issues, i)
		}
	}
	var r struct {
		Description string `json:"description"`
	}
	if err := v.get("", &r); err != nil {
		return nil, "", err
	}
	o.About = r.Description
	if o.Labels, err = v.labels(); err != nil {
		return nil, "", err
	}
	shown := &page{Title: v.repo, Tab: what, Body: o}
	if what == "" {
		shown.Tab = "home"
	}
	o.Frame = shown
	return shown, "overview", nil
}

func home(v *view) (*page, string, error)      { return v.overview("", "open") }
func issueList(v *view) (*page, string, error) { return v.overview("issues", "all") }
func pullList(v *view) (*page, string, error)  { return v.overview("pulls", "all") }

// account is the page of somebody: what they may do.
func account(v *view) (*page, string, error) {
	people, err := v.people()
	for _, one := range people {
		if one.Login == v.r.PathValue("login") {
			return &page{Title: one.Login, Body: one}, "account", nil
		}
	}
	return nil, "", errors.Join(err, errMissing)
}

// branch is one with its newest commit.
type branch struct {
	Name    string
	Default bool
	Tip     commitJSON
	Pull    *issueJSON
}

func branches(v *view) (*page, string, error) {
	found, err := list[struct {
		Name   string
		Commit struct{ SHA string }
	}](v, "/branches")
	if err != nil {
		return nil, "", err
	}
	var r struct {
		Default string `json:"default_branch"`
	}
	if err := v.get("", &r); err != nil {
		return nil, "", err
	}
	pulls, err := list[struct {
		issueJSON
		Head end `json:"head"`
	}](v, "/pulls?state=open")
	if err != nil {
		return nil, "", err
	}
	var all []branch
	for _, f := range found {
		b := branch{Name: f.Name, Default: f.Name == r.Default}
		if err := v.get("/commits/"+f.Commit.SHA, &b.Tip); err != nil {
			return nil, "", err
		}
		for i := range pulls {
			if at := pulls[i].Head; at.Ref == b.Name && at.Repo != nil && at.Repo.FullName == v.repo {
				b.Pull = &pulls[i].issueJSON
			}
		}
		all = append(all, b)
	}
	slices.SortStableFunc(all, func(a, b branch) int {
		if a.Default != b.Default && a.Default {
			return -1
		}
		return 0
	})
	return &page{Title: "Branches", Tab: "branches", Body: all}, "branches", nil
}

func history(v *view) (*page, string, error) {
	ref := v.r.PathValue("ref")
	var commits []commitJSON
	if err := v.get("/commits?per_page=100&sha="+url.QueryEscape(ref), &commits); err != nil {
		return nil, "", err
	}
	return &page{Title: ref, Tab: "branches", Body: struct {
		Ref  string
		List []commitJSON
	}{ref, commits}}, "history", nil
}

// tree shows the files of a branch or a commit.
func tree(v *view) (*page, string, error) {
	t := &struct {
		Ref  string `json:"-"`
		Tree []struct {
			Path string `json:"path"`
			Type string `json:"type"`
		} `json:"tree"`
	}{Ref: v.r.PathValue("ref")}
	err := v.get("/git/trees/"+(&url.URL{Path: t.Ref}).EscapedPath()+"?recursive=1", t)
	return &page{Title: t.Ref, Tab: "branches", Body: t}, "tree", err
}

// blob shows one file.
func blob(v *view) (*page, string, error) {
	b := &struct {
		Ref, Path, Text string
		Binary          bool
	}{Ref: v.r.PathValue("ref"), Path: v.r.PathValue("path")}
	var c struct {
		Content string `json:"content"`
		Type    string `json:"type"`
	}
	if err := v.get("/contents/"+(&url.URL{Path: b.Path}).EscapedPath()+"?ref="+url.QueryEscape(b.Ref), &c); err != nil {
		return nil, "", err
	}
	raw, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(c.Content, "\n", ""))
	b.Text, b.Binary = string(raw), err != nil || !utf8.Valid(raw)
	return &page{Title: b.Path, Tab: "branches", Body: b}, "blob", nil
}

func train(v *view) (*page, string, error) {
	if v.Trains == nil {
		return nil, "", errMissing
	}
	all, err := v.Trains(v.r.Context(), v.repo)
	return &page{Title: "Merge train", Tab: "train", Body: all}, "train", err
}

// runJSON is a workflow run.
type runJSON struct {
	ID         int64     `json:"id"`
	Title      string    `json:"display_title"`
	Event      string    `json:"event"`
	Status     string    `json:"status"`
	Conclusion string    `json:"conclusion"`
	Branch     string    `json:"head_branch"`
	SHA        string    `json:"head_sha"`
	Attempt    int       `json:"run_attempt"`
	CreatedAt  time.Time `json:"created_at"`
	Actor      user      `json:"actor"`
}

func runs(v *view) (*page, string, error) {
	var out struct {
		Runs []runJSON `json:"workflow_runs"`
	}
	err := v.get("/actions/runs?per_page=100", &out)
	return &page{Title: "Runs", Tab: "runs", Body: out.Runs}, "runs", err
}

// run shows a run with the logs of its jobs.
func run(v *view) (*page, string, error) {
	type job struct {
		ID         int64  `json:"id"`
		Name       string `json:"name"`
		Status     string `json:"status"`
		Conclusion string `json:"conclusion"`
		Log        string `json:"-"`
	}
	shown := &struct {
		runJSON
		Jobs []job
	}{}
	id := v.r.PathValue("id")
	if err := v.get("/actions/runs/"+url.PathEscape(id), &shown.runJSON); err != nil {
		return nil, "", err
	}
	var out struct {
		Jobs []job `json:"jobs"`
	}
	if err := v.get("/actions/runs/"+url.PathEscape(id)+"/jobs?per_page=100", &out); err != nil {
		return nil, "", err
	}
	for _, j := range out.Jobs {
		if j.Status == "completed" {
			var err error
			if j.Log, err = v.log(j.ID); err != nil {
				return nil, "", err
			}
		}
		shown.Jobs = append(shown.Jobs, j)
	}
	return &page{Title: "Run " + id, Tab: "runs", Body: shown}, "run", nil
}
