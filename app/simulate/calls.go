package simulate

import (
	"context"
	"errors"
)

// people do what people do, through the API.
type people struct {
	client    *client
	schedules map[string]string // work order -> id of the schedule
}

// errNothingToDo says that there was nothing to be done.
var errNothingToDo = errors.New("nothing to do")

func (p *people) do(context.Context, *Event) error { return errNothingToDo }
