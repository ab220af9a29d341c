#!/usr/bin/env bash
# Makes sure of checkov, the linter of test/cluster/chart/manifests-lint.test.ts, and prints the folder that has it: a cached
# one, or else made by pip. Progress goes to standard error; where it cannot be had, the last line there says why.
set -euo pipefail

VERSION=3.3.30
CACHE="${XDG_CACHE_HOME:-$HOME/.cache}/punctual/checkov"
# An environment remembers its own path and that of its Python: it is made in place, and marked when it is whole.
python="$(python3 -c 'import sys; print("python%d.%d" % sys.version_info[:2])' 2>/dev/null || true)"
made="$CACHE/$VERSION-${python:-without-python}"

[[ -e "$made/whole" ]] && echo "$made/bin" && exit 0
if [[ -z "$python" ]]; then
  echo "punctual: there is no python3 to install the linter checkov with" >&2
  exit 1
fi
echo "Installing checkov $VERSION with pip, once …" >&2
mkdir -p "$CACHE"
exec 9>"$CACHE/lock"
flock 9
[[ -e "$made/whole" ]] && echo "$made/bin" && exit 0
rm -rf "$made"
{ python3 -m venv "$made" && nice "$made/bin/pip" install --quiet --disable-pip-version-check "checkov==$VERSION"; } >&2 || {
  echo "punctual: checkov $VERSION cannot be installed with pip (Debian: apt-get install python3-venv)" >&2
  exit 1
}
touch "$made/whole"
echo "$made/bin"
