module lines

go 1.25

require (
	github.com/IBM/sarama v1.50.1
	github.com/segmentio/kafka-go v0.4.51
	github.com/twmb/franz-go v1.21.4
	github.com/twmb/franz-go/pkg/kadm v1.18.0
)
