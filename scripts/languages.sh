#!/usr/bin/env bash
# Brings, from the system's packages, the languages and shells that tests run snippets and completions in. What cannot be
# had is left out: the tests that need it say so.
set -uo pipefail

declare -A packages=([python3]=python3 [go]=golang-go [java]=default-jdk-headless [ruby]=ruby [php]=php-cli [zsh]=zsh [fish]=fish [script]=bsdutils)
missing=()
for program in "${!packages[@]}"; do
  command -v "$program" >/dev/null || missing+=("${packages[$program]}")
done
((${#missing[@]} == 0)) && exit 0

as_root() {
  if [[ "$(id -u)" == 0 ]]; then "$@"; else sudo -n "$@"; fi
}

if command -v apt-get >/dev/null && { [[ "$(id -u)" == 0 ]] || sudo -n true 2>/dev/null; }; then
  echo "Installing ${missing[*]} from the system's packages …"
  export DEBIAN_FRONTEND=noninteractive
  { as_root apt-get update -qq && as_root apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >/dev/null
fi
