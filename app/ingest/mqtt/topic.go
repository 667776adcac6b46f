package mqtt

import (
	"errors"
	"fmt"
	"strings"
)

// Topic is a template for topics of signals: levels of literal text, + for any text, {account} or {station}.
type Topic struct {
	text   string
	levels []string
}

// UsualTopic returns DefaultTopic, parsed.
func UsualTopic() Topic {
	t, err := ParseTopic(DefaultTopic)
	if err != nil {
		panic(err) // the constant is valid
	}
	return t
}

// DefaultTopic is the template that devices may always use.
const DefaultTopic = "v1/{account}/signals/{station}"

const (
	accountLevel = "{account}"
	stationLevel = "{station}"
	anyLevel     = "+"
)

// ParseTopic parses a template. Errors describe the problem.
func ParseTopic(text string) (Topic, error) {
	t := Topic{text: text, levels: strings.Split(text, "/")}
	count := map[string]int{}
	for _, level := range t.levels {
		count[level]++
		if level != anyLevel && level != accountLevel && level != stationLevel && strings.ContainsAny(level, "+#{}\x00") {
			return t, fmt.Errorf("has the level %q; a level is text, +, {account} or {station}", level)
		}
	}
	switch {
	case len(text) > 512:
		return t, fmt.Errorf("must be 512 bytes or fewer; it has %d", len(text))
	case strings.HasPrefix(text, "$"):
		return t, errors.New("must not begin with $, which is reserved for the broker")
	case count[stationLevel] != 1:
		return t, fmt.Errorf("must have the level {station} once, such as %s; it is %q", DefaultTopic, text)
	case count[accountLevel] > 1:
		return t, fmt.Errorf("must have the level {account} once at most; it is %q", text)
	}
	return t, nil
}

// match extracts account and station from a topic. account is "" if the template does not contain it.
func (t Topic) match(topic string) (account, station string, ok bool) {
	for i, level := range t.levels {
		part, rest, more := strings.Cut(topic, "/")
		if more != (i < len(t.levels)-1) {
			return "", "", false
		}
		switch level {
		case accountLevel:
			account = part
		case stationLevel:
			station = part
		case anyLevel:
		default:
			if part != level {
				return "", "", false
			}
		}
		topic = rest
	}
	return account, station, true
}
