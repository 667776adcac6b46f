package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// generate returns the components of a package and of the packages of the same module that it imports, as one JSON
// object.
func generate(dir, path string) ([]byte, error) {
	pkgs, err := load(dir, path)
	if err != nil {
		return nil, err
	}
	g := &generator{types: map[token.Pos]*declared{}, fields: map[token.Pos]*ast.Field{}}
	for _, p := range pkgs {
		for _, file := range p.Syntax {
			if err := g.read(p, file); err != nil {
				return nil, err
			}
		}
	}
	components := map[string]*schema{}
	for _, pos := range slices.Sorted(maps.Keys(g.types)) {
		d := g.types[pos]
		if d.name == "" {
			continue
		}
		if components[d.name] != nil {
			return nil, fmt.Errorf("%s: there is another component %s", d.at, d.name)
		}
		s, err := g.component(d)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.at, err)
		}
		components[d.name] = s
	}
	return write(components)
}

// load returns a package and the packages of its module that it imports, with syntax and types.
func load(dir, path string) ([]*packages.Package, error) {
	names := &packages.Config{Dir: dir, Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps | packages.NeedModule}
	roots, err := packages.Load(names, path)
	if err != nil {
		return nil, err
	}
	var ours []string
	packages.Visit(roots, func(p *packages.Package) bool {
		if p.Module == nil || !p.Module.Main {
			return false
		}
		ours = append(ours, p.PkgPath)
		return true
	}, nil)
	full := &packages.Config{Dir: dir, Mode: packages.NeedName | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedExportFile}
	pkgs, err := packages.Load(full, ours...)
	if err != nil {
		return nil, err
	}
	for _, p := range pkgs {
		for _, e := range p.Errors {
			err = errors.Join(err, e)
		}
	}
	slices.SortFunc(pkgs, func(a, b *packages.Package) int { return cmp.Compare(a.PkgPath, b.PkgPath) })
	return pkgs, err
}

// declared is a type declaration with its directive.
type declared struct {
	at      token.Position
	typ     *types.Named
	comment string
	name    string // of the component; "": no component
	given   string // schema in the directive, if any
}

// generator generates schemas of types. Types and fields are identified by the positions of their names.
type generator struct {
	types  map[token.Pos]*declared
	fields map[token.Pos]*ast.Field
}

// read records the types and fields that a file declares.
func (g *generator) read(p *packages.Package, file *ast.File) (err error) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			for _, spec := range n.Specs {
				t, ok := spec.(*ast.TypeSpec)
				if !ok {
					continue
				}
				err = errors.Join(err, g.declare(p, t, cmp.Or(t.Doc, n.Doc)))
			}
		case *ast.StructType:
			for _, f := range n.Fields.List {
				for _, name := range f.Names {
					g.fields[name.Pos()] = f
				}
			}
		}
		return true
	})
	return err
}

// declare records a type declaration and parses its directive.
func (g *generator) declare(p *packages.Package, t *ast.TypeSpec, doc *ast.CommentGroup) error {
	object := p.TypesInfo.Defs[t.Name]
	named, ok := object.Type().(*types.Named)
	if !ok || t.Assign.IsValid() {
		return nil
	}
	d := &declared{at: p.Fset.Position(t.Pos()), typ: named, comment: firstParagraph(doc)}
	for _, line := range lines(doc) {
		switch text, component := strings.CutPrefix(line, "//openapi:schema "); {
		case component:
			d.name, d.given, _ = strings.Cut(text, " ")
		case strings.HasPrefix(line, "//openapi:as "):
			d.given = strings.TrimPrefix(line, "//openapi:as ")
		case strings.HasPrefix(line, "//openapi:and "):
			d.given += strings.TrimPrefix(line, "//openapi:and")
		case strings.HasPrefix(line, "//openapi:"):
			return fmt.Errorf("%s: unknown directive %s", d.at, line)
		}
	}
	g.types[t.Name.Pos()] = d
	return nil
}

func lines(doc *ast.CommentGroup) (out []string) {
	if doc != nil {
		for _, c := range doc.List {
			out = append(out, c.Text)
		}
	}
	return out
}

// firstParagraph returns the first paragraph of a comment as one line, without directives.
func firstParagraph(doc *ast.CommentGroup) string {
	if doc == nil {
		return ""
	}
	first, _, _ := strings.Cut(strings.TrimSpace(doc.Text()), "\n\n")
	return strings.Join(strings.Fields(first), " ")
}

// component returns the schema of a type that is a component.
func (g *generator) component(d *declared) (*schema, error) {
	about := d.comment
	for _, verb := range []string{" is ", " are "} {
		about = strings.TrimPrefix(about, d.typ.Obj().Name()+verb)
	}
	if about == "" || about == d.comment {
		return nil, fmt.Errorf("the comment of a component must begin with %q", d.typ.Obj().Name()+" is")
	}
	s, err := g.underlying(d)
	if err != nil {
		return nil, err
	}
	s.Description = sentence(about)
	return s, nil
}

// underlying returns the schema of a declaration's underlying type, without its description.
func (g *generator) underlying(d *declared) (*schema, error) {
	if d.given != "" {
		s := &schema{}
		dec := json.NewDecoder(strings.NewReader(d.given))
		dec.DisallowUnknownFields()
		if err := dec.Decode(s); err != nil {
			return nil, fmt.Errorf("the schema in the directive: %w", err)
		}
		return s, nil
	}
	if encodesItself(d.typ) {
		return nil, fmt.Errorf("%s encodes itself: give its schema with //openapi:as {...}", d.typ)
	}
	if basic, ok := d.typ.Underlying().(*types.Basic); ok && basic.Info()&types.IsString != 0 {
		return &schema{Type: "string", Enum: constants(d.typ)}, nil
	}
	return g.of(d.typ.Underlying())
}

// encodesItself reports whether the type implements one of encoding/json's interfaces.
func encodesItself(t types.Type) bool {
	for _, name := range []string{"MarshalJSON", "MarshalText", "MarshalJSONTo"} {
		if method, _, _ := types.LookupFieldOrMethod(t, true, nil, name); method != nil {
			return true
		}
	}
	return false
}

// constants returns the values of a string type's constants in source order.
func constants(t *types.Named) (values []any) {
	scope := t.Obj().Pkg().Scope()
	var found []*types.Const
	for _, name := range scope.Names() {
		if c, ok := scope.Lookup(name).(*types.Const); ok && types.Identical(c.Type(), t) {
			found = append(found, c)
		}
	}
	slices.SortFunc(found, func(a, b *types.Const) int { return cmp.Compare(a.Pos(), b.Pos()) })
	for _, c := range found {
		if v := constantString(c); v != "" {
			values = append(values, v)
		}
	}
	return values
}

// of returns the schema for a use of a type.
func (g *generator) of(t types.Type) (*schema, error) {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		return g.named(t)
	case *types.Pointer:
		s, err := g.of(t.Elem())
		if err != nil {
			return nil, err
		}
		return s.orNull(), nil
	case *types.Basic:
		return basic(t)
	case *types.Slice:
		items, err := g.of(t.Elem())
		return &schema{Type: "array", Items: items}, err
	case *types.Map:
		values, err := g.of(t.Elem())
		return &schema{Type: "object", Additional: values}, err
	case *types.Interface:
		return &schema{}, nil
	case *types.Struct:
		return g.structure(t)
	}
	return nil, fmt.Errorf("an answer cannot hold %s", t)
}

func (g *generator) named(t *types.Named) (*schema, error) {
	if t.String() == "encoding/json.RawMessage" {
		return &schema{}, nil
	}
	d := g.types[t.Obj().Pos()]
	switch {
	case d == nil:
		return nil, fmt.Errorf("%s has no schema", t)
	case d.name != "":
		return &schema{Ref: refPrefix + d.name}, nil
	}
	return g.underlying(d)
}

func basic(t *types.Basic) (*schema, error) {
	switch info := t.Info(); {
	case info&types.IsBoolean != 0:
		return &schema{Type: "boolean"}, nil
	case info&types.IsUnsigned != 0:
		return &schema{Type: "integer", Minimum: "0"}, nil
	case info&types.IsInteger != 0:
		return &schema{Type: "integer"}, nil
	case info&types.IsFloat != 0:
		return &schema{Type: "number"}, nil
	case info&types.IsString != 0:
		return &schema{Type: "string"}, nil
	}
	return nil, fmt.Errorf("an answer cannot hold %s", t)
}

// structure returns the schema of a struct: closed, with the fields of embedded structs inlined.
func (g *generator) structure(t *types.Struct) (*schema, error) {
	s := &schema{Type: "object", Closed: true, Required: []string{}}
	return s, g.fill(s, t)
}

func (g *generator) fill(s *schema, t *types.Struct) error {
	for i := range t.NumFields() {
		f := t.Field(i)
		name, options, _ := strings.Cut(tagOf(t.Tag(i), "json"), ",")
		if f.Embedded() && name == "" {
			embedded := f.Type()
			if p, ok := embedded.(*types.Pointer); ok {
				embedded = p.Elem()
			}
			inner, ok := embedded.Underlying().(*types.Struct)
			if !ok {
				return fmt.Errorf("%s is embedded and no struct", f.Name())
			}
			if err := g.fill(s, inner); err != nil {
				return err
			}
			continue
		}
		if !f.Exported() || name == "-" {
			continue
		}
		if name == "" {
			return fmt.Errorf("%s has no name in its json tag", f.Name())
		}
		property, err := g.property(f, t.Tag(i))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if s.property(name) != nil {
			return fmt.Errorf("%s is there twice", name)
		}
		s.Properties = append(s.Properties, member{name, property})
		if options == "" {
			s.Required = append(s.Required, name)
		}
	}
	return nil
}

// property returns the schema of a field with its tag and comment.
func (g *generator) property(f *types.Var, tag string) (*schema, error) {
	s, err := g.of(f.Type())
	if err != nil {
		return nil, err
	}
	if s, err = s.tagged(tagOf(tag, "schema")); err != nil {
		return nil, err
	}
	if field := g.fields[f.Pos()]; field != nil {
		s.Description = sentence(cmp.Or(firstParagraph(field.Doc), firstParagraph(field.Comment)))
	}
	return s, nil
}

// write encodes the components with one property on each line.
func write(components map[string]*schema) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("{\n")
	for i, name := range slices.Sorted(maps.Keys(components)) {
		if i > 0 {
			b.WriteString(",\n")
		}
		s := components[name]
		fmt.Fprintf(&b, "%q: ", name)
		properties := s.Properties
		s.Properties = nil
		text, err := s.MarshalJSON()
		if err != nil {
			return nil, err
		}
		if properties == nil {
			b.Write(text)
			continue
		}
		b.Write(bytes.TrimSuffix(text, []byte("}")))
		b.WriteString(`, "properties": {`)
		for i, m := range properties {
			if i > 0 {
				b.WriteByte(',')
			}
			text, err := m.schema.MarshalJSON()
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&b, "\n\t%q: %s", m.name, text)
		}
		b.WriteString("}}")
	}
	b.WriteString("\n}\n")
	return b.Bytes(), nil
}
