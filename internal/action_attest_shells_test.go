//go:build shells

package internal_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// verifies is a gh that finds good what its bundle names: the SHA-256 of an asset, who made it, where and from which ref. It has no
// credential, as in the action's first step.
const verifies = `[ "$1 $2" = "attestation verify" ] || exit 1
if [ "$3" = --help ]; then echo "  --source-ref string"; exit; fi
[ -z "$GH_TOKEN$GITHUB_TOKEN" ] && [ "$4 $6 $8 ${10}" = "--repo --signer-workflow --source-ref --bundle" ] || exit 4
sum=$(sha256sum "$3" | cut -d " " -f 1)
grep -qx "$sum $5 $7 $9" "${11}" && exit
echo "the bundle says nothing of $sum"
exit 1
`

func TestTheActionHoldsABinaryAgainstItsAttestation(t *testing.T) {
	sent := packed(t, program)
	good := sum(sent) + " org/mergexo org/mergexo/.github/workflows/release.yml refs/tags/v1.2.0\n"
	type row struct{ gh, bundle, fails string }
	must.Each(t, map[string]row{
		"good":                 {verifies, good, ""},
		"of another file":      {verifies, sum("other") + good[64:], "has an attestation that gh does not find good"},
		"of another workflow":  {verifies, sum(sent) + " org/mergexo org/mergexo/.github/workflows/ci.yml refs/tags/v1.2.0\n", "has an attestation that gh does not find good"},
		"of another tag":       {verifies, sum(sent) + " org/mergexo org/mergexo/.github/workflows/release.yml refs/tags/v1.1.0\n", "has an attestation that gh does not find good"},
		"of another's":         {verifies, sum(sent) + " eve/mergexo eve/mergexo/.github/workflows/release.yml refs/tags/v1.2.0\n", "has an attestation that gh does not find good"},
		"none":                 {verifies, "", "has no attestation"},
		"nothing to verify by": {"exit 1\n", "", ""},
	}, func(t *testing.T, c row) {
		s := newStep(t)
		s.gh(c.gh)
		s.assets["/org/mergexo/releases/download/v1.2.0/"+asset("v1.2.0")+".gz"] = sent
		if c.bundle != "" {
			s.assets["/org/mergexo/releases/download/v1.2.0/attestations.jsonl"] = c.bundle
		}
		s.pin(sum(program) + "  " + asset("v1.2.0"))
		outputs, out, err := s.fetch("GH_TOKEN=", "GITHUB_TOKEN=")
		if c.fails == "" {
			require.NoError(t, err, out)
			assert.Equal(t, "false", outputs["build"])
			assert.Contains(t, out, map[bool]string{true: "is attested by org/mergexo at v1.2.0", false: "not looking at the attestation"}[c.gh == verifies])
			return
		}
		require.Error(t, err, out)
		assert.Contains(t, out, "mergexo: "+asset("v1.2.0")+".gz "+c.fails)
		assert.Empty(t, outputs, "nothing is built quietly instead")
		assert.NoFileExists(t, filepath.Join(s.temp, "mergexo-action", asset("v1.2.0")))
	})
}

// An enterprise server that has the releases itself has no attestations for them.
func TestAnEnterpriseServersReleaseNeedsNoAttestation(t *testing.T) {
	s, github := newStep(t), newStep(t)
	s.gh(verifies)
	s.pin(sum(program) + "  " + asset("v1.2.0"))
	s.assets["/org/mergexo/releases/download/v1.2.0/"+asset("v1.2.0")+".gz"] = packed(t, program)
	s.github(github.server)
	outputs, out, err := s.fetch()
	require.NoError(t, err, out)
	assert.Equal(t, "false", outputs["build"])
	assert.Contains(t, out, "keeps none")
}
