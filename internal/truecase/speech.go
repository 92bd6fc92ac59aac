package truecase

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Starts reports whether the word at byte a of a text starts a sentence. It knows of direct speech
// what [StartsSentence] cannot see from the text before alone:
//
//	"Is it far?" he asked.      says who speaks, and starts none
//	He asked, "Are you tired?"  starts one after the quotation mark
//	ZC: It is late.             starts one after a speaker
func Starts(text string, a int) bool {
	if StartsSentence(text[:a]) {
		return !AfterCry(text[:a]) || !saysWho(text[a:])
	}
	return opensSpeech(text[:a], text[a:]) || afterSpeaker(text[:a])
}

// speaker is what begins a line of a conversation, or what somebody says on a line of others.
var speaker = regexp.MustCompile(`(?:^|\n|[.!?]["'”’]*[ \t])[ \t]*` +
	`((?:\p{Lu}[\pL.]*[ \t]+){0,2}\p{Lu}\pL*):\s+$`)

// afterSpeaker reports whether a text ends with a speaker: initials, words in capitals, names, or a
// part in a conversation.
func afterSpeaker(before string) bool {
	m := speaker.FindStringSubmatch(before)
	if m == nil {
		return false
	}
	for word := range strings.FieldsSeq(m[1]) {
		lower := strings.ToLower(strings.TrimSuffix(word, "."))
		if !capital(lower) && !Abbreviation(lower) && !speakers[lower] &&
			strings.ContainsFunc(word, unicode.IsLower) {
			return false
		}
	}
	return true
}

var speakers = Set(`answer assistant host interviewer me narrator question speaker student teacher
	user`)

// AfterCry reports whether a text ends with a question or exclamation in quotation marks, so that
// what follows may go on with the sentence around it.
func AfterCry(before string) bool {
	s := strings.TrimRightFunc(before, unicode.IsSpace)
	cry := strings.TrimRight(s, "\"'”’»")
	last, _ := utf8.DecodeLastRuneInString(cry)
	return len(cry) < len(s) && strings.ContainsRune("!?…", last)
}

// saysWho reports whether a text begins as "he asked", "said the man" or "the old man cried" do.
func saysWho(text string) bool {
	end := 0
	for n := range 4 {
		start := nextWord(text, end)
		if n > 0 && strings.TrimSpace(text[end:start]) != "" {
			return false
		}
		end = wordEnd(text, start)
		word := strings.ToLower(text[start:end])
		if verbsOfSpeech[word] {
			return true
		}
		if n > 0 && !determiners[strings.ToLower(firstWord(text))] {
			return false
		}
	}
	return false
}

func firstWord(text string) string {
	start := nextWord(text, 0)
	return text[start:wordEnd(text, start)]
}

// opensSpeech reports whether a text continues with direct speech: after a comma, colon or
// semicolon and an opening quotation mark, with several words and a mark of punctuation before the
// closing one. None starts where a sentence goes on: "Come," she said, "or we are late".
func opensSpeech(before, after string) bool {
	s := strings.TrimRight(before, " \"“")
	quote := before[len(s):]
	if strings.TrimSpace(quote) == "" || !strings.HasPrefix(quote, " ") ||
		!strings.ContainsAny(s[max(0, len(s)-1):], ",:;") {
		return false
	}
	sentence := strings.TrimLeft(s[strings.LastIndexAny(s, ".!?")+1:], " \"“”")
	if strings.ContainsAny(sentence, "\"“”") {
		return false
	}
	speech, _, closed := strings.Cut(strings.ReplaceAll(after, "”", "\""), "\"")
	speech = strings.TrimRightFunc(speech, unicode.IsSpace)
	return closed && strings.ContainsRune(speech, ' ') &&
		strings.ContainsAny(speech[max(0, len(speech)-1):], ".,!?")
}

var verbsOfSpeech = Set(`
	added admitted agreed announced answered asked asks barked began begged bellowed called
	cautioned commanded continued cried cries declared demanded drawled echoed ejaculated
	exclaimed explained faltered gasped groaned growled hissed inquired insisted interrupted
	joked laughed moaned mumbled murmured muttered ordered panted pleaded prompted protested
	queried rejoined remarked repeated replied replies responded retorted roared said says
	screamed shouted shouts shrieked sighed snapped snarled sobbed spat squealed stammered
	stuttered suggested teased thought thundered urged wailed warned whimpered whispered
	whispers wondered yelled`)

var determiners = Set("a an another her his my one our that the their this your")

// Set has the words of a list.
func Set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}
