package engine_test

import (
	"context"
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/sandbox"
)

// grants declares the permissions of the job, less some of them; a level lowers one.
func (w *world) grants(but map[string]string) {
	w.t.Helper()
	p := sandbox.JobPermissions()
	maps.Copy(p, but)
	w.put("/_sandbox/permissions", object{"repository": repo.String(), "permissions": p})
}

// A turn without one of the permissions that the job should have ends with one line that names it and where it goes. Nothing of
// it is lost or done twice once it is there.
func TestATurnWithoutAPermission(t *testing.T) {
	type row struct {
		but    map[string]string
		says   string // "" where the turn needs it not
		begins bool   // and is refused later
	}
	each(t, map[string]row{
		"contents":                  {map[string]string{"contents": "none"}, "`contents: read`", false},
		"contents, to read":         {map[string]string{"contents": "read"}, "contents: write", true},
		"pull requests":             {map[string]string{"pull_requests": "none"}, "`issues: read, pull-requests: read`", false},
		"pull requests to read":     {map[string]string{"pull_requests": "read"}, "`pull-requests: write`", true},
		"issues and pulls, to read": {map[string]string{"issues": "read", "pull_requests": "read"}, "`issues: write` or `pull-requests: write`", false},
		"issues and actions":        {map[string]string{"issues": "none", "actions": "none"}, "", false},
		"checks and statuses":       {map[string]string{"checks": "none", "statuses": "none"}, "", false},
	}, func(t *testing.T, _ string, c row) {
		w := newWorld(t)
		w.api("octo", "PATCH", w.path(""), object{"private": true})
		ev := w.remark("alice", "Answer me.")
		w.grants(c.but)
		head, said := w.tip(), len(w.comments())
		rep, err := w.engine().Handle(context.Background(), ev)
		w.over(w.runs)
		if c.says == "" {
			require.NoError(t, err)
			require.Equal(t, model.ResultDone, rep.Result, rep.Reason)
			return
		}
		require.Error(t, err, rep.Reason)
		text := err.Error()
		if gh := (*github.Error)(nil); errors.As(err, &gh) {
			text += "; " + gh.Fix // as the program says it
		}
		assert.Contains(t, text, c.says)
		assert.NotContains(t, text, "\n")
		assert.Equal(t, c.begins, w.calls() > 0)
		if !c.begins {
			assert.Equal(t, []any{head, said}, []any{w.tip(), len(w.comments())}, "nothing was written")
			return
		}

		w.grants(nil)
		w.later(24 * time.Hour)
		require.Equal(t, model.ResultDone, w.handle(ev).Result)
		assert.Len(t, w.replies(), 1)
		assert.Len(t, w.commits(), 2)
		assert.Len(t, w.marked("turn", "done"), 1)
	})
}

// A merge without one of them ends in the same way, before the branch or its base moves, and goes through once it is there.
func TestAMergeWithoutAPermission(t *testing.T) {
	type row struct {
		but  map[string]string
		says string
	}
	each(t, map[string]row{
		"contents, to read":   {map[string]string{"contents": "read"}, "contents: write"},
		"issues to read":      {map[string]string{"issues": "read"}, ""},
		"checks and statuses": {map[string]string{"checks": "none", "statuses": "none"}, "checks: read, statuses: read"},
	}, func(t *testing.T, _ string, c row) {
		w := newMerge(t, `required_checks = ["ci"]`)
		w.check("ci", "success")
		w.api("octo", "PATCH", w.path(""), object{"private": true})
		w.grants(c.but)
		head, base := w.tip(), w.at("main")
		ev := w.say("carol", "/mergexo merge")
		rep, err := w.engine().Handle(context.Background(), ev)
		w.over(w.runs)
		text := rep.Reason
		if err != nil {
			text = err.Error()
		}
		if gh := (*github.Error)(nil); errors.As(err, &gh) {
			text += "; " + gh.Fix
		}
		if c.says != "" {
			require.NotEqual(t, model.ResultDone, rep.Result)
			assert.Contains(t, text, c.says)
			assert.Equal(t, []string{head, base}, []string{w.tip(), w.at("main")}, "nothing has moved")
			w.grants(nil)
			w.later(2 * time.Hour)
			w.sweep()
		}
		assert.Equal(t, "merged", w.badge(), text)
		assert.Equal(t, "done", w.merges()[0])
	})
}
