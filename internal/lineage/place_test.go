package lineage_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/lineage"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// TestWhereCommitsGo has heads that are named after their history: "abp" descends from "ab". The commits are b to p, on a.
func TestWhereCommitsGo(t *testing.T) {
	const base, planned = "a", "abp"
	type row struct {
		commits lineage.Commits
		unknown string // the commit to which nobody knows how the head stands
		want    lineage.Place
		asked   []string
	}
	must.Each(t, map[string]row{
		"there is no such branch":               {lineage.Commits{}, "", lineage.Push, nil},
		"nor was there ever one":                {lineage.Commits{Foreign: true}, "", lineage.Push, nil},
		"nothing has happened":                  {lineage.Commits{Head: "a"}, "", lineage.Push, nil},
		"they are there":                        {lineage.Commits{Head: "abp"}, "", lineage.Landed, nil},
		"and somebody went on":                  {lineage.Commits{Head: "abpx"}, "", lineage.Landed, []string{"abp"}},
		"some of them are there":                {lineage.Commits{Head: "ab"}, "", lineage.Push, []string{"abp", "a"}},
		"somebody was faster":                   {lineage.Commits{Head: "ax"}, "", lineage.Replay, []string{"abp", "a"}},
		"somebody took the base away":           {lineage.Commits{Head: "x"}, "", lineage.Rewritten, []string{"abp", "a"}},
		"or all that is new":                    {lineage.Commits{Base: "ao", Planned: "aop", Head: "a"}, "", lineage.Rewritten, []string{"aop", "ao"}},
		"an operator accepted that":             {lineage.Commits{Head: "x", Moved: "x"}, "", lineage.Replay, []string{"abp", "x"}},
		"and somebody went on from there":       {lineage.Commits{Head: "xy", Moved: "x"}, "", lineage.Replay, []string{"abp", "x"}},
		"and it was rewritten again":            {lineage.Commits{Head: "z", Moved: "x"}, "", lineage.Rewritten, []string{"abp", "x"}},
		"what is older was accepted":            {lineage.Commits{Base: "ao", Planned: "aop", Head: "a", Moved: "a"}, "", lineage.Replay, []string{"aop", "a"}},
		"nothing is new":                        {lineage.Commits{Planned: "a", Head: "a"}, "", lineage.Landed, nil},
		"nothing is new, and somebody went on":  {lineage.Commits{Planned: "a", Head: "ax"}, "", lineage.Landed, []string{"a"}},
		"nothing is new, on a rewritten branch": {lineage.Commits{Planned: "a", Head: "x"}, "", lineage.Rewritten, []string{"a", "a"}},
		"nothing is new, and nobody knows":      {lineage.Commits{Planned: "a", Head: "ax"}, "a", lineage.Retry, []string{"a"}},
		"nobody knows whether they are there":   {lineage.Commits{Head: "ax"}, "abp", lineage.Retry, []string{"abp"}},
		"nobody knows whether the base is":      {lineage.Commits{Head: "ax"}, "a", lineage.Retry, []string{"abp", "a"}},
		"nobody else works there yet":           {lineage.Commits{Base: "ao", Planned: "aop", Head: "a", Own: true}, "", lineage.Push, []string{"aop"}},
		"somebody has such a branch":            {lineage.Commits{Head: "x", Foreign: true}, "", lineage.Rename, []string{"abp"}},
		"at the base":                           {lineage.Commits{Head: "a", Foreign: true}, "", lineage.Rename, []string{"abp"}},
		"with some of them":                     {lineage.Commits{Head: "ab", Foreign: true}, "", lineage.Rename, []string{"abp"}},
		"with all of them":                      {lineage.Commits{Head: "abpx", Foreign: true}, "", lineage.Landed, []string{"abp"}},
	}, func(t *testing.T, c row) {
		if c.commits.Base == "" {
			c.commits.Base = base
		}
		if c.commits.Planned == "" {
			c.commits.Planned = planned
		}
		var asked []string
		assert.Equal(t, c.want, c.commits.Place(func(earlier string) model.Relation {
			asked = append(asked, earlier)
			return relation(earlier, c.commits.Head, c.unknown)
		}))
		assert.Equal(t, c.asked, asked)
	})
}

func relation(earlier, later, unknown string) model.Relation {
	switch {
	case earlier == unknown:
		return model.Unknown
	case earlier == later:
		return model.Identical
	case strings.HasPrefix(later, earlier):
		return model.Ahead
	case strings.HasPrefix(earlier, later):
		return model.Behind
	}
	return model.Diverged
}
