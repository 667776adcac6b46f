package doctor

import (
	"context"
	"fmt"
)

// memory checks whether the service's memory limit fits the machine, and whether it is enough.
func (e *exam) memory(context.Context) []Finding {
	m := e.Memory
	if m == nil {
		return well("not looked at: the service does not run")
	}
	mib := func(bytes int64) int64 { return bytes >> 20 }
	switch {
	case m.Limit == 0:
		return well(fmt.Sprintf("%d MiB in use, with no limit", mib(m.Used)))
	case m.Machine > 0 && m.Limit > m.Machine/10*9:
		return []Finding{wrong(fmt.Sprintf("the service may use %d MiB and the machine has %d MiB: the system may end it, or slow down everything", mib(m.Limit), mib(m.Machine)),
			fmt.Sprintf("set memory.limit in app.yaml to %d or less, or leave it out, and: %s restart", mib(m.Machine/4*3), e.Command))}
	case m.Used > m.Limit/10*9:
		return []Finding{wrong(fmt.Sprintf("the service uses %d MiB of the %d MiB that it may use, so it spends its time collecting memory", mib(m.Used), mib(m.Limit)),
			"give it more with memory.limit in app.yaml, and: "+e.Command+" restart")}
	}
	return well(fmt.Sprintf("%d MiB in use, limit %d MiB, the machine has %d MiB", mib(m.Used), mib(m.Limit), mib(m.Machine)))
}
