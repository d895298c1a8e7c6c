//go:build browser

package dashboard

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/clock/clocktest"
	"github.com/mergexo/mergexo/internal/model"
)

// tab is a page in a browser that reaches no network, with what it complained of and what it asked for.
type tab struct {
	context.Context

	mu       sync.Mutex
	problems []string
	asked    []string
}

// open shows a board in the browser that MERGEXO_TEST_BROWSER names.
func open(t *testing.T, b model.Board, before ...func(*testing.T, *tab)) *tab {
	t.Helper()
	program := os.Getenv("MERGEXO_TEST_BROWSER")
	require.NotEmpty(t, program, "MERGEXO_TEST_BROWSER: scripts/tools chromium gives one")
	file := filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, os.WriteFile(file, []byte(written(t, b)), 0o644))
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.ProxyServer("127.0.0.1:9"),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND"), chromedp.Flag("disable-component-update", true))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...) // a test ends its own context before it cleans up
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(func() {
		assert.NoError(t, chromedp.Cancel(ctx))
		cancel()
	})
	p := &tab{Context: ctx}
	require.NoError(t, chromedp.Listen(ctx, p.note))
	tell(t, p, network.Enable, network.EnableParams{})
	tell(t, p, log.Enable, cdp.Empty{})
	p.look(t, "light", 1200)
	for _, f := range before {
		f(t, p)
	}
	p.do(t, chromedp.Navigate((&url.URL{Scheme: "file", Path: file}).String()))
	return p
}

// note keeps what the browser says.
func (p *tab) note(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "data:") {
			p.asked = append(p.asked, e.Request.URL)
		}
	case *log.EventEntryAdded:
		p.problems = append(p.problems, e.Entry.Text)
	case *runtime.EventConsoleAPICalled:
		p.problems = append(p.problems, "console: "+string(e.Type))
	case *runtime.EventExceptionThrown:
		p.problems = append(p.problems, e.ExceptionDetails.Text)
	}
}

func (p *tab) do(t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(p, clocktest.Hang)
	defer cancel()
	require.NoError(t, chromedp.Do(ctx, steps...))
}

// run runs an action that answers something.
func run[T any](t *testing.T, p *tab, action chromedp.Action[T]) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(p, clocktest.Hang)
	defer cancel()
	answer, err := chromedp.Run(ctx, action)
	require.NoError(t, err)
	return answer
}

// ask evaluates an expression in the page.
func ask[T any](t *testing.T, p *tab, script string) T {
	t.Helper()
	return run(t, p, chromedp.Evaluate[T](script))
}

// tell gives the browser a command.
func tell[P, R any](t *testing.T, p *tab, command cdp.Command[P, R], params P) {
	t.Helper()
	_, err := chromedp.Call(p, command, params)
	require.NoError(t, err)
}

// look sets the colour scheme and the width of the window.
func (p *tab) look(t *testing.T, scheme string, width int64) {
	t.Helper()
	tell(t, p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	tell(t, p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 600})
}

// phone makes the window as narrow as a small phone.
func phone(t *testing.T, p *tab) {
	t.Helper()
	p.look(t, "light", 360)
}

// openAll unfolds what is folded away.
const openAll = `document.querySelectorAll('details').forEach(d => d.open = true)`

// pale lists the texts that stand out too little from what is behind them: WCAG 2.2 asks for 4.5 to 1.
// https://www.w3.org/TR/WCAG22/#contrast-minimum
const pale = `(() => {
  const parse = c => c.match(/[\d.]+/g).map(Number);
  const lum = c => { const [r, g, b] = c.slice(0, 3).map(v => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const behind = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
  const wrong = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n; (n = walk.nextNode());) {
    const e = n.parentElement;
    if (!n.data.trim() || e.tagName === 'title') continue;
    const s = getComputedStyle(e), ink = lum(parse(e instanceof SVGElement ? s.fill : s.color)), back = lum(behind(e));
    const ratio = (Math.max(ink, back) + 0.05) / (Math.min(ink, back) + 0.05);
    if (ratio < 4.5) wrong.push(n.data.trim().slice(0, 40) + ' ' + ratio.toFixed(2));
  }
  return wrong;
})()`

func TestThePageIsQuietAndReadableInABrowser(t *testing.T) {
	p := open(t, sample())
	assert.Equal(t, "octo/widgets · MergeXO", ask[string](t, p, `document.title`))
	ask[chromedp.Void](t, p, openAll)
	backs := map[string]string{}
	for _, scheme := range []string{"light", "dark"} {
		p.look(t, scheme, 1200)
		backs[scheme] = ask[string](t, p, `getComputedStyle(document.body).backgroundColor`)
		assert.Empty(t, ask[[]string](t, p, pale), scheme)
	}
	assert.Equal(t, map[string]string{"light": "rgb(246, 247, 249)", "dark": "rgb(17, 21, 27)"}, backs)
	assert.Zero(t, ask[int](t, p, `document.scripts.length`))
	assert.Zero(t, ask[int](t, p, `document.querySelectorAll('[style], [onclick], [onload], iframe, img').length`))
	assert.Zero(t, ask[int](t, p, `document.getElementsByTagName('script').length`))
	p.mu.Lock()
	defer p.mu.Unlock()
	assert.Empty(t, p.problems)
	assert.Len(t, p.asked, 1, "the page itself and nothing else: %v", p.asked)
}

func TestAPhoneScrollsThePageInOneDirection(t *testing.T) {
	for name, b := range map[string]model.Board{"sample": sample(), "many": many(60)} {
		p := open(t, b, phone)
		for _, state := range []string{"0", openAll} {
			ask[chromedp.Void](t, p, state)
			assert.Equal(t, 360, ask[int](t, p, `document.documentElement.scrollWidth`), name)
			assert.Empty(t, ask[[]string](t, p, `[...document.querySelectorAll('body *')].filter(e => !e.closest('.wide, svg') &&
				e.getBoundingClientRect().right > 360.5).map(e => e.tagName + '.' + e.className)`), name)
		}
	}
}

func TestNoScriptIsNeeded(t *testing.T) {
	p := open(t, sample(), func(t *testing.T, p *tab) {
		tell(t, p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	})
	text := run(t, p, chromedp.Text(chromedp.CSS("body")))
	for _, want := range []string{
		"restore the old history, or accept the new one (an operator): /mergexo unblock", "Fix a typo in retries <script>alert(1)</script> & more", "Log the version at the start", "$20.41",
		"internal/client/retry_test.go", "the rate limit comes back at 17:02 UTC",
	} {
		assert.Contains(t, text, want)
	}
	height := `document.querySelector('details.history').offsetHeight`
	closed := ask[int](t, p, height)
	p.do(t, chromedp.Click(chromedp.CSS("details.history summary")))
	assert.Greater(t, ask[int](t, p, height), closed, "details open by themselves")
}

func TestTheMatrixLeadsToWhatConflicts(t *testing.T) {
	p := open(t, sample(), phone)
	assert.Equal(t, "#41 conflicts with #52: 1 file", ask[string](t, p, `document.querySelector('.grid a[href="#conflict-41-52"]').ariaLabel`))
	ask[chromedp.Void](t, p, `document.querySelectorAll('.grid a[href="#conflict-58-66"]')[0].focus()`)
	p.do(t, chromedp.KeyEvent("\r"), chromedp.WaitReady(chromedp.CSS("#conflict-58-66:target")))
	assert.Contains(t, ask[string](t, p, `document.querySelector(':target').innerText`), "internal/client/retry_test.go")
	assert.Equal(t, true, ask[bool](t, p, `(r => r.top >= 0 && r.bottom <= innerHeight)(document.querySelector(':target').getBoundingClientRect())`))
	assert.Empty(t, ask[[]string](t, p, `[...document.querySelectorAll('a[href^="#"], use')].map(e => e.getAttribute('href'))
		.filter(h => !document.getElementById(h.slice(1)))`), "every link within the page leads somewhere")
}
