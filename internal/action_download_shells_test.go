//go:build shells

package internal_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

func TestTheActionTakesAPinnedBinary(t *testing.T) {
	s := newStep(t)
	s.assets["/org/mergexo/releases/download/v1.2.0/"+asset("v1.2.0")+".gz"] = packed(t, program)
	s.pin(sum("other")+"  mergexo_v1.2.0_plan9_mips", sum(program)+"  "+asset("v1.2.0"), sum("old")+"  "+asset("v1.1.0"))

	outputs, out, err := s.fetch()
	require.NoError(t, err, out)
	assert.Equal(t, "false", outputs["build"])
	assert.Equal(t, "pinned\n", string(must.Get(exec.Command(outputs["path"]).Output())(t)))

	_, out, err = s.fetch("MERGEXO_VERSION=v1.2.0")
	require.NoError(t, err, out)
	assert.EqualValues(t, 1, s.asked.Load(), "the second step of a job finds it in RUNNER_TEMP")

	require.NoError(t, os.WriteFile(outputs["path"], []byte("#!/bin/sh\necho somebody else's\n"), 0o755))
	outputs, out, err = s.fetch()
	require.NoError(t, err, out)
	assert.Equal(t, program, string(must.Get(os.ReadFile(outputs["path"]))(t)), "what was changed there since is fetched anew")
}

func TestTheActionRefusesABinaryThatIsNotThePinnedOne(t *testing.T) {
	for name, c := range map[string]struct{ sent, unpacked string }{
		"another program":       {packed(t, program+"# changed"), program + "# changed"},
		"something behind it":   {packed(t, program) + packed(t, "# changed"), program + "# changed"},
		"not compressed":        {program, ""},
		"cut off":               {packed(t, program)[:20], ""},
		"more than can be true": {packed(t, strings.Repeat("\x00", 210_000_000)), strings.Repeat("\x00", 200_000_000)},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStep(t)
			s.assets["/org/mergexo/releases/download/v1.2.0/"+asset("v1.2.0")+".gz"] = c.sent
			s.pin(sum(program) + "  " + asset("v1.2.0"))
			outputs, out, err := s.fetch()
			require.Error(t, err)
			assert.Contains(t, out, "mergexo: "+asset("v1.2.0")+".gz unpacks to a file with SHA-256 ")
			if name != "cut off" { // how much of it comes out is for gzip to say
				assert.Contains(t, out, sum(c.unpacked)+", but this action pins "+sum(program))
			}
			assert.Empty(t, outputs, "nothing is built quietly instead")
			assert.NoFileExists(t, filepath.Join(s.temp, "mergexo-action", asset("v1.2.0")))
		})
	}
}

// An enterprise server need not have the releases: those of github.com are the same, as the checksum shows. A server that shows
// nothing to strangers answers by the page where one signs in.
func TestTheActionAsksGitHubWhereItsServerHasNoRelease(t *testing.T) {
	const here, there = "/org/mergexo/releases/download/v1.2.0/", "/mergexo/mergexo/releases/download/v1.2.0/"
	type row struct {
		here, there string
		asked       int32 // of github.com
		build, bad  bool
	}
	must.Each(t, map[string]row{
		"no release":      {"", packed(t, program), 1, false, false},
		"a page":          {"<!DOCTYPE html>\n<html><body>Sign in</body></html>\n", packed(t, program), 1, false, false},
		"a release":       {packed(t, program), "", 0, false, false},
		"neither":         {"", "", 1, true, false},
		"another program": {packed(t, program+"# changed"), packed(t, program), 0, false, true},
		"another there":   {"", packed(t, program+"# changed"), 1, false, true},
	}, func(t *testing.T, c row) {
		s, github := newStep(t), newStep(t) // an enterprise server, and github.com
		s.pin(sum(program) + "  " + asset("v1.2.0"))
		if c.here != "" {
			s.assets[here+asset("v1.2.0")+".gz"] = c.here
		}
		if c.there != "" {
			github.assets[there+asset("v1.2.0")+".gz"] = c.there
		}
		s.github(github.server)

		outputs, out, err := s.fetch()
		assert.Equal(t, c.asked, github.asked.Load(), "how often github.com is asked")
		if c.bad {
			require.Error(t, err)
			assert.Contains(t, out, "this action pins "+sum(program))
			return
		}
		require.NoError(t, err, out)
		assert.Equal(t, fmt.Sprint(c.build), outputs["build"], out)
	})
}
