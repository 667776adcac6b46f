package monitor

// Contexts numbers contexts and their plans in order of appearance. Equal ones have the same number.
type Contexts struct {
	List  []*Context
	plans []*Plan

	numbers     map[contextKey]int64
	planNumbers map[Plan]int64
	last        *Context // the last one, and its number
	lastNumber  int64
	plan        *Plan // the same for plans
	planNumber  int64
}

// contextKey identifies a context.
type contextKey struct {
	plan           int64
	unitsPerMinute float64
	unitGap        int64
}

// Number returns the number of a context, from 0.
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

// Shared returns the first context equal to x, which is x itself if there was none. x then uses the plan of the first
// context with an equal plan.
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
