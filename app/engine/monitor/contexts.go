package monitor

// Contexts numbers contexts and their plans in the order in which they come. Those that say the same have one number.
type Contexts struct {
	List  []*Context
	plans []*Plan

	numbers     map[contextKey]int64
	planNumbers map[Plan]int64
	last        *Context // the one asked for last, and its number
	lastNumber  int64
	plan        *Plan // the same of plans
	planNumber  int64
}

// contextKey tells contexts apart.
type contextKey struct {
	plan           int64
	unitsPerMinute float64
	unitGap        int64
}

// Number returns the number of a context, from 0 on.
func (c *Contexts) Number(x *Context) int64 {
	if x == c.last {
		return c.lastNumber
	}
	if c.numbers == nil {
		c.numbers = map[contextKey]int64{}
	}
	key := contextKey{c.numberOf(x.Plan), x.UnitsPerMinute, x.UnitGap}
	n, known := c.numbers[key]
	if !known {
		n = int64(len(c.List))
		c.List = append(c.List, x)
		c.numbers[key] = n
	}
	c.last, c.lastNumber = x, n
	return n
}

// Shared returns the first context that said the same as x, which is x itself where there was none. x takes the plan of the
// first that had the same.
func (c *Contexts) Shared(x *Context) *Context {
	x.Plan = c.plans[c.numberOf(x.Plan)]
	return c.List[c.Number(x)]
}

func (c *Contexts) numberOf(p *Plan) int64 {
	if p == c.plan {
		return c.planNumber
	}
	if c.planNumbers == nil {
		c.planNumbers = map[Plan]int64{}
	}
	n, known := c.planNumbers[*p]
	if !known {
		n = int64(len(c.plans))
		c.plans = append(c.plans, p)
		c.planNumbers[*p] = n
	}
	c.plan, c.planNumber = p, n
	return n
}
