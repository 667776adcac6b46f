package certs

import "golang.org/x/sys/windows"

// fullNames returns the name that the machine has in its domain.
func fullNames() []string {
	buffer := make([]uint16, 256)
	n := uint32(len(buffer))
	if err := windows.GetComputerNameEx(windows.ComputerNamePhysicalDnsFullyQualified, &buffer[0], &n); err != nil {
		return nil
	}
	return []string{windows.UTF16ToString(buffer)}
}
