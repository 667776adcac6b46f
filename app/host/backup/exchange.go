package backup

type Exchange struct {
	Name string            // of the file
	New  string            // takes its place
	Keep string            // the name that the present one gets; "" = it is removed
	Sure func() error      // called before the exchange, when nobody can open the store any more; an error ends it. May be nil
	Step func(name string) // called between the steps, so that a test can stop there. May be nil
}

// Do makes the exchange, in the way of a restore: killed at any step, the next Recover leaves either file, whole. The
// service must not run. Errors: ErrBusy, ErrInUse; Sure's; those of the disk.
func (x Exchange) Do(dir string) error {
	if x.Step == nil {
		x.Step = func(string) {}
	}
	return during("exchange "+x.Name+" in "+dir, exchangeWhen(dir, x.Sure, []move{{Name: x.Name, New: x.New, Keep: x.Keep}}, x.Step))
}
