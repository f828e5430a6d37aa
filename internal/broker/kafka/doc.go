// Package kafka reads records of topics of Kafka, and writes them.
//
//   - A log has the records of one partition in their order, those of committed transactions alone.
//   - A sink writes each message as a record, once: in transactions, and after a failure it reads what is already there.
//
// The package knows topics and messages. It must not know updates, queries, graphs or checkpoints.
package kafka
