package model_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
)

// Only a list that ends at the head leads to it: GitHub may show the commits of a head that was there before.
func TestCommitsLeadToTheHeadThatTheyEndAt(t *testing.T) {
	for _, row := range []struct {
		commits, earlier, later string
		leads                   bool
	}{
		{"a b c", "a", "c", true}, {"a b c", "b", "c", true},
		{"a b c", "c", "c", false}, {"a b c", "a", "b", false}, {"a b c", "a", "d", false}, {"a b c", "x", "c", false}, {"", "a", "b", false},
	} {
		var p model.Pull
		for _, sha := range strings.Fields(row.commits) {
			p.Commits = append(p.Commits, model.CommitText{SHA: sha})
		}
		assert.Equal(t, row.leads, p.Leads(row.earlier, row.later), "%+v", row)
	}
}
