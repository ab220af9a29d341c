/** A shell for pages with kubectl and helm commands, at an API server without nodes. */
import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { delimiter, join } from 'node:path'
import { parse } from 'yaml'
import { toolPath } from '../tools.ts'
import { addTool, type PageShell } from './page-shell.ts'

const ROOT = join(import.meta.dirname, '../../..')
const PAGE_MS_MAX = 300_000
const OPS_PATHS = ['/readyz', '/healthz', '/metrics']

/**
 * Commands that need a process in a pod come as far as the kubelet: the API server has found the pod and taken the
 * flags. `logs` then prints every text of the sources, so that a `grep` finds a line only if the program has it, and
 * the command of an `exec` is checked against its help.
 */
const KUBECTL = `
if said=$("$REAL_KUBECTL" "$@" 2>&1 >&3); then code=0; else code=$?; fi
# Logs of a pod without a node are empty.
case "$code $* " in '0 '*' logs '*) cat "$HOME/texts-of-sources" ;; esac
[ $code != 0 ] || { printf '%s' "$said" >&2; exit 0; }
case $said in *'does not have a host assigned'*) ;; *) printf '%s\\n' "$said" >&2; exit $code ;; esac
while [ $# -gt 0 ]; do
  case $1 in
    logs) cat "$HOME/texts-of-sources"; exit 0 ;;
    attach) cat >/dev/null; touch "$HOME/attached"; exit 0 ;;
    --) break ;;
  esac
  shift
done
[ $# -gt 0 ] || exit 0
shift
program=$1 verb=$2
help=$("$program" "$verb" --help)
for given in "\${@:3}"; do
  case $given in --?*) grep -q -e "\${given%%=*}\\\\b" <<<"$help" || { echo "$verb has no $given" >&2; exit 2; } ;; esac
done
exit 0
`

export interface ClusterShell extends PageShell {
  /** That is there once a command has attached to a pod. */
  readonly attachedFile: string
  readonly stop: () => Promise<void>
  readonly adapted: (script: string) => string
}

export async function openClusterShell(folder: string, kubeconfig: string): Promise<ClusterShell> {
  for (const name of ['charts', 'config', 'dist', 'node_modules', 'bin']) {
    symlinkSync(join(ROOT, name), join(folder, name))
  }
  const sources = globSync('src/**/*.ts', { cwd: ROOT }).map((path) => readFileSync(join(ROOT, path), 'utf8'))
  writeFileSync(join(folder, 'texts-of-sources'), sources.join('\n'))
  writeFileSync(join(folder, '.curlrc'), 'fail-with-body\nsilent\nshow-error\n')
  writeFileSync(join(folder, 'punctual.backup'), 'a backup')
  mkdirSync(join(folder, 'tools'))
  symlinkSync(join(ROOT, 'bin/punctual'), join(folder, 'tools/punctual'))
  addTool(folder, 'kubectl', `exec 3>&1\n${KUBECTL}`)
  const server = await startApiStandIn()
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const named = /127\.0\.0\.1:(?:8080|9090)\b/g
  return {
    folder,
    timeoutMs: PAGE_MS_MAX,
    attachedFile: join(folder, 'attached'),
    env: {
      KUBECONFIG: kubeconfig,
      PATH: [toolPath('helm.sh'), process.env['PATH']].join(delimiter),
      REAL_KUBECTL: execFileSync('sh', ['-c', 'command -v kubectl'], { encoding: 'utf8' }).trim(),
    },
    adapted: (script) =>
      script
        .replaceAll(/(?<=-n )NS\b/g, 'punctual')
        .replaceAll(named, host)
        .replaceAll('https://punctual.example.com', `http://${host}`),
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

/** Of an API behind a port-forward: it knows the paths of the contract, and wants a token. */
function startApiStandIn(): Promise<Server> {
  const { paths } = parse(readFileSync(join(ROOT, 'openapi.yaml'), 'utf8')) as { readonly paths: object }
  const server = createServer(({ url = '', headers }, response) => {
    const isAllowed =
      OPS_PATHS.includes(url) || (url in paths && /^Bearer \S+/.test(headers.authorization ?? ''))
    response.writeHead(isAllowed ? 200 : 404).end('{}')
  })
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)))
}
