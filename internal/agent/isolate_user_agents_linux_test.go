//go:build agents

package agent_test

import (
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/sandbox/modelstub"
)

// The programs may lie where nobody else gets to, as in root's home; then that is said.
func TestTheRealProgramsAsAnotherUser(t *testing.T) {
	if !rooted(t) {
		return
	}
	each(t, func(t *testing.T, r modelstub.Rig) {
		dir := clone(t)
		s := modelstub.New(t)
		opt := rigged(t, r, s)
		behind, _ := isolatedOptions(t)
		opt.Isolator, opt.Temp, opt.User = behind.Isolator, behind.Temp, strconv.Itoa(tenant())
		opt.Sessions = filepath.Join(publicDir(t), "sessions")
		if place := private(t, modelstub.Programs(t)); place != "" {
			assert.ErrorContains(t, must.Err(ask(t, opt, dir, feedback("please"))), "may not execute it, or not reach it", place)
			return
		}
		s.Play(append(r.Edit(filepath.Join(dir, "greet.txt"), "hello", "HELLO"), r.Run("id -u > who; git add -A"), r.Done(greeted))...)
		out := must.Get(ask(t, opt, dir, feedback("please")))(t)
		for file, want := range map[string]string{"who": opt.User, "greet.txt": "HELLO"} {
			assert.Equal(t, want+"\n", string(contents(t, filepath.Join(dir, file))))
		}
		for _, place := range []string{dir, opt.Temp, opt.Sessions} {
			allOurs(t, place)
		}
		s.Play(r.Done(greeted))
		req := feedback("once more")
		req.Session = out.Session
		_ = must.Get(ask(t, opt, dir, req))(t, "a session goes on after its files were taken back and given once more")
	})
}
