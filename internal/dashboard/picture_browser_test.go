//go:build browser

package dashboard

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/sandbox/browser"
)

var (
	picture = flag.Bool("picture", false, "write testdata/dashboard.png again, which the manual shows")
	shots   = flag.String("shots", "", "write pictures of the sample boards into this directory, to be looked at")
)

func TestPictures(t *testing.T) {
	for name, b := range map[string]model.Board{"": sample(t), "everything-": everything()} {
		p := open(t, b)
		for _, c := range []struct {
			name, scheme string
			width        int64
		}{{"light", "light", 1100}, {"dark", "dark", 1100}, {"phone-light", "light", 360}, {"phone-dark", "dark", 360}} {
			p.Look(t, c.scheme, c.width)
			shot := browser.Run(t, p, chromedp.FullScreenshot(100))
			browser.LooksLikeSomething(t, shot, c.width)
			if *shots != "" {
				require.NoError(t, os.WriteFile(filepath.Join(*shots, name+c.name+".png"), shot, 0o644))
			}
		}
	}
}

// TestThePictureInTheManual takes a few rows of the sample, so that all of the page is to be seen.
func TestThePictureInTheManual(t *testing.T) {
	path := filepath.Join("testdata", "dashboard.png")
	if *picture {
		b := sample(t)
		b.Pulls = slices.DeleteFunc(b.Pulls, func(p model.BoardPull) bool { return !slices.Contains([]int{1, 6, 7, 12, 14, 15, 16, 20}, p.Number) })
		p := open(t, b)
		p.Look(t, "light", 1000)
		require.NoError(t, os.WriteFile(path, browser.Small(t, browser.LooksLikeSomething(t, browser.Run(t, p, chromedp.FullScreenshot(100)), 1000)), 0o644))
	}
	shot := must.Get(os.ReadFile(path))(t)
	browser.LooksLikeSomething(t, shot, 1000)
	assert.Less(t, len(shot), 200_000)
}
