package service

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/svc"
	"golang.org/x/sys/windows/svc/mgr"
)

func supported() error { return nil }

// connect opens the service with the rights that every user has, and those asked for besides.
func connect(access uint32) (*mgr.Mgr, *mgr.Service, error) {
	h, err := windows.OpenSCManager(nil, nil, windows.SC_MANAGER_CONNECT|windows.SC_MANAGER_ENUMERATE_SERVICE)
	if err != nil {
		return nil, nil, fmt.Errorf("reach the service control manager: %w", err)
	}
	m := &mgr.Mgr{Handle: h}
	name, err := windows.UTF16PtrFromString(Name)
	if err != nil {
		return nil, nil, errors.Join(err, m.Disconnect())
	}
	sh, err := windows.OpenService(h, name, windows.SERVICE_QUERY_CONFIG|windows.SERVICE_QUERY_STATUS|access)
	if err != nil {
		if errors.Is(err, windows.ERROR_SERVICE_DOES_NOT_EXIST) {
			err = ErrNotInstalled
		} else {
			err = fmt.Errorf("ask the service control manager: %w", err)
		}
		return nil, nil, errors.Join(err, m.Disconnect())
	}
	return m, &mgr.Service{Name: Name, Handle: sh}, nil
}

func (s *Service) start(context.Context) error {
	err := s.manager.Start()
	if errors.Is(err, windows.ERROR_SERVICE_ALREADY_RUNNING) {
		return nil
	}
	return err
}

// stop asks the service to stop and waits for it. The library's own Stop can wait for ever.
func (s *Service) stop(ctx context.Context) error {
	m, h, err := connect(windows.SERVICE_STOP)
	if err != nil {
		return err
	}
	defer m.Disconnect()
	defer h.Close()
	status, err := h.Control(svc.Stop)
	if errors.Is(err, windows.ERROR_SERVICE_NOT_ACTIVE) {
		return nil
	}
	for err == nil && status.State != svc.Stopped {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(readyPoll):
		}
		status, err = h.Query()
	}
	return err
}

// State asks the service manager. What it cannot read it leaves at zero.
func (s *Service) State() (State, error) {
	m, h, err := connect(0)
	if errors.Is(err, ErrNotInstalled) {
		return State{}, nil
	}
	if err != nil {
		return State{}, err
	}
	defer m.Disconnect()
	defer h.Close()
	status, err := h.Query()
	if err != nil {
		return State{}, fmt.Errorf("ask the service control manager: %w", err)
	}
	startType, command, err := registered(h)
	if err != nil {
		return State{}, fmt.Errorf("ask the service control manager: %w", err)
	}
	st := State{Installed: true, Enabled: startType == windows.SERVICE_AUTO_START, PID: int(status.ProcessId)}
	st.Running = status.State != svc.Stopped
	st.Failed = !st.Running && (status.Win32ExitCode != 0 && status.Win32ExitCode != uint32(windows.ERROR_SERVICE_NEVER_STARTED))
	if st.Running {
		st.Since = processStart(status.ProcessId)
	}
	argv, err := windows.DecomposeCommandLine(command)
	if err == nil && len(argv) > 0 {
		st.Binary, st.DataDir = argv[0], dataDirOf(argv)
	}
	st.Package = installedByMSI()
	return st, nil
}

// installedByMSI returns "msi" if Windows Installer lists app as a product.
func installedByMSI() string {
	code, err := windows.UTF16PtrFromString(UpgradeCode)
	if err != nil {
		return ""
	}
	enum := windows.NewLazySystemDLL("msi.dll").NewProc("MsiEnumRelatedProductsW")
	if enum.Find() != nil {
		return ""
	}
	var product [39]uint16 // a GUID in braces
	if status, _, _ := enum.Call(uintptr(unsafe.Pointer(code)), 0, 0, uintptr(unsafe.Pointer(&product[0]))); status != uintptr(windows.ERROR_SUCCESS) {
		return ""
	}
	return "msi"
}

// registered returns how a service starts and its command line.
func registered(s *mgr.Service) (startType uint32, command string, err error) {
	for n := uint32(1 << 10); ; {
		b := make([]byte, n)
		config := (*windows.QUERY_SERVICE_CONFIG)(unsafe.Pointer(&b[0]))
		err := windows.QueryServiceConfig(s.Handle, config, n, &n)
		if err == nil {
			return config.StartType, windows.UTF16PtrToString(config.BinaryPathName), nil
		}
		if !errors.Is(err, windows.ERROR_INSUFFICIENT_BUFFER) || n <= uint32(len(b)) {
			return 0, "", err
		}
	}
}

// processStart returns the time at which a process began, zero when that cannot be read.
func processStart(pid uint32) time.Time {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if err != nil {
		return time.Time{}
	}
	defer windows.CloseHandle(h)
	var created, ended, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &created, &ended, &kernel, &user); err != nil {
		return time.Time{}
	}
	return time.Unix(0, created.Nanoseconds())
}
