package sandbox

import (
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// labels tells whether the payload is about a label that somebody put on an issue or took off it.
func (sc *scene) labels() bool {
	return sc.name == "issues" && (sc.action == "labeled" || sc.action == "unlabeled") && sc.label != nil && sc.label.Name != ""
}

// labelling adds to the issue's timeline what the payload tells: the sender did it, when the issue was last updated.
func (sc *scene) labelling() error {
	if !sc.labels() || sc.sender == nil {
		return nil
	}
	i, err := sc.find(sc.repo.FullName, sc.issue.Number)
	if err != nil {
		return err
	}
	r, by := i.repo, sc.login(*sc.sender)
	l := r.label(sc.label.Name)
	if l == nil {
		l = &Label{ID: sc.s.world.nextID(), Name: sc.label.Name, Color: "ededed", CreatedAt: i.CreatedAt}
		r.Labels = append(r.Labels, l)
	}
	on := sc.action == "labeled"
	same := func(e *LabelEvent) bool { return e.Label.ID == l.ID }
	switch {
	case on:
		i.LabelEvents = slices.DeleteFunc(i.LabelEvents, same)
		if !slices.Contains(i.LabelIDs, l.ID) {
			i.LabelIDs = append(i.LabelIDs, l.ID)
		}
	case !slices.ContainsFunc(i.LabelEvents, same):
		sc.s.world.noteLabel(i, l, true, by, i.CreatedAt)
	}
	sc.s.world.noteLabel(i, l, on, by, i.UpdatedAt)
	return nil
}

// labeller is who put the labels on that were there before: the payload does not tell, but it was somebody with the right.
func (sc *scene) labeller(r *Repository) string {
	var people []eventUser
	if sc.issue != nil {
		people = append(people, sc.issue.User)
	}
	if sc.comment != nil {
		people = append(people, sc.comment.User)
	}
	if sc.sender != nil {
		people = append(people, *sc.sender)
	}
	for _, u := range append(people, sc.repo.Owner) {
		known := sc.s.world.user(u.Login)
		if known != nil && known.Type == "User" && sc.s.world.permission(r, u.Login) >= model.PermissionTriage {
			return known.Login
		}
	}
	someone := sc.s.world.ensureUser(inventorName, "")
	if key := strings.ToLower(inventorName); r.Permissions[key] == "" {
		r.Permissions[key] = "write"
	}
	return someone.Login
}
