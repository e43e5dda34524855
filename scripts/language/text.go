package main

import (
	"path/filepath"
	"regexp"
	"strings"
)

// most words of a sentence in a page.
const longest = 25

// isPage says whether a file is a page that people read and write.
func isPage(name string) bool {
	if !strings.HasSuffix(name, ".md") || strings.HasPrefix(name, "docs/abi/") {
		return false
	}
	generated := []string{"docs/messages.md", "docs/operators.md", "docs/ohnn-operators.md", "docs/nnapi_operations.md"}
	for _, g := range generated {
		if name == g {
			return false
		}
	}
	return !strings.HasPrefix(name, "docs/conformance_")
}

// isSource says whether comments of a file are counted: hand-written Go of the library and the tool.
func isSource(name string) bool {
	top, _, _ := strings.Cut(name, "/")
	return strings.HasSuffix(name, ".go") && !strings.HasPrefix(filepath.Base(name), "z") &&
		(top == "capi" || top == "core" || top == "backends" || top == "cmd")
}

// phrase is a rule of words that have a better one.
type phrase struct {
	rule    string
	pattern *regexp.Regexp
}

// phrases are the rules for comments and pages. A doc comment begins with a verb or a noun phrase, traits that a
// comment lists are true, and the plain word comes before the clever one.
var phrases = []phrase{
	{"is-what", regexp.MustCompile(`\b(is|are) (what|that of|those of|those that|the one that)\b`)},
	{"traits-none", regexp.MustCompile(`Traits: none`)},
	{"behind", regexp.MustCompile(`\b(bytes|padding|written|stand|stands|lie|lies|comes?|end|rows?) behind\b`)},
	{"told", regexp.MustCompile(`\b(is|are|was|be) told\b`)},
	{"tell-apart", regexp.MustCompile(`\btells?( \w+)? apart\b`)},
	{"nobody", regexp.MustCompile(`\bnobody\b`)},
}

// what is the noun "what": after a preposition or a verb, or at the beginning of a sentence that goes on with "is".
var what = regexp.MustCompile(`\b[Ww]hat\b`)

// inPage counts in a page.
func inPage(name, text string) (found []finding) {
	for _, p := range prose(text) {
		for _, s := range sentences(p) {
			if n := len(strings.Fields(s)); n > longest {
				found = append(found, finding{"long-sentence", name, s})
			}
			found = append(found, inText(name, s, "page-")...)
		}
	}
	return found
}

// inText counts phrases in a text.
func inText(at, text, prefix string) (found []finding) {
	for _, p := range phrases {
		for range p.pattern.FindAllString(text, -1) {
			found = append(found, finding{prefix + p.rule, at, text})
		}
	}
	for range what.FindAllString(text, -1) {
		found = append(found, finding{prefix + "what", at, text})
	}
	return found
}

var (
	code  = regexp.MustCompile("`[^`]*`")
	link  = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	start = regexp.MustCompile(`^(\s*([-*]|\d+\.)\s+|#+\s+|>\s*)`)
)

// prose returns the paragraphs, items and cells of a page as plain text: code is one word.
func prose(page string) (parts []string) {
	part, fenced := "", false
	flush := func() {
		if t := strings.TrimSpace(part); t != "" {
			parts = append(parts, t)
		}
		part = ""
	}
	for line := range strings.Lines(page) {
		line = strings.TrimRight(line, "\n")
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "```"):
			flush()
			fenced = !fenced
		case fenced:
		case trimmed == "", strings.HasPrefix(line, "    ") && part == "":
			flush()
		case strings.HasPrefix(trimmed, "|"):
			flush()
			for cell := range strings.SplitSeq(strings.ReplaceAll(trimmed, `\|`, ""), "|") {
				part = plain(cell)
				flush()
			}
		case start.MatchString(line):
			flush()
			part = plain(start.ReplaceAllString(line, ""))
			if strings.HasPrefix(line, "#") {
				flush()
			}
		default:
			part += " " + line
			part = plain(part)
		}
	}
	flush()
	return parts
}

func plain(s string) string {
	return strings.ReplaceAll(link.ReplaceAllString(code.ReplaceAllString(s, "CODE"), "$1"), "**", "")
}

var ends = regexp.MustCompile(`[.!?:;]["')]*\s+`)

// sentences splits a text at full stops, and at colons and semicolons, after which a new thought begins.
func sentences(text string) (list []string) {
	text = strings.Join(strings.Fields(text), " ")
	for {
		at := ends.FindStringIndex(text)
		if at == nil {
			break
		}
		list = append(list, strings.TrimSpace(text[:at[1]]))
		text = text[at[1]:]
	}
	if text != "" {
		list = append(list, text)
	}
	return list
}
