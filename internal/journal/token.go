package journal

import "slices"

// HasToken says that a body that we wrote carries a token. Who wrote it is the caller's to know.
func (c Codec) HasToken(body, token string) bool {
	return slices.ContainsFunc(parseTrailer(body).tokens, func(s string) bool {
		found, ok := c.openToken(s)
		return ok && found == token
	})
}
