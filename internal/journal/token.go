package journal

import "slices"

// HasToken reports whether a body contains a token. The caller checks the author.
func (c Codec) HasToken(body, token string) bool {
	return slices.ContainsFunc(parseTrailer(body).tokens, func(s string) bool {
		found, ok := c.openToken(s)
		return ok && found == token
	})
}
