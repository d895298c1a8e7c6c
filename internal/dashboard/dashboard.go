// Package dashboard draws a repository's board as one HTML file that needs nothing else: no network, no script, no font.
// It is apart from report, since what is drawn here is read in a browser and every text in it is somebody else's.
package dashboard

import (
	"errors"
	"io"

	"github.com/mergexo/mergexo/internal/model"
)

// Write writes the page for b to w. The same board gives the same bytes: times are UTC, and the only clock is b.At. Texts of
// b are shown as they are and never obeyed; links that do not lead to the server of b.URL are left out.
func Write(w io.Writer, b model.Board) error {
	return errors.New("dashboard: not built yet")
}
