package mqtt

import (
	"errors"
	"fmt"
	"strings"
)

// Topic is a template of topics that signals come with: levels that are text, + for any one, {account} or {station}.
type Topic struct {
	text   string
	levels []string
}

// UsualTopic is DefaultTopic, read.
func UsualTopic() Topic {
	t, err := ParseTopic(DefaultTopic)
	if err != nil {
		panic(err) // it is a constant
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

// ParseTopic reads a template. Errors say what is wrong with it.
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
		return t, errors.New("must not begin with $, which is the broker's own")
	case count[stationLevel] != 1:
		return t, fmt.Errorf("must have the level {station} once, such as %s; it is %q", DefaultTopic, text)
	case count[accountLevel] > 1:
		return t, fmt.Errorf("must have the level {account} once at most; it is %q", text)
	}
	return t, nil
}

// match takes a topic apart. account is "" where the template does not say.
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
