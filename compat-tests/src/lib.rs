//! Starts the built broker, and Apache Kafka beside it, and talks to them as a client would.
