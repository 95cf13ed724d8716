# shellcheck shell=bash
# Sourced by the scripts beside it: starts, watches and ends the processes of one run folder (RUN), and only those.
# A process is known by its id together with its start time, so that a reused id is never signalled.

# shellcheck source=scripts/usage.sh
source "${BASH_SOURCE[0]%/*}/../usage.sh"

# The folder of the installed Go servers and tools; scripts/install.sh fills it.
HAMMER_TARGETS_BIN=${HAMMER_TARGETS_BIN:-$HOME/.cache/hammer/bin}

die() {
  printf '%s: %s\n' "${0##*/}" "$1" >&2
  exit "${2:-1}"
}

# need NAME...: every command is there, or the script ends and names the ones that are not.
need() {
  local missing=() name
  for name in "$@"; do command -v "$name" >/dev/null || missing+=("$name"); done
  ((${#missing[@]} == 0)) || die "not found: ${missing[*]} (scripts/install.sh installs what the gate needs)"
}

# need_servers NAME...: each is in HAMMER_TARGETS_BIN.
need_servers() {
  local name
  for name in "$@"; do
    [[ -x $HAMMER_TARGETS_BIN/$name ]] || die "$HAMMER_TARGETS_BIN/$name is missing: run scripts/install.sh"
  done
}

# binary VARIABLE NAME BUILD: the variable names a program, by a path or as it is called on PATH, and without a value NAME, there or in
# HAMMER_TARGETS_BIN; it has the path then. Exit 3 where there is none, with the command that builds it.
binary() {
  local given=${!1:-} path why="$1 is not set, and $2 is not on PATH"
  path=$(PATH=$HAMMER_TARGETS_BIN:$PATH type -P "${given:-$2}") && { printf -v "$1" '%s' "$path"; return; }
  [[ -z $given ]] || why="$1=$given is no program, and none is called so on PATH"
  die "$why; this builds it:
    $3" 3
}

# TesseraCT for POSIX in TESSERACT_BIN, as `binary` has it.
TESSERACT_MODULE=github.com/transparency-dev/tesseract TESSERACT_VERSION=v0.1.1
tesseract_binary() {
  binary TESSERACT_BIN tesseract-posix "GOBIN=$HAMMER_TARGETS_BIN go install $TESSERACT_MODULE/cmd/tesseract/posix@$TESSERACT_VERSION &&
    mv $HAMMER_TARGETS_BIN/posix $HAMMER_TARGETS_BIN/tesseract-posix"
}

# need_roots: ROOTS_PEM is a file with the roots that a log accepts.
need_roots() {
  local how='hammer ct roots PLAN >roots.pem writes the ones that a plan submits under'
  [[ -n ${ROOTS_PEM:-} ]] || die "ROOTS_PEM must name the PEM file of the roots that the log accepts: $how" 2
  [[ -r $ROOTS_PEM ]] || die "ROOTS_PEM=$ROOTS_PEM cannot be read: $how" 2
  grep -q 'BEGIN CERTIFICATE' "$ROOTS_PEM" || die "ROOTS_PEM=$ROOTS_PEM holds no certificate: $how" 2
}

# built NAME PACKAGE [PATH]: the binary at PATH; without one that of the package, built first as it is installed (profile dist).
built() {
  local root=${BASH_SOURCE[0]%/*}/../..
  local path=${3:-${CARGO_TARGET_DIR:-$root/target}/dist/$1}
  [[ -n ${3:-} ]] || cargo build --quiet --profile dist --locked --manifest-path "$root/Cargo.toml" -p "$2" --bin "$1" >&2 ||
    die "$1 cannot be built"
  [[ -x $path ]] || die "$path is no program"
  printf '%s' "$path"
}

# run_folder up|down|status|reset: RUN of the environment; `up` makes a new one when there is none.
run_folder() {
  if [[ $1 == up ]]; then
    if [[ -z ${RUN:-} ]]; then
      RUN=$(mktemp -d "${TMPDIR:-/tmp}/hammer-target.XXXXXX")
      : >"$RUN/temporary"
    fi
    [[ ! -e $RUN/env ]] || die "$RUN has held a run before: give a new folder, or none" 2
    mkdir -p "$RUN/log" "$RUN/pid"
    RUN=$(cd "$RUN" && pwd -P)
  else
    [[ -n ${RUN:-} && -d $RUN/pid ]] || die "RUN must name the run folder that 'up' printed" 2
    RUN=$(cd "$RUN" && pwd -P)
  fi
}

# free_ports N: N ports that are free on loopback now, below the range from which clients get theirs.
free_ports() {
  python3 - "$1" <<'PY'
import random, socket, sys

held = []
for port in random.sample(range(20000, 32000), 2000):
    listener = socket.socket()
    try:
        listener.bind(("127.0.0.1", port))
    except OSError:
        listener.close()
        continue
    held.append(listener)
    if len(held) == int(sys.argv[1]):
        break
else:
    sys.exit("no free ports")
print(*(listener.getsockname()[1] for listener in held))
PY
}

# answers URL: an HTTP server answers there with success.
answers() { curl --silent --fail --max-time 2 --output /dev/null "$1"; }

# listens PORT: something accepts connections there; a process that has only not died yet proves nothing.
listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# start NAME COMMAND...: in a session of its own, output to $RUN/log/NAME.log. With BACKGROUND it runs only when nothing else
# of this session wants the core, at once: SCHED_IDLE, and in this session, because the kernel's automatic groups give each
# session an equal share, and what is nice or idle within one means nothing to another.
start() {
  local name=$1 pid ahead=(setsid)
  shift
  alive "$name" && die "$name runs already in $RUN"
  [[ -z ${BACKGROUND:-} ]] || ahead=(nohup chrt --idle 0)
  "${ahead[@]}" "$@" >"$RUN/log/$name.log" 2>&1 </dev/null &
  pid=$!
  printf '%s %s\n' "$pid" "$(started_at "$pid")" >"$RUN/pid/$name"
}

# start_nginx NAME SERVER [PREFIX...]: one process with this text inside its `server { }`, run through the PREFIX command
# (taskset, say); everything it writes is in the run folder.
start_nginx() {
  local name=$1 server=$2 folder=$RUN/nginx-$1
  shift 2
  mkdir -p "$folder"
  cat >"$folder/nginx.conf" <<CONF
daemon off;
master_process off;
pid $folder/pid;
error_log stderr;
events { worker_connections 16384; }
http {
  access_log off;
  keepalive_timeout 3600s;
  keepalive_requests 1000000000;
  tcp_nodelay on;
  client_body_temp_path $folder/body;
  proxy_temp_path $folder/proxy;
  fastcgi_temp_path $folder/fastcgi;
  uwsgi_temp_path $folder/uwsgi;
  scgi_temp_path $folder/scgi;
  server {
$server
  }
}
CONF
  start "$name" "$@" nginx -e stderr -c "$folder/nginx.conf"
}

# wait_for NAME SECONDS CHECK...: until CHECK succeeds; ends the script when the process is gone or time is up.
wait_for() {
  local name=$1 deadline=$((SECONDS + $2))
  shift 2
  until "$@" >/dev/null 2>&1; do
    alive "$name" || give_up "$name" "has ended"
    ((SECONDS < deadline)) || give_up "$name" "is not ready in time"
    sleep 0.1
  done
}

give_up() {
  printf '%s %s; the end of its log:\n' "$1" "$2" >&2
  tail -n 20 "$RUN/log/$1.log" >&2
  exit 1
}

# alive NAME: the process that was started under this name still runs.
alive() {
  local pid began
  [[ -s $RUN/pid/$1 ]] || return 1
  read -r pid began <"$RUN/pid/$1"
  [[ -n $began && $(started_at "$pid") == "$began" ]]
}

# started_at PID: its start in clock ticks since boot; empty when it is gone or a zombie.
started_at() {
  local stat fields
  stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 0
  read -ra fields <<<"${stat##*) }"
  [[ ${fields[0]} == Z ]] || printf '%s' "${fields[19]}"
}

# stop_all NAME...: as stop; then the folder goes, if `up` made it and KEEP is not set.
stop_all() {
  stop "$@"
  if [[ -e $RUN/temporary && -z ${KEEP:-} ]]; then rm -rf "$RUN"; fi
}

# stop NAME...: SIGTERM to all, SIGKILL to what is left after 5 seconds (Trillian's signer takes 10 to end, and the
# data is throwaway).
stop() {
  local name deadline=$((SECONDS + 5))
  for name in "$@"; do signal "$name" TERM; done
  for name in "$@"; do
    while alive "$name" && ((SECONDS < deadline)); do sleep 0.05; done
    signal "$name" KILL
    while alive "$name" && ((SECONDS < deadline + 5)); do sleep 0.05; done
    rm -f "$RUN/pid/$name"
  done
}

# signal NAME SIGNAL: nothing happens when the process is gone.
signal() {
  local pid
  alive "$1" || return 0
  read -r pid _ <"$RUN/pid/$1"
  kill -"$2" "$pid" 2>/dev/null || true
}

# show NAME...: id, resident memory and CPU seconds of each process.
show() {
  local name pid stat fields
  for name in "$@"; do
    if alive "$name"; then
      read -r pid _ <"$RUN/pid/$name"
      stat=$(cat "/proc/$pid/stat")
      read -ra fields <<<"${stat##*) }"
      awk -v name="$name" -v pid="$pid" -v pages="${fields[21]}" -v page="$(getconf PAGESIZE)" \
        -v ticks="$((fields[11] + fields[12]))" -v hertz="$(getconf CLK_TCK)" \
        'BEGIN { printf "%-12s pid %-8s rss %5.0f MB  cpu %8.2f s\n", name, pid, pages * page / 1e6, ticks / hertz }'
    else
      printf '%-12s not running\n' "$name"
    fi
  done
}

# publish NAME=VALUE...: $RUN/env, to be sourced; also printed.
publish() {
  local pair
  for pair in "$@"; do printf '%s=%q\n' "${pair%%=*}" "${pair#*=}"; done | tee "$RUN/env"
}
