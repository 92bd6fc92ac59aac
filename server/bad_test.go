package server

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"infill/server/api"
)

// Every malformed request has a code and a message that names the field, and never a flag.
func TestBadRequests(t *testing.T) {
	t.Parallel()
	_, h := start(t, Options{Work: 1000})
	texts := strings.Repeat(`"a [MASK] .", `, api.MaxTexts)
	for _, c := range []struct {
		method, path, body string
		status             int
		code, says         string
	}{
		{"POST", "/v1/fill", ``, 400, "bad_json", "want an object such as"},
		{"POST", "/v1/fill", `{"text": "the [MASK] .", "method": "search", "steps": 3}`, 422, "bad_option",
			`"steps" goes with "method" sample: a search has no chains and steps`},
		{"POST", "/v1/fill", `{`, 400, "bad_json", "the object is not closed"},
		{"POST", "/v1/fill", `{"text": "the [MASK] ."`, 400, "bad_json", "the object is not closed"},
		{"POST", "/v1/fill", `[]`, 400, "bad_json", "want an object such as"},
		{"POST", "/v1/fill", `{"text": "the [MASK] ."} x`, 400, "bad_json", "something follows"},
		{"POST", "/v1/fill", `{"text": "the [MASK] .", "text": "b"}`, 400, "bad_json", `called "text"`},
		{"POST", "/v1/fill", `{"steps": 3}`, 400, "bad_json", `no field "text"`},
		{"POST", "/v1/fill", `{"text": 7}`, 400, "bad_json", "text is not a string"},
		{"POST", "/v1/fill", `{"text": "the [MASK] .", "id": {}}`, 400, "bad_json", "id is neither"},
		{"POST", "/v1/fill", "{\"text\": \"\xff\"}", 400, "bad_json", "UTF-8"},
		{"POST", "/v1/fill", `{"text": "\ud800 [MASK]"}`, 400, "bad_json", "surrogate"},
		{"POST", "/v1/fill", `{"a": ` + strings.Repeat("[", 80) + strings.Repeat("]", 80) + `}`, 400,
			"bad_json", "nested"},
		{"POST", "/v1/fill", `{"text": "` + strings.Repeat("a", maxBody) + `"}`, 413, "too_long",
			"more than 1048576 bytes"},
		{"POST", "/v1/fill", `{"text": ""}`, 422, "empty", "empty"},
		{"POST", "/v1/fill", `{"text": "the cat ."}`, 422, "no_blank", "no blank"},
		{"POST", "/v1/fill", `{"text": "the [MASK*0] ."}`, 422, "bad_blank", "byte 4"},
		{"POST", "/v1/fill", `{"text": "the [MASK/zzz/] .", "steps": 1}`, 422, "empty_support", "no token"},
		{"POST", "/v1/fill", `{"text": "the dog .", "mask_words": 9}`, 422, "too_few_words", "9 words"},
		{"POST", "/v1/fill", `{"text": "` + strings.Repeat("[MASK] ", 60) + `", "chains": 1, "steps": 0}`, 422,
			"too_long", "60 blanks are filled in 3 groups"},
		{"POST", "/v1/fill", `{"text": "the [MASK] .", "steps": -1}`, 422, "bad_option",
			`"steps" is -1, want a whole number from 0`},
		{"POST", "/v1/fill", `{"text": "the [MASK] .", "no_repeat": 1}`, 422, "bad_option",
			`"no_repeat" is 1, want blanks or off or text`},
		{"POST", "/v1/fill", `{"text": "the [MASK] .", "allow": "/etc/passwd"}`, 422, "bad_option",
			`"allow" is "/etc/passwd", want a list of words`},
		{"POST", "/v1/fill", `{"text": "the [MASK] .", "energy": ["words:/etc/passwd=1"]}`, 422,
			"bad_option", "words:/etc/passwd is not open here"},
		{"POST", "/v1/fill", `{"text": "the [MASK] .", "steps": 1, "energy": ["edit=1"]}`, 422,
			"no_original", "words that stood in the blanks"},
		{"POST", "/v1/fill", `{"text": "the [MASK] .", "energy": "edit=1"}`, 422, "bad_option",
			"a list of parts"},
		{"POST", "/v1/fill", `{"text": "the [MASK] .", "sampler": "magic"}`, 422, "bad_option", "magic"},
		{"POST", "/v1/fill", `{"text": "the [MASK] .", "params": {"x": 1}}`, 422, "bad_option", "x"},
		{"POST", "/v1/fill", `{"text": "the [MASK] .", "min_distance": 2}`, 422, "bad_option",
			`"min_distance" goes with "mask_rate" or "mask_words"`},
		{"POST", "/v1/fill", `{"text": "the [MASK] .", "stream": "yes"}`, 422, "bad_option",
			`"stream" is "yes", want true or false`},
		{"POST", "/v1/fill", `{"text": "the [MASK] .", "model": 7}`, 422, "bad_option",
			`"model" is 7, want the name of a model`},
		{"POST", "/v1/fill", `{"text": "the [MASK] .", "model": "big"}`, 404, "unknown_model",
			`no model is called "big"; there is tiny`},
		{"POST", "/v1/fill", `{"text": "the [MASK] [MASK] .", "steps": 50, "chains": 11}`, 422,
			"too_much_work", `"chains" × ("steps" + 1) × blanks are 11 × (50 + 1) × 2, at most 1000`},
		{"POST", "/v1/fill", `{"text": "a [MASK] dog [MASK] [MASK] .", "steps": 0, "chains": 10000}`, 422,
			"too_much_work", `10000 × (0 + 1) × 3, at most 1000 together; ask for fewer chains`},
		{"POST", "/v1/fill", `{"text": "the [MASK*1-9] .", "steps": 50, "chains": 3, "stream": true}`, 422,
			"too_much_work", "3 × (50 + 1) × 9"},
		{"POST", "/v1/fill", `{"text": "a [MASK] dog [MASK] [MASK] .", "most_rows": 1001}`, 422,
			"too_much_work", `"most_rows" is 1001, at most 1000; ask for fewer`},
		{"POST", "/v1/fill", `{"text": "the [MASK] [MASK] .", "method": "search", "chains": 3}`, 422,
			"bad_option", "a search has no chains"},
		{"POST", "/v1/batch?top=1&top=2", ``, 400, "bad_json", `has "top" 2 times`},
		{"POST", "/v1/batch?top=1;steps=3", ``, 400, "bad_json", "the address: invalid semicolon"},
		{"POST", "/v1/batch?steps=%zz", ``, 400, "bad_json", "the address: invalid URL escape"},
		{"POST", "/v1/fill?steps=3", `{"text": "the [MASK] ."}`, 422, "bad_option",
			`"steps" stands in the address; put it into the body`},
		{"POST", "/v1/score?model=tiny", `{"text": "the dog ."}`, 422, "bad_option", `"model" stands in the`},
		{"POST", "/v1/batch?ban=%ff", ``, 422, "invalid_utf8", "UTF-8"},
		{"POST", "/v1/batch?allow=/etc/passwd", ``, 422, "bad_option", "/etc/passwd"},
		{"POST", "/v1/score", `{"text": "the [MASK] ."}`, 422, "bad_blank", "fill the blank first"},
		{"POST", "/v1/score", `{"text": " "}`, 422, "empty", "empty"},
		{"POST", "/v1/score", `{"text": "the dog .", "candidates": 3}`, 422, "bad_option",
			`"candidates" is 3, want a list of words`},
		{"POST", "/v1/score", `{"text": "the dog .", "candidates": ["a"]}`, 422, "no_blank", "no blank"},
		{"POST", "/v1/tokenize", `{}`, 400, "bad_json", `no field "text"`},
		{"POST", "/v1/batch?steps=x", ``, 422, "bad_option", `"steps" is "x"`},
		{"POST", "/v1/batch?speed=9", ``, 422, "bad_option", `"speed" is not a setting`},
		{"POST", "/v1/batch?text=a", ``, 422, "bad_option", "lines of the body"},
		{"POST", "/v1/batch?id=a", ``, 422, "bad_option", "lines of the body"},
		{"POST", "/v1/batch?model=big", ``, 404, "unknown_model", "big"},
		{"POST", "/", `{}`, 400, "bad_json", `no field "inputs"`},
		{"POST", "/", `x`, 400, "bad_json", "want an object"},
		{"POST", "/", `{"inputs": 7}`, 400, "bad_json", `"inputs" is 7, want a text or a list`},
		{"POST", "/", `{"inputs": []}`, 400, "bad_json", `"inputs" is [], want`},
		{"POST", "/", `{"inputs": [null]}`, 400, "bad_json", `"inputs" is [null], want`},
		{"POST", "/", `{"inputs": [` + texts + `"a"]}`, 422, "too_many_texts", "33 texts, at most 32"},
		{"POST", "/", `{"inputs": "the cat ."}`, 422, "no_blank", "no blank"},
		{"POST", "/", `{"inputs": "the [MASK|dog|cat] ."}`, 422, "bad_blank", `goes with "joint": true`},
		{"POST", "/", `{"inputs": "the [MASK] .", "speed": 1}`, 400, "bad_json", `"speed" is not a field`},
		{"POST", "/", `{"inputs": "the [MASK] .", "parameters": []}`, 400, "bad_json", `"parameters"`},
		{"POST", "/", `{"inputs": "the [MASK] .", "parameters": {"top_k": 0}}`, 422, "bad_option",
			`"top_k" is 0, want`},
		{"POST", "/", `{"inputs": "the [MASK] .", "parameters": {"targets": []}}`, 422, "bad_option",
			`"targets" is empty`},
		{"POST", "/", `{"inputs": "the [MASK] .", "parameters": {"targets": ["xyzzy"]}}`, 422,
			"bad_option", `"targets": "xyzzy" is not one token`},
		{"POST", "/", `{"inputs": "the [MASK] .", "parameters": {"joint": 2}}`, 422, "bad_option",
			`"joint" is 2, want true or false`},
		{"POST", "/", `{"inputs": "the [MASK] .", "parameters": {"beam": 2}}`, 422, "bad_option",
			`"beam" is not a parameter`},
		{"POST", "/", `{"inputs": "the [MASK] .", "parameters": {"steps": 2}}`, 422, "bad_option",
			`"steps" goes with "joint": true`},
		{"POST", "/", `{"inputs": "the [MASK] .", "model": 7}`, 422, "bad_option",
			`"model" is 7, want the name of a model`},
		{"POST", "/", `{"inputs": "the [MASK] .", "model": "big"}`, 404, "unknown_model",
			`no model is called "big"; there is tiny`},
		{"POST", "/models/tiny", `{"inputs": "the [MASK] .", "model": "big"}`, 422, "bad_option",
			`"model" is "big", but the address names "tiny"; leave one of them out`},
		{"POST", "/models/big", `{"inputs": "the [MASK] ."}`, 404, "unknown_model", "big"},
		{"GET", "/v1/fill?text=a", ``, 405, "method_not_allowed", "/v1/fill answers POST, not GET"},
		{"PUT", "/", ``, 405, "method_not_allowed", "GET, HEAD, POST"},
		{"GET", "/v1/batch", ``, 405, "method_not_allowed", "POST"},
		{"GET", "/models/tiny", ``, 405, "method_not_allowed", "POST"},
		{"GET", "/nothing", ``, 404, "not_found", "/nothing; /docs and /openapi.json say"},
		{"POST", "/v1/nothing", ``, 404, "not_found", "/v1/nothing"},
		{"GET", "/page/index.html", ``, 404, "not_found", "/page"},
		{"GET", "/..%2fserver.go", ``, 404, "not_found", "server.go"},
	} {
		a := ask(t, c.method, h.URL+c.path, c.body)
		f := a.failure(t)
		what := c.method + " " + c.path + " " + short([]byte(c.body))
		if a.code != c.status || f.Type != c.code || !strings.Contains(f.Error, c.says) ||
			strings.Contains(f.Error, "--") || strings.Contains(f.Error, "/work/") {
			t.Errorf("%s: %d %s, want %d %s saying %q", what, a.code, a.body, c.status, c.code, c.says)
		}
		if a.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %v", what, a.header)
		}
	}
}

// Who may not ask is told so, before any work.
func TestWhoMayAsk(t *testing.T) {
	t.Parallel()
	const key = "0123456789abcdef"
	_, open := start(t, Options{Origins: []string{"https://friend.example"}})
	_, keyed := start(t, Options{Keys: []string{"another-key-of-16", key}})
	body := `{"text": "the [MASK] .", "steps": 1, "chains": 1}`
	for _, c := range []struct {
		method, url string
		headers     []string
		status      int
		code        string
	}{
		{"POST", open.URL + "/v1/fill", nil, 200, ""},
		{"POST", open.URL + "/v1/fill", []string{"Origin: https://evil.example"}, 403, "forbidden_origin"},
		{"POST", open.URL + "/v1/fill", []string{"Sec-Fetch-Site: cross-site"}, 403, "forbidden_origin"},
		{"POST", open.URL + "/", []string{"Sec-Fetch-Site: cross-site"}, 403, "forbidden_origin"},
		{"POST", open.URL + "/v1/fill", []string{"Sec-Fetch-Site: same-origin"}, 200, ""},
		{"GET", open.URL + "/health", []string{"Sec-Fetch-Site: cross-site"}, 200, ""},
		{"POST", open.URL + "/v1/fill", []string{"Origin: https://friend.example"}, 200, ""},
		{"POST", open.URL + "/v1/fill", []string{"Host: evil.example"}, 403, "forbidden_host"},
		{"GET", open.URL + "/", []string{"Host: evil.example:80"}, 403, "forbidden_host"},
		{"POST", open.URL + "/v1/fill", []string{"Host: localhost"}, 200, ""},
		{"POST", open.URL + "/v1/fill", []string{"Host: LOCALHOST"}, 200, ""},
		{"POST", open.URL + "/v1/fill", []string{"Host: localhost.:8017"}, 200, ""},
		{"POST", open.URL + "/v1/fill", []string{"Host: [::1]:8017"}, 200, ""},
		{"POST", keyed.URL + "/v1/fill", nil, 401, "unauthorized"},
		{"POST", keyed.URL + "/v1/fill", []string{"Authorization: Bearer " + key[1:]}, 401, "unauthorized"},
		{"POST", keyed.URL + "/v1/fill", []string{"Authorization: Basic " + key}, 401, "unauthorized"},
		{"POST", keyed.URL + "/", []string{"Authorization: Bearer"}, 401, "unauthorized"},
		{"GET", keyed.URL + "/v1/models", nil, 401, "unauthorized"},
		{"POST", keyed.URL + "/v1/fill", []string{"Authorization: Bearer " + key}, 200, ""},
		{"POST", keyed.URL + "/v1/fill", []string{"Authorization: bearer " + key, "Host: any.example"}, 200, ""},
		{"GET", keyed.URL + "/health", nil, 200, ""},
		{"GET", keyed.URL + "/ready", nil, 200, ""},
		{"GET", keyed.URL + "/metrics", nil, 200, ""},
		{"GET", keyed.URL + "/openapi.json", nil, 200, ""},
		{"GET", keyed.URL + "/", nil, 200, ""},
	} {
		a := ask(t, c.method, c.url, map[bool]string{true: body}[c.method == "POST"], c.headers...)
		if a.code != c.status || c.code != "" && a.failure(t).Type != c.code {
			t.Errorf("%s %s %q: %d %s, want %d", c.method, c.url, c.headers, a.code, a.body, c.status)
		}
		if allowed := a.header.Get("Access-Control-Allow-Origin"); (allowed != "") !=
			slices.Contains(c.headers, "Origin: https://friend.example") {
			t.Errorf("%q may be read by %q", c.headers, allowed)
		}
		if c.status == 401 && a.header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("headers %v", a.header)
		}
	}
	pre := ask(t, "OPTIONS", open.URL+"/v1/fill", "", "Origin: https://friend.example",
		"Access-Control-Request-Method: POST")
	if pre.code != http.StatusNoContent ||
		pre.header.Get("Access-Control-Allow-Origin") != "https://friend.example" {
		t.Errorf("%d %v", pre.code, pre.header)
	}
	if _, err := New(Options{Origins: []string{"friend.example"}}); err == nil {
		t.Error("an origin without a scheme is taken")
	}
}

// Chains without steps take memory all the same.
func TestChainsThatAreTooMany(t *testing.T) {
	t.Parallel()
	const bert = 30_522
	for _, c := range []struct {
		chains, tokens int
		fits           bool
	}{
		{25, 4, true}, {500, 4, true}, {25, 351, true}, {25, 352, false}, {10_000, 3, false},
		{1 << 40, 1 << 30, false},
	} {
		err := holdable(c.chains, c.tokens, bert)
		var f *failure
		if (err == nil) != c.fits || err != nil && (!errors.As(err, &f) || f.code != codeTooMuchWork) {
			t.Errorf("%d chains, %d tokens: %v", c.chains, c.tokens, err)
		}
	}
}

// A score keeps the time of a request, though it can say nothing before its end.
func TestScoreTakesTooLong(t *testing.T) {
	t.Parallel()
	_, h := start(t, Options{Limit: time.Nanosecond})
	a := ask(t, "POST", h.URL+"/v1/score", `{"text": "the dog sleeps ."}`)
	if got := a.failure(t).Type; a.code != http.StatusGatewayTimeout || got != "timeout" {
		t.Errorf("%d %s", a.code, a.body)
	}
}
