//go:build browser

package browser

import (
	"context"
	"os"
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
)

// Tab is a page in a browser, with what the browser complained of and what the page asked for.
type Tab struct {
	context.Context

	mu       sync.Mutex
	problems []string
	asked    []string
}

// Open starts the browser with an empty page, in light colors and 1200 pixels wide.
func Open(t *testing.T, program string) *Tab {
	t.Helper()
	require.NotEmpty(t, program, "MERGEXO_TEST_BROWSER: scripts/tools chromium gives one")
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.ProxyServer("127.0.0.1:9"),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"), chromedp.Flag("disable-component-update", true))
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
	p := &Tab{Context: ctx}
	require.NoError(t, chromedp.Listen(ctx, p.note))
	Tell(t, p, network.Enable, network.EnableParams{})
	Tell(t, p, log.Enable, cdp.Empty{})
	p.Look(t, "light", 1200)
	return p
}

// note keeps what the browser says.
func (p *Tab) note(event any) {
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

// Noted is what the browser complained of, and the addresses that were asked for.
func (p *Tab) Noted() (problems, asked []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.problems...), append([]string(nil), p.asked...)
}

// Do takes steps.
func (p *Tab) Do(t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(p, clocktest.Hang)
	defer cancel()
	require.NoError(t, chromedp.Do(ctx, steps...))
}

// Run runs an action that answers something.
func Run[T any](t *testing.T, p *Tab, action chromedp.Action[T]) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(p, clocktest.Hang)
	defer cancel()
	answer, err := chromedp.Run(ctx, action)
	require.NoError(t, err)
	return answer
}

// Ask evaluates an expression in the page.
func Ask[T any](t *testing.T, p *Tab, script string) T {
	t.Helper()
	return Run(t, p, chromedp.Evaluate[T](script))
}

// Tell gives the browser a command.
func Tell[P, R any](t *testing.T, p *Tab, command cdp.Command[P, R], params P) {
	t.Helper()
	_, err := chromedp.Call(p, command, params)
	require.NoError(t, err)
}

// Look sets the color scheme and the width of the window.
func (p *Tab) Look(t *testing.T, scheme string, width int64) {
	t.Helper()
	Tell(t, p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	Tell(t, p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 600})
}

// OpenAll unfolds what is folded away.
const OpenAll = `document.querySelectorAll('details').forEach(d => d.open = true)`

// Pale lists the texts that stand out too little from what is behind them: WCAG 2.2 asks for 4.5 to 1.
// https://www.w3.org/TR/WCAG22/#contrast-minimum
const Pale = `(() => {
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
