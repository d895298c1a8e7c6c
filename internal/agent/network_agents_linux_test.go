//go:build agents

package agent_test

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/sandbox/modelstub"
)

func TestAProgramAsksItsModelFromANetworkOfItsOwn(t *testing.T) {
	each(t, func(t *testing.T, r modelstub.Rig) {
		if !rooted(t) {
			return
		}
		var events bytes.Buffer
		dir := clone(t)
		s := modelstub.New(t)
		opt := rigged(t, r, s)
		behind, _ := isolatedOptions(t)
		opt.Isolator, opt.Temp, opt.User = behind.Isolator, behind.Temp, strconv.Itoa(tenant())
		opt.Network, opt.Events = model.Network{Model: true}, slog.New(slog.NewTextHandler(&events, nil))
		if place := private(t, modelstub.Programs(t)); place != "" {
			t.Logf("left out: no other user gets to the programs through %s", place)
			return
		}
		s.Play(r.Run("wc -l < /proc/net/dev > devices; id -u > who"), r.Done(greeted))
		_ = must.Get(ask(t, opt, dir, feedback("please")))(t)
		for file, want := range map[string]string{"devices": "3", "who": opt.User} {
			assert.Equal(t, want+"\n", string(contents(t, filepath.Join(dir, file))), file)
		}
		assert.Empty(t, events.String(), "it tries nothing else")
	})
}
