//go:build all

package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// What is under way without a commit message is dropped.
func TestACheckoutLeftInAStateThatCanBeTaken(t *testing.T) {
	each(t, map[string][]string{
		"branched":       {"Other", "Change"},
		"merged":         {"Side", "Merged"},
		"picked":         {"Picked"},
		"merged+silent":  nil,
		"picked+silent":  nil,
		"merging+silent": nil,
		"picking+silent": nil,
	}, func(t *testing.T, how string, subjects []string) {
		w := newWorld(t)
		w.clone()
		w.agent = "talk+" + how
		w.done(w.handle(w.remark("alice", "Answer me.")))
		assert.Equal(t, append([]string{"Write greeting.txt"}, subjects...), w.commits())
		if subjects == nil {
			assert.Contains(t, w.receipt(), "left changes in its checkout without a commit message")
		} else {
			last := w.api("octo", "GET", w.path("/commits/"+w.tip()), nil)
			assert.Equal(t, last.at("commit", "committer", "name"), last.at("commit", "author", "name"), "it is nobody else's commit")
		}
		w.settled(1, 1, len(subjects))

		w.agent = "answer"
		require.Equal(t, model.ResultDone, w.handle(w.remark("alice", "And again.")).Result)
		w.settled(2, 2, len(subjects)+1)
	})
}

// saved is the work that is kept where the checkout has no commit.
var saved = []string{"Checkpoint of work on pull request 1"}

func TestADamagedWorkspace(t *testing.T) {
	happens(t, workspace, []trouble{
		// A checkout that is left in the middle of something.
		{how: "on main", blocked: "history_rewrite", says: "the agent rewrote history in its checkout"},
		{how: "on main, with work", blocked: "history_rewrite", says: "the agent rewrote history in its checkout", kept: []string{"On main"}},
		{how: "merging", says: `unresolved merge conflicts in "greeting.txt"`, kept: []string{"Side"}, beside: true},
		{how: "picking", says: `unresolved merge conflicts in "greeting.txt"`, kept: []string{"Side"}, beside: true},
		// Work that is not on HEAD is kept, too.
		{how: "rebasing", blocked: "history_rewrite", says: "the agent rewrote history in its checkout", kept: []string{"Mine"}},
		{how: "reordering", says: "the agent left HEAD at", kept: []string{"Mine one", "Mine two"}},
		{how: "detach", says: "the agent left HEAD at", kept: []string{"Mine"}},
		// What git needs is gone or no good.
		{how: "HEAD is garbage", says: "HEAD", kept: saved},
		{how: "HEAD names nothing", says: "HEAD", kept: saved},
		{how: "orphan", says: "the agent left a checkout without a commit; its files are kept as changes to the commit that it started from", kept: saved},
		{how: "no objects", says: "objects", kept: saved},
		{how: "no object is left", says: "read HEAD of the checkout", kept: saved},
		{how: "no .git", says: ".git", kept: saved},
		{how: "no checkout", says: "checkout"},
		// A git directory that leads elsewhere is not followed.
		{how: "a link in place of .git", says: ".git", kept: saved},
		{how: "a file in place of .git", says: ".git", kept: saved},
		{how: "links in the place of what is in .git", says: ".git", kept: saved},
	})
}

func TestADamagedOwnClone(t *testing.T) {
	happens(t, ownClone, []trouble{
		{how: "no trees", says: "tree"},
		{how: "no .git", says: ".git", kept: saved},
	})
}
