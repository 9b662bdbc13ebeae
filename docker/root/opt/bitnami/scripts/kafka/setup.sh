#!/usr/bin/env bash
# Writes /opt/bitnami/kafka/config/server.properties from the environment and what is mounted.
set -o errexit -o nounset
. /usr/lib/highwater/image.sh
write_properties bitnami /bitnami/kafka/config/server.properties \
  /opt/bitnami/kafka/config/server.properties KAFKA_CFG /bitnami/kafka/data

# The volume that holds the data, which is where what was done once is remembered.
volume() {
  local dir
  dir=$(log_dirs "$(properties_at /opt/bitnami/kafka/config/server.properties)" | head -n 1)
  while [[ $dir == */* ]] && ! is_mount "$dir"; do dir=${dir%/*}; done
  case $dir in /bitnami | [!/]* | '') dir=/bitnami/kafka ;; esac
  printf '%s\n' "$dir"
}

# Scripts run once in the life of the data. That image's own mark counts, wherever the data is now.
scripts=()
for script in /docker-entrypoint-initdb.d/*.sh; do
  [ ! -f "$script" ] || scripts+=("$script")
done
user_scripts_mark=$(volume)/.user_scripts_initialized
[ ${#scripts[@]} != 0 ] && [ ! -f "$user_scripts_mark" ] && [ ! -f /bitnami/kafka/.user_scripts_initialized ] || exit 0
for script in "${scripts[@]}"; do
  if [ -x "$script" ]; then "$script"; else . "$script"; fi
done
touch "$user_scripts_mark" ||
  echo "The scripts of /docker-entrypoint-initdb.d will run again, since $user_scripts_mark cannot be written" >&2
