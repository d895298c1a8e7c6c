package expression

import (
	"fmt"
	"strconv"
	"strings"
)

// depth bounds how deep an expression may nest, so that no text exhausts the stack.
const depth = 100

// parser works out an expression while it reads it.
type parser struct {
	tokens   []token
	contexts Object
	deep     int
}

type kind int

const (
	end kind = iota
	name
	literal
	sign
)

type token struct {
	kind  kind
	text  string
	value any // of a literal
}

func evaluate(text string, contexts Object) (any, error) {
	tokens, err := scan(text)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens, contexts: contexts}
	v, err := p.or()
	if err != nil {
		return nil, err
	}
	if t := p.tokens[0]; t.kind != end {
		return nil, fmt.Errorf("unexpected %q in an expression", t.text)
	}
	return v, nil
}

const nameStart = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"

// scan cuts a text into tokens.
func scan(text string) ([]token, error) {
	var out []token
	for {
		text = strings.TrimLeft(text, " \t\r\n")
		if text == "" {
			return append(out, token{kind: end, text: "end"}), nil
		}
		t, n, err := first(text)
		if err != nil {
			return nil, err
		}
		out, text = append(out, t), text[n:]
	}
}

// first reads the token that a text begins with, and says how long it is.
func first(text string) (token, int, error) {
	switch c := text[0]; {
	case strings.IndexByte(nameStart, c) >= 0:
		n := len(text) - len(strings.TrimLeft(text, nameStart+"-0123456789"))
		switch word := text[:n]; word {
		case "true", "false":
			return token{literal, word, word == "true"}, n, nil
		case "null":
			return token{literal, word, nil}, n, nil
		case "NaN", "Infinity":
			return token{literal, word, number(word)}, n, nil
		default:
			return token{kind: name, text: word}, n, nil
		}
	case c == '\'':
		return quoted(text)
	case c >= '0' && c <= '9', strings.IndexByte("-+.", c) >= 0 && len(text) > 1 && text[1] >= '0' && text[1] <= '9':
		n := 1 + len(text[1:]) - len(strings.TrimLeft(text[1:], "0123456789abcdefABCDEFoxXpP.+-_"))
		v := number(text[:n])
		if v != v {
			return token{}, 0, fmt.Errorf("%q is not a number", text[:n])
		}
		return token{literal, text[:n], v}, n, nil
	}
	for _, s := range []string{"==", "!=", "<=", ">=", "&&", "||", "<", ">", "!", "(", ")", "[", "]", ".", ",", "*"} {
		if strings.HasPrefix(text, s) {
			return token{kind: sign, text: s}, len(s), nil
		}
	}
	return token{}, 0, fmt.Errorf("unexpected %s in an expression", strconv.Quote(text[:1]))
}

// quoted reads 'text', in which two quotes stand for one.
func quoted(text string) (token, int, error) {
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		if text[i] != '\'' {
			b.WriteByte(text[i])
			continue
		}
		if i+1 < len(text) && text[i+1] == '\'' {
			b.WriteByte('\'')
			i++
			continue
		}
		return token{literal, text[:i+1], b.String()}, i + 1, nil
	}
	return token{}, 0, fmt.Errorf("a text in an expression has no closing quote")
}

// take passes over a sign when it comes next.
func (p *parser) take(s string) bool {
	if t := p.tokens[0]; t.kind != sign || t.text != s {
		return false
	}
	p.tokens = p.tokens[1:]
	return true
}

func (p *parser) want(s string) error {
	if !p.take(s) {
		return fmt.Errorf("expected %q, got %q in an expression", s, p.tokens[0].text)
	}
	return nil
}

// or gives the first value that holds. One that holds decides, whatever else is unknown.
func (p *parser) or() (any, error) {
	if p.deep++; p.deep > depth {
		return nil, fmt.Errorf("an expression nests deeper than %d", depth)
	}
	defer func() { p.deep-- }()
	v, err := p.and()
	for err == nil && p.take("||") {
		var right any
		right, err = p.and()
		_, unknown := v.(Unknown)
		_, open := right.(Unknown)
		switch {
		case unknown && (open || !truth(right)):
		case unknown || !truth(v):
			v = right
		}
	}
	return v, err
}

// and gives the first value that does not hold. One that does not decides, whatever else is unknown.
func (p *parser) and() (any, error) {
	v, err := p.compare()
	for err == nil && p.take("&&") {
		var right any
		right, err = p.compare()
		_, unknown := v.(Unknown)
		_, open := right.(Unknown)
		switch {
		case unknown && (open || truth(right)):
		case unknown:
			v = false
		case truth(v):
			v = right
		}
	}
	return v, err
}

var comparisons = []struct {
	sign  string
	holds func(a, b any) bool
}{
	{"==", same}, {"!=", func(a, b any) bool { return !same(a, b) }},
	{"<=", func(a, b any) bool { return less(a, b) || same(a, b) }}, {">=", func(a, b any) bool { return less(b, a) || same(a, b) }},
	{"<", less}, {">", func(a, b any) bool { return less(b, a) }},
}

func (p *parser) compare() (any, error) {
	v, err := p.not()
again:
	for _, c := range comparisons {
		if err != nil || !p.take(c.sign) {
			continue
		}
		var right any
		right, err = p.not()
		_, unknown := v.(Unknown)
		_, open := right.(Unknown)
		if unknown || open {
			v = Unknown{}
		} else {
			v = c.holds(v, right)
		}
		goto again
	}
	return v, err
}

func (p *parser) not() (any, error) {
	negate, twice := false, false
	for p.take("!") {
		negate, twice = !negate, true
	}
	v, err := p.postfix()
	if _, unknown := v.(Unknown); unknown || !twice || err != nil {
		return v, err
	}
	return truth(v) != negate, nil
}
