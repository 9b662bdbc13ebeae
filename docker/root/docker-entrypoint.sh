#!/usr/bin/env bash
# The entry point of the image debezium/kafka: `start` starts a broker, `create-topic`, `list-topics`
# and `watch-topic` look after topics, and anything else is a command.
set -o errexit -o nounset
. /usr/lib/highwater/image.sh

# What that image calls without KAFKA_ before it.
also() { # NAME VARIABLE
  [ -z "${!1:-}" ] || [ -n "${!2:-}" ] || export "$2=${!1}"
}
also NODE_ID KAFKA_NODE_ID
also BROKER_ID KAFKA_BROKER_ID
also ZOOKEEPER_CONNECT KAFKA_ZOOKEEPER_CONNECT
also ADVERTISED_HOST_NAME KAFKA_ADVERTISED_HOST_NAME
also ADVERTISED_PORT KAFKA_ADVERTISED_PORT
also CREATE_TOPICS KAFKA_CREATE_TOPICS
also CLUSTER_ID KAFKA_HIGHWATER_CLUSTER_ID
case ${NODE_ROLE:-} in
  combined) export KAFKA_PROCESS_ROLES=${KAFKA_PROCESS_ROLES:-broker,controller} ;;
  ?*) export KAFKA_PROCESS_ROLES=${KAFKA_PROCESS_ROLES:-$NODE_ROLE} ;;
esac

# The topic that a command is for.
need() { # USAGE [TOPIC]
  [ -n "${2:-}" ] || { echo "$1" >&2; exit 1; }
}

command=${1:-start}
[ $# = 0 ] || shift
at=(--bootstrap-server "${KAFKA_BROKER:-localhost:9092}")
case $command in
  start)
    write_properties wurstmeister /kafka/config/server.properties \
      /opt/kafka/config/server.properties KAFKA /kafka/data
    serve /opt/kafka/config/server.properties ;;
  create-topic)
    usage='create-topic [-p PARTITIONS] [-r REPLICAS] [-c CLEANUP.POLICY] TOPIC'
    partitions=1 replicas=1 config=()
    while getopts :p:r:c: option; do
      case $option in
        p) partitions=$OPTARG ;;
        r) replicas=$OPTARG ;;
        c) config=(--config "cleanup.policy=$OPTARG") ;;
        *) need "$usage" ;;
      esac
    done
    shift $((OPTIND - 1))
    need "$usage" "$@"
    exec kafka-topics "${at[@]}" --create --topic "$1" --partitions "$partitions" \
      --replication-factor "$replicas" "${config[@]}" ;;
  list-topics) exec kafka-topics "${at[@]}" --list ;;
  watch-topic)
    usage='watch-topic [-a] [-k] [-m MINIMUM-OF-BYTES] TOPIC [OPTION-OF-KAFKA-CONSOLE-CONSUMER...]'
    options=()
    while getopts :akm: option; do
      case $option in
        a) options+=(--from-beginning) ;;
        k) options+=(--formatter-property print.key=true) ;;
        # A fetch waits for so many bytes.
        m) options+=(--command-property "fetch.min.bytes=$OPTARG") ;;
        *) need "$usage" ;;
      esac
    done
    shift $((OPTIND - 1))
    need "$usage" "$@"
    exec kafka-console-consumer "${at[@]}" --topic "$1" "${options[@]}" "${@:2}" ;;
  *) exec "$command" "$@" ;;
esac
