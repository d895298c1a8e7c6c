package sandbox

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

var labelRoutes = []route{
	{"GET /repos/{owner}/{repo}/labels", needRead, readsIssue, func(q *request) (any, error) { return labelPage(q, q.repo.Labels), nil }},
	{"POST /repos/{owner}/{repo}/labels", needTriage, writesIssue, createLabel},
	{"GET /repos/{owner}/{repo}/labels/{name}", needRead, readsIssue, func(q *request) (any, error) {
		l, err := labelNamed(q)
		if err != nil {
			return nil, err
		}
		return q.s.json.label(q.repo, l), nil
	}},
	{"PATCH /repos/{owner}/{repo}/labels/{name}", needTriage, writesIssue, patchLabel},
	{"DELETE /repos/{owner}/{repo}/labels/{name}", needTriage, writesIssue, deleteLabel},
	{"GET /repos/{owner}/{repo}/issues/{number}/labels", needRead, readsIssue, func(q *request) (any, error) { return labelPage(q, q.issue.labels()), nil }},
	{"POST /repos/{owner}/{repo}/issues/{number}/labels", needTriage, writesIssue, func(q *request) (any, error) { return changeLabels(q, q.issue.labels()) }},
	{"PUT /repos/{owner}/{repo}/issues/{number}/labels", needTriage, writesIssue, func(q *request) (any, error) { return changeLabels(q, nil) }},
	{"DELETE /repos/{owner}/{repo}/issues/{number}/labels", needTriage, writesIssue, func(q *request) (any, error) {
		setLabels(q, q.issue, nil)
		return &reply{status: http.StatusNoContent}, nil
	}},
	{"DELETE /repos/{owner}/{repo}/issues/{number}/labels/{name}", needTriage, writesIssue, removeLabel},
}

func labelPage(q *request, ls []*Label) any {
	return paginate(q, ls, func(l *Label) obj { return q.s.json.label(q.repo, l) })
}

func labelNamed(q *request) (*Label, error) {
	if l := q.repo.label(q.r.PathValue("name")); l != nil {
		return l, nil
	}
	return nil, errNotFound
}

var labelColor = regexp.MustCompile(`^[0-9a-fA-F]{6}$`)

func createLabel(q *request) (any, error) {
	in := struct{ Name, Color, Description string }{Color: "ededed"}
	if err := q.decode(&in); err != nil {
		return nil, err
	}
	switch {
	case strings.TrimSpace(in.Name) == "":
		return nil, invalid("Label", "name", "missing_field")
	case !labelColor.MatchString(in.Color):
		return nil, invalid("Label", "color", "invalid")
	case q.repo.label(in.Name) != nil:
		return nil, invalid("Label", "name", "already_exists")
	}
	l := q.s.world.addLabel(q.repo, in.Name, in.Color, in.Description, q.user)
	return &reply{http.StatusCreated, q.s.json.label(q.repo, l)}, nil
}

func (w world) addLabel(r *Repository, name, color, description string, actor *User) *Label {
	l := &Label{ID: w.nextID(), Name: name, Color: strings.ToLower(color), Description: description, CreatedAt: w.now()}
	r.Labels = append(r.Labels, l)
	w.changed()
	w.hooks.label(r, l, "created", actor, nil)
	return l
}

func patchLabel(q *request) (any, error) {
	l, err := labelNamed(q)
	if err != nil {
		return nil, err
	}
	var in struct {
		NewName            string `json:"new_name"`
		Color, Description *string
	}
	if err := q.decode(&in); err != nil {
		return nil, err
	}
	changes := obj{}
	if in.NewName != "" && in.NewName != l.Name {
		if other := q.repo.label(in.NewName); other != nil && other != l {
			return nil, invalid("Label", "name", "already_exists")
		}
		changes["name"] = obj{"from": l.Name}
		l.Name = in.NewName
	}
	if in.Color != nil && *in.Color != l.Color {
		if !labelColor.MatchString(*in.Color) {
			return nil, invalid("Label", "color", "invalid")
		}
		changes["color"] = obj{"from": l.Color}
		l.Color = strings.ToLower(*in.Color)
	}
	if in.Description != nil && *in.Description != l.Description {
		changes["description"] = obj{"from": l.Description}
		l.Description = *in.Description
	}
	if len(changes) > 0 {
		now := q.s.world.now()
		l.EditedAt = &now
	}
	q.s.world.changed()
	q.s.hooks.label(q.repo, l, "edited", q.user, obj{"changes": changes})
	return q.s.json.label(q.repo, l), nil
}

func deleteLabel(q *request) (any, error) {
	l, err := labelNamed(q)
	if err != nil {
		return nil, err
	}
	for _, i := range q.repo.inOrder() {
		if slices.Contains(i.LabelIDs, l.ID) {
			setLabels(q, i, slices.DeleteFunc(i.labels(), func(o *Label) bool { return o == l }))
		}
	}
	q.repo.Labels = slices.DeleteFunc(q.repo.Labels, func(o *Label) bool { return o == l })
	q.s.world.changed()
	q.s.hooks.label(q.repo, l, "deleted", q.user, nil)
	return &reply{status: http.StatusNoContent}, nil
}

// labelNames reads labels as GitHub takes them: names, or objects with a name.
func labelNames(in []any) []string {
	var names []string
	for _, v := range in {
		switch v := v.(type) {
		case string:
			names = append(names, v)
		case map[string]any:
			if name, ok := v["name"].(string); ok {
				names = append(names, name)
			}
		}
	}
	return names
}

// labelsNamed finds labels and makes those that are not there, as GitHub does when they are put on an issue.
func (w world) labelsNamed(r *Repository, names []string, actor *User) []*Label {
	var ls []*Label
	for _, name := range names {
		l := r.label(name)
		if l == nil {
			l = w.addLabel(r, name, "ededed", "", actor)
		}
		ls = append(ls, l)
	}
	return ls
}

// changeLabels puts the labels of the request behind those that stay. The body is {"labels": [...]} or a bare list.
func changeLabels(q *request, stay []*Label) (any, error) {
	var list []any
	var in struct{ Labels []any }
	if strings.HasPrefix(strings.TrimSpace(string(q.body)), "[") {
		if err := q.decode(&list); err != nil {
			return nil, err
		}
	} else {
		if err := q.decode(&in); err != nil {
			return nil, err
		}
		list = in.Labels
	}
	names := labelNames(list)
	if slices.ContainsFunc(names, func(n string) bool { return strings.TrimSpace(n) == "" }) {
		return nil, invalid("Label", "name", "missing_field")
	}
	setLabels(q, q.issue, append(slices.Clone(stay), q.s.world.labelsNamed(q.repo, names, q.user)...))
	return q.s.json.labels(q.repo, q.issue.labels()), nil
}

func removeLabel(q *request) (any, error) {
	l := q.repo.label(q.r.PathValue("name"))
	if l == nil || !slices.Contains(q.issue.LabelIDs, l.ID) {
		return nil, &failure{status: http.StatusNotFound, message: "Label does not exist"}
	}
	setLabels(q, q.issue, slices.DeleteFunc(q.issue.labels(), func(o *Label) bool { return o == l }))
	return q.s.json.labels(q.repo, q.issue.labels()), nil
}

// setLabels sets an issue's labels and records labeled and unlabeled for what changed.
func setLabels(q *request, i *Issue, ls []*Label) {
	before := i.labels()
	i.labelled(ls)
	tellLabels(q, i, before)
}

// labelled sets an issue's labels and tells nobody.
func (i *Issue) labelled(ls []*Label) {
	i.LabelIDs = nil
	for _, l := range ls {
		if !slices.Contains(i.LabelIDs, l.ID) {
			i.LabelIDs = append(i.LabelIDs, l.ID)
		}
	}
}

// tellLabels records labeled and unlabeled for what is different from before.
func tellLabels(q *request, i *Issue, before []*Label) {
	tell := func(action string, l *Label) {
		i.UpdatedAt = q.s.world.now()
		q.s.world.noteLabel(i, l, action == "labeled", q.user.Login, i.UpdatedAt)
		q.s.world.changed()
		q.s.hooks.issue(i, action, q.user, obj{"label": q.s.json.label(q.repo, l)})
	}
	for _, l := range before {
		if !slices.Contains(i.LabelIDs, l.ID) {
			tell("unlabeled", l)
		}
	}
	for _, l := range i.labels() {
		if !slices.Contains(before, l) {
			tell("labeled", l)
		}
	}
}

// noteLabel adds to an issue's timeline that a label was put on it or taken off. A seed tells of the past, when the label was there.
func (w world) noteLabel(i *Issue, l *Label, on bool, actor string, at time.Time) {
	if at.Before(l.CreatedAt) {
		l.CreatedAt = at
	}
	i.LabelEvents = append(i.LabelEvents, &LabelEvent{ID: w.nextID(), On: on, Label: *l, Actor: actor, At: at})
}
