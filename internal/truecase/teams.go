package truecase

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// towns are those before nicknames of teams, by their last words.
var towns = Set(`Anaheim Angeles Antonio Arizona Atlanta Baltimore Bay Boston Brooklyn
	Buffalo Calgary Carolina Charlotte Chicago Cincinnati City Cleveland Colorado Columbus Dallas
	Denver Detroit Diego Edmonton Florida Francisco Houston Indiana Jersey Louis Memphis Miami
	Milwaukee Minnesota Montreal Nashville Oakland Oklahoma Orlando Orleans Ottawa Philadelphia
	Phoenix Pittsburgh Portland Sacramento Seattle Tampa Tennessee Texas Toronto Utah Vancouver
	Washington Winnipeg York`)

// A team plays where one of these is beside it, and the text names a game or another team.
var (
	playsAfter  = regexp.MustCompile(`^ (?:beat|defeated|drafted|lost|play(?:ed)?|signed|won)\b`)
	playsBefore = regexp.MustCompile(`\b(?:against|beat|beating|defeated|lost to) the $`)
	game        = regexp.MustCompile(`\b(?:MLB|NBA|NFL|NHL|Stanley Cup|Super Bowl|World Series|` +
		`innings?|playoffs?|quarterback|touchdowns?)\b`)
)

// plays reports whether the word text[a:b], which "the" is before, is the nickname of a team if it
// is one at all: "The Lions beat the Bears", but "the lions beat the drought".
func plays(text string, a, b int) bool {
	if !playsAfter.MatchString(text[b:]) && !playsBefore.MatchString(text[:a]) {
		return false
	}
	for s, e := range Words(text) {
		if s != a && unicode.IsUpper(rune(text[s])) && slices.ContainsFunc(
			entriesOf(strings.ToLower(text[s:e])), func(e Entry) bool {
				return slices.Contains(e.Contexts, "<~T")
			}) {
			return true
		}
	}
	return game.MatchString(text)
}
