package upgrade

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"aead.dev/minisign"

	"opsmon/kv/file"
)

// signer makes a key and gives it with a function that signs by it.
func signer(t testing.TB) (key string, sign func([]byte) []byte) {
	t.Helper()
	public, private, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	text, err := public.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1], func(b []byte) []byte {
		r := minisign.NewReader(bytes.NewReader(b))
		if _, err := new(bytes.Buffer).ReadFrom(r); err != nil {
			t.Fatal(err)
		}
		return r.SignWithComments(private, "app", "app")
	}
}

// packed makes an archive of files.
func packed(t testing.TB, zipped bool, files ...[2]string) []byte {
	t.Helper()
	var b bytes.Buffer
	if zipped {
		w := zip.NewWriter(&b)
		for _, f := range files {
			to, err := w.Create(f[0])
			if err == nil {
				_, err = to.Write([]byte(f[1]))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, f := range files {
		if err := w.WriteHeader(&tar.Header{Name: f[0], Size: int64(len(f[1])), Mode: 0o755}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(f[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestStage(t *testing.T) {
	key, sign := signer(t)
	_, stranger := signer(t)
	const elf = "\x7fELF and so on"
	inner := func(sig []byte) [2]string { return [2]string{"app_1.0/app.minisig", string(sig)} }
	good := [2]string{"app_1.0/app", elf}
	tarball := packed(t, false, [2]string{"app_1.0/README.md", "x"}, good)
	signedTar := packed(t, false, good, inner(sign([]byte(elf))))
	for name, test := range map[string]struct {
		data     []byte
		sig      []byte // beside
		key      string
		unsigned bool
		want     error  // nil: it is accepted
		says     string // of an error
	}{
		"signed":                     {data: []byte(elf), sig: sign([]byte(elf)), key: key},
		"signed package":             {data: tarball, sig: sign(tarball), key: key},
		"signed within":              {data: signedTar, key: key},
		"signed within a zip":        {data: packed(t, true, good, inner(sign([]byte(elf)))), key: key},
		"signed both":                {data: signedTar, sig: sign(signedTar), key: key},
		"unsigned":                   {data: []byte(elf), key: key, want: ErrUnsigned, says: "--unsigned"},
		"unsigned, accepted":         {data: []byte(elf), key: key, unsigned: true},
		"no key":                     {data: []byte(elf), sig: sign([]byte(elf)), want: ErrUnsigned, says: "no key"},
		"no key, accepted":           {data: []byte(elf), unsigned: true},
		"another's":                  {data: []byte(elf), sig: stranger([]byte(elf)), key: key, unsigned: true, want: ErrSignature, says: "of the key"},
		"of another file":            {data: []byte(elf + "!"), sig: sign([]byte(elf)), key: key, unsigned: true, want: ErrSignature, says: "not the one that was signed"},
		"of another file within":     {data: packed(t, false, good, inner(sign([]byte("x")))), key: key, unsigned: true, want: ErrSignature},
		"good beside, wrong within":  {data: packed(t, false, good, inner(stranger([]byte(elf)))), sig: sign(packed(t, false, good, inner(stranger([]byte(elf))))), key: key, want: ErrSignature},
		"good within, wrong beside":  {data: signedTar, sig: stranger(signedTar), key: key, want: ErrSignature},
		"garbage for a signature":    {data: []byte(elf), sig: []byte("x"), key: key, unsigned: true, want: ErrSignature, says: "cannot be read"},
		"endless signature":          {data: []byte(elf), sig: make([]byte, 5000), key: key, unsigned: true, want: errAny, says: "more than 4096 bytes"},
		"key that is none":           {data: []byte(elf), sig: sign([]byte(elf)), key: "RWQx", want: errAny, says: "is not one"},
		"empty":                      {unsigned: true, want: errAny, says: "neither a program nor a package"},
		"text":                       {data: []byte("hello"), unsigned: true, want: errAny, says: "neither a program nor a package"},
		"deb":                        {data: []byte("!<arch>\ndebian-binary"), unsigned: true, want: errAny, says: "upgrade with: apt install "},
		"rpm":                        {data: []byte("\xed\xab\xee\xdb...."), unsigned: true, want: errAny, says: "upgrade with: dnf install "},
		"msi":                        {data: []byte("\xd0\xcf\x11\xe0...."), unsigned: true, want: errAny, says: "upgrade with: msiexec /i "},
		"package without a program":  {data: packed(t, false, [2]string{"x/README", "x"}), unsigned: true, want: errAny, says: "no file called app"},
		"zip without a program":      {data: packed(t, true, [2]string{"x/README", "x"}), unsigned: true, want: errAny, says: "no file called app"},
		"package of two programs":    {data: packed(t, false, good, [2]string{"x/app.exe", elf}), unsigned: true, want: errAny, says: "more than one program"},
		"package cut short":          {data: tarball[:len(tarball)/2], unsigned: true, want: errAny, says: "EOF"},
		"package that leads outside": {data: packed(t, false, [2]string{"../../../app", elf}), unsigned: true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file, binary := filepath.Join(dir, "in", "app-new"), filepath.Join(dir, "bin", "app")
			for _, d := range []string{filepath.Dir(file), filepath.Dir(binary)} {
				if err := os.Mkdir(d, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(file, test.data, 0o600); err != nil {
				t.Fatal(err)
			}
			if test.sig != nil {
				if err := os.WriteFile(file+SignatureSuffix, test.sig, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s, err := stage(file, binary, test.key, test.unsigned)
			switch {
			case test.want == nil && err != nil, test.want == errAny && err == nil,
				test.want != nil && test.want != errAny && !errors.Is(err, test.want), err != nil && !strings.Contains(err.Error(), test.says):
				t.Fatalf("got %v, want %v that says %q", err, test.want, test.says)
			}
			if err == nil {
				if got, err := os.ReadFile(s.program); err != nil || string(got) != elf || s.signed == test.unsigned {
					t.Errorf("%q, signed %v, %v", got, s.signed, err)
				}
				if filepath.Dir(s.program) != s.dir || filepath.Dir(s.dir) != filepath.Dir(binary) {
					t.Errorf("the program is at %s", s.program)
				}
			}
			s.remove()
			if left, err := os.ReadDir(filepath.Dir(binary)); err != nil || len(left) > 0 {
				t.Errorf("left: %v, %v", left, err)
			}
		})
	}
}

var errAny = errors.New("any")

// TestIdentify: what is no program of ours for this machine is never run.
func TestIdentify(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	source := func(module, code string) string {
		src := filepath.Join(t.TempDir(), "src")
		for name, text := range map[string]string{"go.mod": "module " + module + "\n\ngo 1.26\n", "main.go": "package main\n\nimport \"os\"\n\nfunc main() { " + code + " }\n"} {
			if err := os.MkdirAll(src, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(src, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return src
	}
	ran := filepath.Join(dir, "ran")
	mark := `os.WriteFile("` + ran + `", nil, 0o600)`
	compile := func(name, module, code string, env ...string) string {
		cmd := exec.Command("go", "build", "-o", filepath.Join(dir, name), ".")
		cmd.Dir, cmd.Env = source(module, code), append(append(os.Environ(), "CGO_ENABLED=0"), env...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return filepath.Join(dir, name)
	}
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("#!/bin/sh\ntouch "+ran+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ path, says string }{
		{text, "it is not this product"},
		{compile("other", "other", mark), "it is not this product"},
		{compile("foreign", "opsmon", mark, "GOARCH=riscv64"), "it is for linux/riscv64"},
		{compile("windows", "opsmon", mark, "GOOS=windows"), "it is for windows/"},
		{compile("silent", "opsmon", `_ = os.Args`), "does not say which version"},
		{compile("failing", "opsmon", `os.Stderr.WriteString("I cannot"); os.Exit(1)`), "I cannot"},
		{compile("nosy", "opsmon", `if len(os.Environ()) > 0 { os.Stderr.WriteString("environment"); os.Exit(1) }`), "does not say which version"},
	} {
		if _, err := identify(t.Context(), test.path); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %q", filepath.Base(test.path), err, test.says)
		}
	}
	if file.Exists(ran) {
		t.Error("one of them was run")
	}
	p, err := identify(t.Context(), program(t, "1.0.0", "none"))
	if err != nil || p.Version != "1.0.0" || p.Store < 1 {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestOlder(t *testing.T) {
	for _, test := range []struct {
		a, b Program
		want bool
	}{
		{Program{Version: "1.2.3", Store: 1}, Program{Version: "1.2.4", Store: 1}, true},
		{Program{Version: "v1.10.0", Store: 1}, Program{Version: "1.9.0", Store: 1}, false},
		{Program{Version: "1.2.3", Store: 1}, Program{Version: "1.2.3", Store: 1}, false},
		{Program{Version: "1.2.3-rc.1", Store: 1}, Program{Version: "1.2.3", Store: 1}, true},
		{Program{Version: "2.0.0", Store: 1}, Program{Version: "1.0.0", Store: 2}, true},
		{Program{Version: "devel", Store: 1}, Program{Version: "1.0.0", Store: 1}, false},
	} {
		if got := test.a.older(test.b); got != test.want {
			t.Errorf("%+v older than %+v: %v", test.a, test.b, got)
		}
	}
}

// TestRefused: what must not be installed changes nothing.
func TestRefused(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	cfg := p.config()
	said := errors.New("no")
	decline := p.config()
	decline.Confirm = func(string) error { return said }
	for name, test := range map[string]struct {
		cfg  Config
		file string
		want error
	}{
		"same":     {cfg, program(t, "1.0.0", "none"), ErrSame},
		"older":    {cfg, program(t, "0.9.0", "none"), ErrOlder},
		"none":     {cfg, filepath.Join(p.dir, "none"), os.ErrNotExist},
		"declined": {decline, program(t, "1.0.1", "none"), said},
	} {
		if _, err := Upgrade(t.Context(), test.cfg, test.file, true); !errors.Is(err, test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Rollback(t.Context(), cfg, 0); !errors.Is(err, ErrPrevious) {
		t.Errorf("rollback: %v", err)
	}
	if made, _ := filepath.Glob(filepath.Join(p.dir, "backups", "*")); len(made) > 0 {
		t.Errorf("backups were taken: %v", made)
	}
	p.expect(t, "1.0.0", base(t))
	p.tidy(t)
	unlock, err := begin(p.dir, func(string) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Upgrade(t.Context(), cfg, program(t, "1.0.1", "none"), true); !errors.Is(err, ErrBusy) {
		t.Errorf("two at once: %v", err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
}
