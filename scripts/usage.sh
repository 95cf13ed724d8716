# shellcheck shell=bash
# Sourced by every script, through targets/processes.sh or by itself: `--help` prints the comment that the script starts with, down to
# its first empty line, and ends the script before it does anything.

case ${1:-} in
  -h | --help)
    awk 'NR == 1 { next } !/^#/ || /^#$/ { exit } { sub(/^# ?/, ""); print }' "$0"
    exit
    ;;
esac
