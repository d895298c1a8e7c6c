package model

import (
	"slices"
	"strings"
	"time"
)

// LabelChange is the adding or removing of a label.
type LabelChange struct {
	Label string
	On    bool
	At    time.Time
	By    Actor // without a login if GitHub does not say
	// LabelAt is when the label itself was last changed (renamed, say); zero if it was removed or this is not known.
	LabelAt time.Time
}

// Named says that a list of labels, logins or repositories has one. GitHub ignores their case.
func Named(list []string, name string) bool {
	return slices.ContainsFunc(list, func(l string) bool { return strings.EqualFold(l, name) })
}

// LabelledBy is the newest change of a label, and whether it put the label on, which still is.
func (p Pull) LabelledBy(label string) (change LabelChange, on bool) {
	for _, c := range slices.Backward(p.LabelChanges) {
		if strings.EqualFold(c.Label, label) {
			return c, c.On && Named(p.Labels, label)
		}
	}
	return LabelChange{}, false
}
