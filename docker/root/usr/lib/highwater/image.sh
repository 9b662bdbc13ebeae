# What the entry points of every image share. Sourced by bash, in POSIX mode too.

# Whether the path is a mount that somebody named: a bind mount or a volume with a name. What Docker
# makes for a VOLUME that nobody named has 64 hexadecimal digits for one.
is_named_mount() { # PATH
  awk -v path="$1" '$5 == path && $4 !~ /\/[0-9a-f]{64}\/_data$/ { found = 1 }
    END { exit !found }' /proc/self/mountinfo
}

is_mount() { # PATH
  awk -v path="$1" '$5 == path { found = 1 } END { exit !found }' /proc/self/mountinfo
}

# Where the properties stand: in the file of the image, or in memory under its name where that cannot
# be written, as with a read-only root. What somebody mounted there is neither passed over nor replaced.
properties_at() { # FILE
  if [ -w "$1" ] || { [ ! -e "$1" ] && [ -w "${1%/*}" ]; } || is_mount "$1" || is_mount "${1%/*}"; then
    printf '%s\n' "$1"
  else
    printf '/dev/shm/%s\n' "${1##*/}"
  fi
}

# The folder below a mount that has data already; else the one that is usual there.
data_below() { # MOUNT USUAL
  local dir found=
  # Debezium's image has a folder for each id of a node.
  for dir in "$1" "$1"/data "$1"/kafka/data "$1"/kafka-logs "$1"/kafka-logs-* "$1"/[0-9]* "$1"/data/[0-9]*; do
    [ -f "$dir/meta.properties" ] || continue
    # Of several nobody knows which is meant.
    [ -z "$found" ] || { printf '%s\n' "$2"; return; }
    found=$dir
  done
  printf '%s\n' "${found:-$2}"
}

# Where the data goes when nobody says it: into what somebody mounted, wherever one of the images
# keeps its data; else where there is some already; else where this image keeps it.
data_dir() { # DEFAULT
  local place mount usual
  local places="/var/lib/kafka/data=/var/lib/kafka/data /var/lib/kafka=/var/lib/kafka/data
    /bitnami/kafka/data=/bitnami/kafka/data /bitnami/kafka=/bitnami/kafka/data /bitnami=/bitnami/kafka/data
    /kafka/data=/kafka/data /kafka=/kafka/kafka-logs /kafka/kafka-logs=/kafka/kafka-logs
    /tmp/kraft-combined-logs=/tmp/kraft-combined-logs /tmp/kafka-logs=/tmp/kafka-logs
    /opt/kafka/data=/opt/kafka/data /data=/data"
  for place in "${1%/*}=$1" "$1=$1" $places; do
    mount=${place%%=*} usual=${place#*=}
    if is_named_mount "$mount"; then data_below "$mount" "$usual"; return; fi
  done
  for place in "$1=$1" $places; do
    [ ! -f "${place#*=}/meta.properties" ] || { printf '%s\n' "${place#*=}"; return; }
  done
  printf '%s\n' "$1"
}

# The environment, a variable a line, whatever its value holds; with names that bash cannot have, too.
variables() {
  env -0 | tr '\n\0' ' \n'
}

# Whether a variable whose name fits says something: what is empty or `null` does not.
says() { # PATTERN
  variables | grep -E "^($1)=" | grep -Evq '^[^=]*=([[:space:]]*|null)$'
}

# What a properties file says of a key, the last line counting; fails where it says nothing of it.
said() { # FILE KEY
  local key="^[[:space:]]*${2//./\\.}([[:space:]]*[=:][[:space:]]*|[[:space:]]+|\$)" line value= found=
  [ -f "$1" ] || return 1
  while IFS= read -r line || [ -n "$line" ]; do
    [[ ! $line =~ $key ]] || { found=yes value=${line:${#BASH_REMATCH[0]}}; }
  done < "$1"
  # In LC_ALL=C bash would leave escapes like \u00e9 as they are.
  { local LC_ALL=C.UTF-8; } 2>/dev/null
  [ -n "$found" ] && printf '%b\n' "$value"
}

# The directories of log.dirs, one a line: blanks and ends of lines around the commas are not theirs.
log_dirs() { # FILE
  { said "$1" log.dirs || said "$1" log.dir || true; } | tr ',' '\n' |
    sed 's/^[[:space:]]*//; s/[[:space:]]*$//; /^$/d'
}

# Writes the properties that the environment asks for by the rules of an image, over those of the
# file that is mounted for it.
write_properties() { # IMAGE MOUNTED FILE PREFIX DEFAULT-DATA-DIR
  local image=$1 mounted=$2 file prefix=$4 default=$5 dir text
  file=$(properties_at "$3")
  if ! says "(KAFKA|$prefix)_LOG_DIRS?" && ! said "$mounted" log.dirs >/dev/null &&
      ! said "$mounted" log.dir >/dev/null; then
    dir=$(data_dir "$default")
    export "${prefix}_LOG_DIRS=$dir"
    echo "Data in $dir"
  fi
  [ -f "$mounted" ] || mounted=
  text=$(highwater config render --image "$image" ${mounted:+"$mounted"})
  printf '%s\n' "$text" > "$file"
}

# Becomes the server. What it writes, the group may write too, so that the next container finds it
# usable whoever it runs as.
serve() { # FILE [ARGUMENT...]
  local file
  file=$(properties_at "$1")
  shift
  umask 0002
  exec kafka-server-start "$file" "$@"
}
