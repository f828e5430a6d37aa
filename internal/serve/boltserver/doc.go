// Package boltserver answers Bolt clients by a serve.Server. It turns texts into requests, matches into nodes and relationships, plans into
// operators, and errors into status codes.
//
// It knows the root package, serve and bolt. It must not know messages and connections.
package boltserver
