#!/usr/bin/env bash
# The entry point of the image bitnami/kafka: sets the broker up where the command is to run one, and
# becomes the command.
set -o errexit -o nounset
case "$*" in
  *"/opt/bitnami/scripts/kafka/run.sh"* | */run.sh) /opt/bitnami/scripts/kafka/setup.sh ;;
esac
exec "$@"
