package report

import (
	"bytes"
	"io"
	"log/slog"
)

// Logger logs to w, one event a line, as "level=INFO msg=EVENT key=value ...". A value is quoted if it contains a line
// break or anything else that could end it. In Actions the time is left out, since the runner
// stamps each line.
func Logger(w io.Writer, level slog.Level, inActions bool) *slog.Logger {
	return slog.New(slog.NewTextHandler(unbracketed{w}, &slog.HandlerOptions{
		Level: level,
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if inActions && len(groups) == 0 && a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
}

// unbracketed breaks up "##[", which the runner obeys anywhere in a line; slog writes a record with one Write, so none
// is split over two.
type unbracketed struct{ w io.Writer }

func (u unbracketed) Write(p []byte) (int, error) {
	if _, err := u.w.Write(bytes.ReplaceAll(p, []byte("##["), []byte("## ["))); err != nil {
		return 0, err
	}
	return len(p), nil
}
