package sweeping

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
)

func TestOutsidersCostASweepFewCalls(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	s := model.Snapshot{ReadAt: now}
	said := model.Comment{Author: model.Actor{Login: "eve"}, Body: "/mergexo pause", Edited: true, CreatedAt: now, Association: "NONE"}
	var f scan
	asked := 0
	for range 3 * maxAltered {
		if _, ask := f.posted(s, said); ask {
			asked++
		}
	}
	assert.Equal(t, maxAltered, asked)

	said.Association = "MEMBER"
	_, ask := f.posted(s, said)
	assert.True(t, ask, "of those who may be operators it asks for all")
	said.Body = "no command"
	_, ask = f.posted(s, said)
	assert.False(t, ask)
}
