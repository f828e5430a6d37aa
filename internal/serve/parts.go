package serve

import (
	"strings"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/gql"
)

// Parts reads the parts of a query, which is not run. A query that Begin refuses for its size or for a mistake in its text is refused with the same error.
func (s *Server) Parts(text string) (*gql.Parts, error) {
	if err := s.fits(text); err != nil {
		return nil, err
	}
	q, err := weft.Parse(text)
	if err != nil {
		return nil, err
	}
	if err := s.small(q); err != nil {
		return nil, err.at("query")
	}
	return gql.ReadParts(text)
}

// fits returns an error if there is no text of a query, or it is too long.
func (s *Server) fits(text string) error {
	switch {
	case len(text) > s.Limits.Text:
		return errorf(TooLarge, "the query has %d bytes, and at most %d are taken", len(text), s.Limits.Text).at("query")
	case strings.TrimSpace(text) == "":
		return errorf(BadRequest, "there is no query").at("query")
	}
	return nil
}

// small returns an error if a query has too many vertices.
func (s *Server) small(q *weft.Query) *Error {
	if n, most := len(q.Vertices()), s.Limits.Vertices; most > 0 && n > most {
		return errorf(TooLarge, "the pattern has %d vertices, and at most %d are taken", n, most)
	}
	return nil
}
