#!/usr/bin/env bash
# Makes sure of PostgreSQL 14 or newer for the benchmark and prints the folder of its programs: where PATH finds them, or
# else Debian's package, which leaves them out of PATH. Progress goes to standard error; where it cannot be had, the last
# line there says why.
set -euo pipefail

# The newest; `initdb` and `postgres` belong together.
found() {
  local folder
  for folder in $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -rV) $(dirname "$(command -v postgres || echo .)"); do
    [[ -x "$folder/postgres" && -x "$folder/initdb" && -x "$folder/createdb" ]] || continue
    echo "$folder"
    return 0
  done
  return 1
}

found && exit 0

as_root() {
  if [[ "$(id -u)" == 0 ]]; then "$@"; else sudo -n "$@"; fi
}

if command -v apt-get >/dev/null && { [[ "$(id -u)" == 0 ]] || sudo -n true 2>/dev/null; }; then
  echo "Installing postgresql from the system's packages …" >&2
  export DEBIAN_FRONTEND=noninteractive
  {
    as_root apt-get update -qq && as_root apt-get install -y -qq --no-install-recommends postgresql-common
    # The package would make and start a server of its own, which nobody here asks for.
    as_root mkdir -p /etc/postgresql-common/createcluster.d
    echo 'create_main_cluster = false' | as_root tee /etc/postgresql-common/createcluster.d/punctual.conf
    as_root apt-get install -y -qq --no-install-recommends postgresql
  } >&2 || true
fi

found && exit 0
echo "punctual: PostgreSQL is needed; on Debian and Ubuntu: sudo apt-get install postgresql" >&2
exit 1
