package samplers

import (
	"fmt"
	"strings"
)

// ParseSpec splits "name:parameter=value:parameter=value" into a name and its parameters,
// as New takes them. A comma may stand for a colon between parameters. Spaces around names and
// values do not count. The error is an ErrParam.
func ParseSpec(spec string) (name string, params map[string]string, err error) {
	name, rest, found := strings.Cut(spec, ":")
	params = map[string]string{}
	if !found {
		return strings.TrimSpace(name), params, nil
	}
	for _, kv := range strings.Split(strings.ReplaceAll(rest, ",", ":"), ":") {
		k, v, ok := strings.Cut(kv, "=")
		k = strings.TrimSpace(k)
		if !ok || k == "" {
			return "", nil, fmt.Errorf("%w: %q of %q: want NAME=VALUE", ErrParam, kv, spec)
		}
		if _, twice := params[k]; twice {
			return "", nil, fmt.Errorf("%w: %s is given twice in %q", ErrParam, k, spec)
		}
		params[k] = strings.TrimSpace(v)
	}
	return strings.TrimSpace(name), params, nil
}
