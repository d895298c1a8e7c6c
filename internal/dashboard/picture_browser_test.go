//go:build browser

package dashboard

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

var (
	picture = flag.Bool("picture", false, "write testdata/dashboard.png anew, which the README shows")
	shots   = flag.String("shots", "", "write pictures of the sample board into this directory, to be looked at")
)

// colours counts those of a picture.
func colours(p image.Image) map[color.Color]int {
	count := map[color.Color]int{}
	for y := range p.Bounds().Dy() {
		for x := range p.Bounds().Dx() {
			count[p.At(x, y)]++
		}
	}
	return count
}

// small is a picture in the 256 colours that it has most of, as PNG.
func small(t *testing.T, p image.Image) []byte {
	t.Helper()
	count := colours(p)
	most := slices.SortedFunc(maps.Keys(count), func(a, b color.Color) int {
		return cmp.Or(count[b]-count[a], cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
	out := image.NewPaletted(p.Bounds(), most[:min(len(most), 256)])
	for y := range p.Bounds().Dy() {
		for x := range p.Bounds().Dx() {
			out.Set(x, y, p.At(x, y))
		}
	}
	var b bytes.Buffer
	require.NoError(t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, out))
	return b.Bytes()
}

// looksLikeSomething fails for a page that is blank, or all but.
func looksLikeSomething(t *testing.T, shot []byte, width int64) image.Image {
	t.Helper()
	p, err := png.Decode(bytes.NewReader(shot))
	require.NoError(t, err)
	assert.EqualValues(t, width, p.Bounds().Dx())
	seen := colours(p)
	assert.Greater(t, len(seen), 100)
	assert.Less(t, slices.Max(slices.Collect(maps.Values(seen))), p.Bounds().Dx()*p.Bounds().Dy()*19/20)
	return p
}

func TestPictures(t *testing.T) {
	p := open(t, sample())
	for _, c := range []struct {
		name, scheme string
		width        int64
	}{{"light", "light", 1100}, {"dark", "dark", 1100}, {"phone-light", "light", 360}, {"phone-dark", "dark", 360}} {
		p.look(t, c.scheme, c.width)
		shot := run(t, p, chromedp.FullScreenshot(100))
		looksLikeSomething(t, shot, c.width)
		if *shots != "" {
			require.NoError(t, os.WriteFile(filepath.Join(*shots, c.name+".png"), shot, 0o644))
		}
	}
}

// TestThePictureInTheREADME takes a few rows of the sample, so that all of the page is to be seen.
func TestThePictureInTheREADME(t *testing.T) {
	path := filepath.Join("testdata", "dashboard.png")
	if *picture {
		b := sample()
		b.Pulls = slices.DeleteFunc(b.Pulls, func(p model.BoardPull) bool { return !slices.Contains([]int{41, 52, 58, 61, 71}, p.Number) })
		b.Issues = b.Issues[:2]
		p := open(t, b)
		p.look(t, "light", 1000)
		require.NoError(t, os.WriteFile(path, small(t, looksLikeSomething(t, run(t, p, chromedp.FullScreenshot(100)), 1000)), 0o644))
	}
	shot, err := os.ReadFile(path)
	require.NoError(t, err)
	looksLikeSomething(t, shot, 1000)
	assert.Less(t, len(shot), 200_000)
}
