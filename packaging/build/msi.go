package main

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"opsmon/app/host/service"
)

// The permanent identity of app in Windows Installer.
const (
	upgradeCode   = service.UpgradeCode
	componentCode = "{C2F4A9D7-31E5-4B0E-8F6A-0D9B57E4A213}"
)

// table is a table of an installer in the text format of Windows Installer (IDT): the columns with their types, the
// names of the key columns, and the rows.
type table struct {
	name, columns, types, key string
	rows                      [][]string
}

// text returns the table as a file in that format. Cells must not contain tabs or line ends.
func (t table) text() []byte {
	var b bytes.Buffer
	line := func(cells []string) { b.WriteString(strings.Join(cells, "\t") + "\r\n") }
	line(strings.Fields(t.columns))
	line(strings.Fields(t.types))
	line(append([]string{t.name}, strings.Fields(t.key)...))
	for _, row := range t.rows {
		line(row)
	}
	return b.Bytes()
}

// Types of custom actions: run an installed file, in the execution phase of the installer, as the system.
const (
	runInstalled    = 18 + 1024 + 2048
	whenRolledBack  = 256
	whateverItsExit = 64
)

// installer makes the MSI: msibuild combines the tables and the cabinet and adds nothing. (The wixl of Debian writes
// tables in random order, and custom actions where Windows refuses them.) As without an MSI, app install creates the
// service with its recovery, firewall rule and event source.
func installer(ctx context.Context, p *product) error {
	dir := filepath.Join(p.dir, "msi")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	files, err := p.entries()
	if err != nil {
		return err
	}
	tables, err := p.tables(files)
	if err != nil {
		return err
	}
	for i, f := range files {
		files[i].name = fileKey(f.name)
	}
	cab, err := cabinet(files, p.Time)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "app.cab"), cab, 0o644); err != nil {
		return err
	}
	whole := sha256.New() // of the whole content: each content has its own package code
	whole.Write(cab)
	args := []string{"app.msi", "-i"}
	for i, t := range append(tables, p.summary("")) {
		whole.Write(t.text())
		if i == len(tables) {
			t = p.summary(guid("package:" + hex.EncodeToString(whole.Sum(nil))))
		}
		if err := os.WriteFile(filepath.Join(dir, t.name+".idt"), t.text(), 0o644); err != nil {
			return err
		}
		args = append(args, t.name+".idt")
	}
	// The names are relative, because msibuild accepts only ASCII characters in them.
	if _, err := output(ctx, dir, nil, "msibuild", args...); err != nil {
		return err
	}
	if _, err := output(ctx, dir, nil, "msibuild", "app.msi", "-a", "app.cab", "app.cab"); err != nil {
		return err
	}
	b, err := os.ReadFile(filepath.Join(dir, "app.msi"))
	if err != nil {
		return err
	}
	return os.WriteFile(p.file("app_"+p.Version+"_x64.msi"), b, 0o644)
}

// summary returns the file's metadata for Windows ([MS-OLEPS], and Summary Property Descriptions).
func (p *product) summary(packageCode string) table {
	at := p.Time.Format("2006/01/02 15:04:05")
	return table{"_SummaryInformation", "PropertyId Value", "i2 l255", "PropertyId", [][]string{
		{"1", "1252"}, {"2", "Installation Database"}, {"3", "app " + p.Version}, {"4", "opsmon"}, {"5", "Installer"},
		{"6", "manufacturing operations monitoring for one plant"}, {"7", "x64;1033"}, {"9", packageCode},
		{"12", at}, {"13", at}, {"14", "500"}, {"15", "2"}, {"18", ownModule + "/packaging/build"}, {"19", "2"},
	}}
}

// fileKey returns the key of a file within the installer.
func fileKey(name string) string { return "f." + name }

// tables returns the installer's tables.
func (p *product) tables(files []entry) ([]table, error) {
	version, err := windowsVersion(p.Version)
	if err != nil {
		return nil, err
	}
	file := table{"File", "File Component_ FileName FileSize Version Language Attributes Sequence", "s72 s72 l255 i4 S72 S20 I2 i4", "File", nil}
	hash := table{"MsiFileHash", "File_ Options HashPart1 HashPart2 HashPart3 HashPart4", "s72 i2 i4 i4 i4 i4", "File_", nil}
	for i, f := range files {
		const vital = "512"
		file.rows = append(file.rows, []string{fileKey(f.name), "App", shortName(f.name, i), strconv.Itoa(len(f.content)), "", "", vital, strconv.Itoa(i + 1)})
		sum := md5.Sum(f.content)
		row := []string{fileKey(f.name), "0"}
		for part := 0; part < len(sum); part += 4 {
			row = append(row, strconv.Itoa(int(int32(binary.LittleEndian.Uint32(sum[part:])))))
		}
		hash.rows = append(hash.rows, row)
	}
	exe := fileKey(p.exe())
	action := func(name string, kind int, arguments string) []string {
		return []string{name, strconv.Itoa(kind), exe, arguments, ""}
	}
	return []table{
		file, hash,
		{"Property", "Property Value", "s72 l0", "Property", [][]string{
			{"ALLUSERS", "1"}, {"ARPNOMODIFY", "1"}, {"Manufacturer", "opsmon"},
			{"ProductCode", guid("product:" + p.Version + ":" + p.Commit)}, {"ProductLanguage", "1033"},
			{"ProductName", "app, manufacturing operations monitoring"}, {"ProductVersion", version},
			// Files are replaced whatever their dates: those written by app upgrade look like modified ones.
			{"REINSTALLMODE", "amus"}, {"SecureCustomProperties", "NEWERFOUND;OTHERFOUND"}, {"UpgradeCode", upgradeCode},
		}},
		{"Directory", "Directory Directory_Parent DefaultDir", "s72 S72 l255", "Directory", [][]string{
			{"INSTALLDIR", "ProgramFiles64Folder", "app"}, {"ProgramFiles64Folder", "TARGETDIR", "."}, {"TARGETDIR", "", "SourceDir"},
		}},
		{"Component", "Component ComponentId Directory_ Attributes Condition KeyPath", "s72 S38 s72 i2 S255 S72", "Component", [][]string{
			{"App", componentCode, "INSTALLDIR", "256", "", exe}, // a 64-bit component
		}},
		{"Feature", "Feature Feature_Parent Title Description Display Level Directory_ Attributes", "s38 S38 L64 L255 I2 i2 S72 i2", "Feature", [][]string{
			{"Main", "", "app", "", "1", "1", "INSTALLDIR", "0"},
		}},
		{"FeatureComponents", "Feature_ Component_", "s38 s72", "Feature_ Component_", [][]string{{"Main", "App"}}},
		{"Media", "DiskId LastSequence DiskPrompt Cabinet VolumeLabel Source", "i2 i4 L64 S255 S32 S72", "DiskId", [][]string{
			{"1", strconv.Itoa(len(files)), "", "#app.cab", "", ""},
		}},
		{"Upgrade", "UpgradeCode VersionMin VersionMax Language Attributes Remove ActionProperty", "s38 S20 S20 S255 i4 S255 s72", "UpgradeCode VersionMin VersionMax Language Attributes", [][]string{
			// up to and including this version: its settings remain
			{upgradeCode, "", version, "", "513", "", "OTHERFOUND"},
			{upgradeCode, version, "", "", "2", "", "NEWERFOUND"},
		}},
		{"LaunchCondition", "Condition Description", "s255 l255", "Condition", [][]string{
			{"Installed OR NOT NEWERFOUND", "A newer version of app is installed. Remove it in Settings, Apps, before installing this one: the data stay. A store that the newer version has brought up to date is for newer versions only."},
			{"VersionNT64 AND VersionNT >= 603", "app needs Windows 10, Windows Server 2016 or newer, of 64 bits."},
		}},
		// The service is stopped before its files are replaced or removed.
		{"ServiceControl", "ServiceControl Name Event Arguments Wait Component_", "s72 l255 i2 L255 I2 s72", "ServiceControl", [][]string{
			{"StopApp", "app", "34", "", "1", "App"},
		}},
		{"CustomAction", "Action Type Source Target ExtendedType", "s72 i2 S72 S255 I4", "Action", [][]string{
			action("BackUp", runInstalled, "backup"),
			action("InstallService", runInstalled, "install"),
			action("UndoInstallService", runInstalled+whenRolledBack+whateverItsExit, "uninstall"),
			action("UninstallService", runInstalled+whateverItsExit, "uninstall"),
		}},
		{"InstallUISequence", "Action Condition Sequence", "s72 S255 I2", "Action", sequence(before, []string{"ExecuteAction", "", "1300"})},
		{"InstallExecuteSequence", "Action Condition Sequence", "s72 S255 I2", "Action", sequence(before, []string{
			"MigrateFeatureStates", "", "1200", "InstallValidate", "", "1400", "InstallInitialize", "", "1500",
			// Within the transaction: if this version cannot be installed, the previous one is restored.
			"RemoveExistingProducts", "", "1501", "ProcessComponents", "", "1600", "UnpublishFeatures", "", "1800",
			"BackUp", `REMOVE="ALL" AND UPGRADINGPRODUCTCODE`, "1850", // by the old version, while it is running
			"StopServices", "VersionNT", "1900",
			"UninstallService", `REMOVE="ALL" AND NOT UPGRADINGPRODUCTCODE`, "1950",
			"RemoveFiles", "", "3500", "InstallFiles", "", "4000",
			"UndoInstallService", "NOT Installed AND NOT OTHERFOUND", "4090", "InstallService", `NOT REMOVE="ALL"`, "4100",
			"RegisterUser", "", "6000", "RegisterProduct", "", "6100", "PublishFeatures", "", "6300", "PublishProduct", "", "6400", "InstallFinalize", "", "6600",
		})},
	}, nil
}

// before is the start of each sequence.
var before = []string{
	"FindRelatedProducts", "", "25", "LaunchConditions", "", "100", "ValidateProductID", "", "700",
	"CostInitialize", "", "800", "FileCost", "", "900", "CostFinalize", "", "1000",
}

// sequence returns rows of actions, conditions and numbers.
func sequence(parts ...[]string) (rows [][]string) {
	for _, part := range parts {
		for i := 0; i+2 < len(part); i += 3 {
			rows = append(rows, part[i:i+3])
		}
	}
	return rows
}

// shortName returns a file's name in the installer's format: SHORT|long unless it is an 8.3 name.
func shortName(name string, i int) string {
	base, ext, _ := strings.Cut(name, ".")
	if len(base) <= 8 && len(ext) <= 3 {
		return name
	}
	return fmt.Sprintf("%.6s~%d.%.3s|%s", strings.ToUpper(base), i, strings.ToUpper(ext), name)
}

// guid returns a deterministic identifier for a name, in Windows' format.
func guid(name string) string { return "{" + strings.ToUpper(uuid(name)) + "}" }
