package kafka

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// reader reads the committed records of a partition, and the ends of transactions, which are records too.
type reader struct{ *client }

// openReader connects to the topic of a.
func openReader(ctx context.Context, a *address, o *options, lost *brokers) (*reader, error) {
	c, err := dial(ctx, a, o, lost, kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords(), kgo.ConsumeResetOffset(kgo.NoResetOffset()),
		kgo.FetchMaxBytes(8<<20), kgo.FetchMaxPartitionBytes(8<<20))
	if err != nil {
		return nil, err
	}
	return &reader{c}, nil
}

// begin makes the reader begin at an offset.
func (r *reader) begin(at int64) {
	r.AddConsumePartitions(map[string]map[int32]kgo.Offset{r.a.topic: {r.partition: kgo.NewOffset().At(at)}})
}

// most is the largest number of records that poll returns.
const most = 4096

// poll waits for records, the first of which has the offset at or a later one. After some errors, which pass, it returns none.
func (r *reader) poll(ctx context.Context, at int64) ([]*kgo.Record, error) {
	got := r.PollRecords(ctx, most)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for _, e := range got.Errors() {
		if err := fatal(e.Err, at); err != nil {
			return nil, err
		}
	}
	return got.Records(), nil
}

// errGone is wrapped by the error of records that are not in the topic any more.
var errGone = errors.New("records are gone")

// fatal returns an error after which records would be missing, or that does not pass. The client goes on after others.
func fatal(err error, at int64) error {
	var loss *kgo.ErrDataLoss
	var code *kerr.Error
	switch {
	case errors.As(err, &loss), errors.Is(err, kerr.OffsetOutOfRange):
		return fmt.Errorf("%w: the topic does not have offset %d any more: %w", errGone, at, err)
	case errors.Is(err, kerr.UnknownTopicID), errors.Is(err, kerr.UnknownTopicOrPartition), errors.Is(err, kerr.InconsistentTopicID):
		return fmt.Errorf("%w: the topic was removed: %w", errGone, err)
	case errors.As(err, &code) && !code.Retriable, errors.Is(err, kgo.ErrClientClosed):
		return err
	}
	return nil
}
