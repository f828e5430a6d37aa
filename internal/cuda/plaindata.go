package cuda

import (
	"fmt"
	"reflect"
	"sync"
)

// plainTypes remembers, by reflect.Type, why a type is not plain data; nil where it is.
var plainTypes sync.Map

// plainSize is the size of a T, which must be plain data.
func plainSize[T any]() (int64, error) {
	t := reflect.TypeFor[T]()
	return int64(t.Size()), plain(t)
}

// plain says why a type is not plain data: bytes that mean the same on the device. An address of the host in
// them would be meaningless there, and hidden from Go's collector.
func plain(t reflect.Type) error {
	if known, ok := plainTypes.Load(t); ok {
		err, _ := known.(error)
		return err
	}
	var err error
	if where := pointerIn(t); where != "" {
		err = fmt.Errorf("%v is not plain data: it holds a %s", t, where)
	}
	plainTypes.Store(t, err)
	return err
}

// pointerIn names the first part of a type that is not plain data, or "".
func pointerIn(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr,
		reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return ""
	case reflect.Array:
		return pointerIn(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if where := pointerIn(t.Field(i).Type); where != "" {
				return where + " in field " + t.Field(i).Name
			}
		}
		return ""
	}
	return t.Kind().String()
}
