// Package gantt tests in a browser, against the real service, the page on which schedules are planned and moved.
package gantt
