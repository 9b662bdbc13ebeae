#!/usr/bin/env bash
# Writes /opt/bitnami/kafka/config/server.properties from the environment and what is mounted.
set -o errexit -o nounset
. /usr/lib/highwater/image.sh
write_properties bitnami /bitnami/kafka/config/server.properties \
  /opt/bitnami/kafka/config/server.properties KAFKA_CFG /bitnami/kafka/data
for script in /docker-entrypoint-initdb.d/*.sh; do
  [ ! -f "$script" ] || if [ -x "$script" ]; then "$script"; else . "$script"; fi
done
