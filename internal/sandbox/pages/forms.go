package pages

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// maxForm is how much of a form is read: GitHub's longest comment, three bytes for each of its bytes.
const maxForm = 256 << 10

// deed is what a form asks for: a request to the API, by the person who was chosen.
type deed struct {
	method, path string
	in           any
	back         string // where the browser goes next, below the repository
}

// deeds are all forms, by the last part of their address.
var deeds = map[string]func(v *view, number int) (deed, error){
	"comment": func(v *view, n int) (deed, error) {
		return deed{http.MethodPost, fmt.Sprintf("/issues/%d/comments", n), map[string]any{"body": v.field("body")}, fmt.Sprintf("/issues/%d", n)}, nil
	},
	"reply": func(v *view, n int) (deed, error) {
		to, err := strconv.ParseInt(v.field("to"), 10, 64)
		if err != nil {
			return deed{}, refusal("to: want the comment that is answered")
		}
		return deed{http.MethodPost, fmt.Sprintf("/pulls/%d/comments/%d/replies", n, to), map[string]any{"body": v.field("body")}, fmt.Sprintf("/pull/%d", n)}, nil
	},
	"line": func(v *view, n int) (deed, error) {
		line, err := strconv.Atoi(v.field("line"))
		if err != nil {
			return deed{}, refusal("line: want the number of a line")
		}
		in := map[string]any{"body": v.field("body"), "path": v.field("path"), "line": line, "side": v.field("side"), "commit_id": v.field("commit")}
		return deed{http.MethodPost, fmt.Sprintf("/pulls/%d/comments", n), in, fmt.Sprintf("/pull/%d", n)}, nil
	},
	"review": func(v *view, n int) (deed, error) {
		return deed{http.MethodPost, fmt.Sprintf("/pulls/%d/reviews", n), map[string]any{"event": v.field("event"), "body": v.field("body")}, fmt.Sprintf("/pull/%d", n)}, nil
	},
	"label": func(v *view, n int) (deed, error) {
		return deed{http.MethodPost, fmt.Sprintf("/issues/%d/labels", n), map[string]any{"labels": []string{v.field("name")}}, fmt.Sprintf("/issues/%d", n)}, nil
	},
	"unlabel": func(v *view, n int) (deed, error) {
		return deed{http.MethodDelete, fmt.Sprintf("/issues/%d/labels/%s", n, url.PathEscape(v.field("name"))), nil, fmt.Sprintf("/issues/%d", n)}, nil
	},
	"state": func(v *view, n int) (deed, error) {
		return deed{http.MethodPatch, fmt.Sprintf("/issues/%d", n), map[string]any{"state": v.field("to")}, fmt.Sprintf("/issues/%d", n)}, nil
	},
}

// refusal is what a form says that cannot be.
func refusal(why string) error {
	return &apiError{status: http.StatusUnprocessableEntity, Message: why}
}

// field is one of the form's. Browsers send line breaks as two characters: https://html.spec.whatwg.org/#multipart-form-data
func (v *view) field(name string) string {
	return strings.ReplaceAll(v.r.PostFormValue(name), "\r\n", "\n")
}

// forms serves what changes something. Package net/http has refused what other origins send by then.
func (p *Pages) forms() {
	for name, read := range deeds {
		p.mux.HandleFunc("POST /{owner}/{repo}/{number}/"+name, func(w http.ResponseWriter, r *http.Request) {
			v := p.sent(w, r)
			n, err := v.number()
			if err == nil {
				var d deed
				if d, err = read(v, n); err == nil {
					err = v.carryOut(w, d)
				}
			}
			shown, page, err := v.again(name, err)
			p.answer(w, v, shown, page, err)
		})
	}
	p.mux.HandleFunc("POST /{owner}/{repo}/new", func(w http.ResponseWriter, r *http.Request) {
		v := p.sent(w, r)
		in := map[string]any{"title": v.field("title"), "body": v.field("body")}
		if name := v.field("name"); name != "" {
			in["labels"] = []string{name}
		}
		shown, page, err := v.again("new", v.carryOut(w, deed{http.MethodPost, "/issues", in, ""}))
		p.answer(w, v, shown, page, err)
	})
}

// again shows the page of a form that was refused, with the reason and what was written. Where that page is not there, the error is
// the answer.
func (v *view) again(form string, why error) (*page, string, error) {
	var refused *apiError
	if !errors.As(why, &refused) {
		return nil, "", why
	}
	show := conversation
	switch form {
	case "line":
		show = pullFiles
	case "new":
		show = home
	}
	shown, name, err := show(v)
	if away := (*redirect)(nil); errors.As(err, &away) {
		shown, name, err = issue(v)
	}
	if err != nil {
		return nil, "", why
	}
	shown.status, shown.Refused, shown.As = refused.status, strings.TrimPrefix(refused.Error(), "Unprocessable Entity: "), v.field("as")
	shown.Form, shown.sent = form+v.field("to"), v.r.PostForm
	return shown, name, nil
}

// Draft is what somebody wrote into a field of a form that was refused.
func (p *page) Draft(form, field string) string {
	if form != p.Form {
		return ""
	}
	return p.sent.Get(field)
}

func (p *Pages) sent(w http.ResponseWriter, r *http.Request) *view {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	return &view{Pages: p, r: r, repo: r.PathValue("owner") + "/" + r.PathValue("repo")}
}

// carryOut does it, and leads to the page where it shows.
func (v *view) carryOut(w http.ResponseWriter, d deed) error {
	if err := v.r.ParseForm(); err != nil {
		return refusal("read the form: " + err.Error())
	}
	as := v.field("as")
	people, err := v.people()
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(people, func(p person) bool { return p.Login == as }) {
		return refusal("as: choose one of the repository's people")
	}
	var made struct {
		Number int   `json:"number"`
		ID     int64 `json:"id"`
	}
	out := any(&made)
	if d.method == http.MethodDelete { // answers a list
		out = nil
	}
	if strings.HasSuffix(d.path, "/labels") {
		out = nil
	}
	if err := v.call(v.r.Context(), as, d.method, rest+v.repo+d.path, d.in, out); err != nil {
		return err
	}
	http.SetCookie(w, &http.Cookie{Name: "as", Value: as, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	to, fragment := d.back, "#end"
	switch {
	case d.path == "/issues":
		to = fmt.Sprintf("/issues/%d", made.Number)
	case strings.HasSuffix(d.path, "/replies"), strings.HasSuffix(d.path, "/comments") && strings.HasPrefix(d.path, "/pulls"):
		fragment = fmt.Sprintf("#discussion_r%d", made.ID)
	}
	return &redirect{"/" + v.repo + to + "?wait" + fragment}
}
