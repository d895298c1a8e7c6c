package journal

import "slices"

// HasToken reports whether a body contains a token. The caller checks the author.
func (c Codec) HasToken(body, token string) bool {
	return slices.Contains(c.openTokens(parseTrailer(body)), token)
}
