package prose

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxColumns is the longest line of a Go file, a tab counted as one.
const maxColumns = 100

// Columns finds the lines of a Go file that are too long.
func Columns(source string) []Finding {
	var found []Finding
	for i, line := range strings.Split(source, "\n") {
		if n := utf8.RuneCountInString(line); n > maxColumns {
			found = append(found, Finding{i + 1, fmt.Sprintf("%d columns", n), shorten(line)})
		}
	}
	return found
}

// GoFile returns the comments of a Go file and the texts in its string literals.
// Code in comments, which is indented, and directives are left out.
func GoFile(name, source string) (comments, texts []Passage, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, source, parser.ParseComments)
	if err != nil {
		return nil, nil, err
	}
	for _, group := range file.Comments {
		comments = append(comments, goComment(files, group)...)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil && strings.Contains(text, " ") {
				texts = append(texts, Passage{files.Position(lit.Pos()).Line, text})
			}
		}
		return true
	})
	return comments, texts, nil
}

// goComment splits a comment into paragraphs and list items.
func goComment(files *token.FileSet, group *ast.CommentGroup) []Passage {
	var passages []Passage
	var current []string
	begin := 0
	flush := func() {
		if len(current) > 0 {
			passages = append(passages, Passage{begin, plain(strings.Join(current, "\n"))})
			current = nil
		}
	}
	for _, c := range group.List {
		first := files.Position(c.Pos()).Line
		text, block := strings.CutPrefix(c.Text, "/*")
		if block {
			text = strings.TrimSuffix(text, "*/")
		} else {
			text = strings.TrimPrefix(text, "//")
			if strings.HasPrefix(text, "go:") || strings.HasPrefix(text, "nolint") {
				continue
			}
		}
		for i, line := range strings.Split(text, "\n") {
			item := strings.TrimSpace(line)
			code := strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "     ")
			if item == "" || code {
				flush()
				continue
			}
			if strings.HasPrefix(item, "- ") || strings.HasPrefix(item, "# ") {
				flush()
			}
			if len(current) == 0 {
				begin = first + i
			}
			current = append(current, line)
		}
	}
	flush()
	return passages
}
