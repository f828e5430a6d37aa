// Package rest answers HTTP requests by a serve.Server. openapi.json, which it serves, describes its routes and answers.
//
// It knows HTTP, and the forms of requests and answers. It must not know how queries are limited or found.
package rest
