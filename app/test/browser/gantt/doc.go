// Package gantt tests the page for planning and moving schedules in a browser, against the real service.
package gantt
