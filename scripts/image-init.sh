#!/bin/sh
# PID 1 of the image: starts the program, passes signals on to it and answers its exit code. The kernel drops a signal
# for which PID 1 has no handler yet, and Node takes 50 ms to have one, seconds on a busy machine; a shell takes one.
# Any other process is ended by such a signal at once, and nothing has begun by then: exit code 143.
# Wants a POSIX shell, /proc and, for the moment that the loop of pass_on lasts, sleep. Writes no file.

# 100 times 0.01 s.
TRIES_MAX=100

asked=
program=

# Between fork and exec the child is this shell still, which would take the signal and forget it: not before its name
# is another.
pass_on() { # signal
  asked=$1
  [ -n "$program" ] || return 0
  tries=0
  while [ "$tries" -lt "$TRIES_MAX" ] && read -r name <"/proc/$program/comm" && [ "$name" = "$own_name" ]; do
    tries=$((tries + 1))
    sleep 0.01
  done 2>/dev/null
  kill -s "$1" "$program" 2>/dev/null
}

trap 'pass_on TERM' TERM
trap 'pass_on INT' INT
trap 'pass_on HUP' HUP
trap 'pass_on QUIT' QUIT
read -r own_name </proc/self/comm

# What runs in the background gets an empty input, whatever `<&0` says: the shell puts it there first.
exec 3<&0
"$@" <&3 3<&- &
program=$!
exec 3<&-
# Told to stop before there was anybody to pass it on to.
[ -z "$asked" ] || pass_on "$asked"

# A signal ends the wait, not the program.
while :; do
  wait "$program" 2>/dev/null
  code=$?
  kill -s 0 "$program" 2>/dev/null || exit "$code"
done
