package cron

import "testing"

func TestWords(t *testing.T) {
	for _, tt := range []struct{ pattern, want string }{
		{"* * * * *", "every minute of every hour"},
		{"0 * * * *", "on the hour of every hour"},
		{"*/15 * * * *", "every 15 minutes of every hour"},
		{"0,15,30,45 * * * *", "every 15 minutes of every hour"},
		{"7 * * * *", "at minute 7 of every hour"},
		{"5,6,7,30 * * * *", "at the minutes 5 to 7 and 30 of every hour"},
		{"0 6 * * *", "at 06:00"},
		{"0 6,14,22 * * 1-5", "at 06:00, 14:00 and 22:00, Monday to Friday"},
		{"30 5 * * mon", "at 05:30, Monday"},
		{"0 0 * * 0,6", "at 00:00, Saturday and Sunday"},
		{"0 0 * * 5-7", "at 00:00, Friday to Sunday"},
		{"0 0 * * fri-sun", "at 00:00, Friday to Sunday"},
		{"0 */2 * * *", "on the hour of every second hour from midnight"},
		{"20 */6 * * *", "at minute 20 of every sixth hour from midnight"},
		{"0 */12 * * *", "at 00:00 and 12:00"},
		{"*/10 8-17 * * 1-5", "every 10 minutes of the hours 08 to 17, Monday to Friday"},
		{"* 9 * * *", "every minute of the hours 09"},
		{"0 7 1 * *", "at 07:00, on day 1 of the month"},
		{"0 7 1,15 1-3,12 *", "at 07:00, on day 1 and 15 of the month, in January to March and December"},
		{"0 7 1 * 1", "at 07:00, on day 1 of the month and also Monday"},
		{"0 7 */2 * 1", "at 07:00, on day 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29 and 31 of the month where that is Monday"},
		{"0 7 13 * */5", "at 07:00, on day 13 of the month where that is Friday and Sunday"},
		{"15,45 6,18 29 feb *", "at 06:15, 06:45, 18:15 and 18:45, on day 29 of the month, in February"},
	} {
		p, err := Parse(tt.pattern)
		if err != nil {
			t.Errorf("%s: %v", tt.pattern, err)
			continue
		}
		if got := p.Words(); got != tt.want {
			t.Errorf("%s is\n  %s, want\n  %s", tt.pattern, got, tt.want)
		}
	}
}

// FuzzWords checks that every valid pattern has a description, and that equivalent patterns have the same.
func FuzzWords(f *testing.F) {
	for _, s := range []string{"0 6 * * 1-5", "*/7 */5 */3 */2 */4", "59 23 31 12 7", "1-5/2,9 0-23/7 1,2,3 jan-mar,nov sun,sat"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := Parse(s)
		if err != nil {
			return
		}
		if p.Words() == "" {
			t.Errorf("%s has no words", s)
		}
	})
}
