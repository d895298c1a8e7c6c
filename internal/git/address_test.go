package git

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOneRepositoryHasManySpellings(t *testing.T) {
	const url = "https://github.com/octo/widgets"
	for _, same := range []string{
		"https://github.com/octo/widgets", "https://github.com/Octo/Widgets.git", "https://x:y@github.com/octo/widgets/", "https://github.com:443/octo/widgets",
		"git@github.com:octo/widgets.git", "ssh://git@github.com/octo/widgets", "ssh://git@github.com:22/octo/widgets.git", "github.com:octo/widgets", "git://github.com/octo/widgets",
	} {
		assert.True(t, sameRepository(same, url), same)
	}
	for _, other := range []string{
		"", "https://github.com/octo/gadgets", "https://example.com/octo/widgets", "https://github.com:8443/octo/widgets", "/srv/octo/widgets.git", "../octo/widgets",
		"https://github.com/octo/widgets/more", "file:///octo/widgets", "git@example.com:octo/widgets", "https://github.com.example.com/octo/widgets", "https://github.com",
	} {
		assert.False(t, sameRepository(other, url), other)
	}
	assert.True(t, sameRepository("git@127.0.0.1:octo/widgets", "http://127.0.0.1:8080/octo/widgets"))
	assert.False(t, sameRepository("http://127.0.0.1:8081/octo/widgets", "http://127.0.0.1:8080/octo/widgets"))
}

func TestARelativeAddressStandsBesideTheRepository(t *testing.T) {
	for _, row := range [][3]string{
		{"https://github.com/octo/widgets", "../lib.git", "https://github.com/octo/lib.git"},
		{"https://ada:hush@github.com/octo/widgets.git/", "../../eve/lib", "https://github.com/eve/lib"},
		{"https://hush@github.com:8443/octo/widgets", "./lib", "https://github.com:8443/octo/widgets/lib"},
		{"ssh://git@github.com/octo/widgets", "../lib.git", "ssh://git@github.com/octo/lib.git"},
		{"git@github.com:octo/widgets.git", "../lib.git", "git@github.com:octo/lib.git"},
		{"git@github.com:octo/widgets.git", "../../eve/lib.git", "git@github.com:eve/lib.git"},
		{"/srv/octo/widgets.git", "../lib.git", "/srv/octo/lib.git"},
		{"file:///srv/octo/widgets.git", "../../lib.git", "file:///srv/lib.git"},
	} {
		assert.Equal(t, row[2], Beside((&Checkout{Opt: Options{URL: row[0]}}), row[1]))
		assert.Equal(t, row[2], Beside((&Checkout{address: row[0]}), row[1]))
	}
}
