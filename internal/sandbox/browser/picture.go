//go:build browser

package browser

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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

// Small is a picture in the 256 colors that it has most of, as PNG.
func Small(t *testing.T, p image.Image) []byte {
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

// LooksLikeSomething fails for a page that is blank, or all but.
func LooksLikeSomething(t *testing.T, shot []byte, width int64) image.Image {
	t.Helper()
	p, err := png.Decode(bytes.NewReader(shot))
	require.NoError(t, err)
	assert.EqualValues(t, width, p.Bounds().Dx())
	seen := colours(p)
	assert.Greater(t, len(seen), 100)
	assert.Less(t, slices.Max(slices.Collect(maps.Values(seen))), p.Bounds().Dx()*p.Bounds().Dy()*19/20)
	return p
}
