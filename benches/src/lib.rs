//! What a broker costs, measured beside Apache Kafka.
