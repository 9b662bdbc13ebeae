#!/usr/bin/env bash
# Starts a broker from the environment, as the image wurstmeister/kafka does.
set -o errexit -o nounset
. /usr/lib/highwater/image.sh
[ -z "${CUSTOM_INIT_SCRIPT:-}" ] || eval "$CUSTOM_INIT_SCRIPT"
unset CUSTOM_INIT_SCRIPT
write_properties wurstmeister /mnt/shared/config/server.properties \
  /opt/kafka/config/server.properties KAFKA /kafka/kafka-logs
serve /opt/kafka/config/server.properties
