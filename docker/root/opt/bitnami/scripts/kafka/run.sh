#!/usr/bin/env bash
# Becomes the broker.
set -o errexit -o nounset
. /usr/lib/highwater/image.sh
serve /opt/bitnami/kafka/config/server.properties "$@"
