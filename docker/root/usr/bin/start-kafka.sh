#!/usr/bin/env bash
# Starts a broker from the environment, as the image wurstmeister/kafka does.
set -o errexit -o nounset
. /usr/lib/highwater/image.sh
script=${CUSTOM_INIT_SCRIPT:-}
unset CUSTOM_INIT_SCRIPT
write_properties wurstmeister /mnt/shared/config/server.properties \
  /opt/kafka/config/server.properties KAFKA /kafka/kafka-logs
# It may edit the properties, and is written for a shell that takes what is not set for empty.
set +o nounset
eval "$script"
set -o nounset
serve /opt/kafka/config/server.properties
