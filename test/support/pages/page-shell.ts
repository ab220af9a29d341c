/** A shell that follows a page as a reader does: in a folder of its own, with the page's commands on PATH. */
import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const OUTPUT_BYTES_MAX = 64 * 1024 * 1024

/** Commands that go on until Ctrl-C; a reader gives them a terminal of their own. */
const ENDLESS = /--watch\b|\bpunctual (?:listen|standalone)\b|\/api\/events\b|\bport-forward\b|\bmake run\b/

/**
 * `in_another_terminal` starts a command and waits until it has said something, a standalone until it takes jobs. At
 * the end all of them get the Ctrl-C of the reader, which must end them well.
 */
const PRELUDE = String.raw`
set -Eeuo pipefail
trap 'echo "line $LINENO of the page failed: $BASH_COMMAND" >&2' ERR
others=()
in_another_terminal() {
  local said="$HOME/terminal-\${#others[@]}" sign=.
  case "$*" in *standalone* | *'make run'*) sign='Standalone runs' ;; esac
  : >"$said"
  set -m
  env "$@" >"$said" 2>&1 </dev/null &
  set +m
  others+=($!)
  until grep -q "$sign" "$said"; do
    if ! kill -0 $! 2>/dev/null; then wait $! || { cat "$said" >&2; return 1; }; break; fi
    sleep 0.05
  done
}
close_terminals() {
  local pid code
  for pid in "\${others[@]}"; do
    kill -INT -- "-$pid" 2>/dev/null || true
    code=0
    wait "$pid" || code=$?
    # 28 and 130: curl, and a command without a handler, ended by Ctrl-C.
    case $code in 0 | 130) ;; *) echo "a command that Ctrl-C ends exited with $code" >&2; exit 1 ;; esac
  done
}
`.replaceAll('\\$', '$')

export interface PageShell {
  /** Working directory of the page; its `tools` stand first on PATH, and it is the HOME. */
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  readonly timeoutMs: number
}

/**
 * Runs a script of `scriptOf`; answers what it printed.
 * @throws with the line of the page that failed
 */
export async function followPage(script: string, { folder, env, timeoutMs }: PageShell): Promise<string> {
  const prelude = join(folder, 'prelude.sh')
  writeFileSync(prelude, PRELUDE)
  const commands = script
    .split('\n')
    .map((line) =>
      ENDLESS.test(line) && !line.trimStart().startsWith('#') ? `in_another_terminal ${line}` : line,
    )
  // The first line of a page is its title, so nothing is run there.
  commands[0] = `source '${prelude}'`
  const text = `${commands.join('\n')}\nclose_terminals\n`
  const given = {
    cwd: folder,
    env: { ...env, HOME: folder, PATH: `${join(folder, 'tools')}:${env['PATH']}` },
  }
  const limits = { timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: OUTPUT_BYTES_MAX } as const
  return (await promisify(execFile)('bash', ['--norc', '-c', text], { ...given, ...limits })).stdout
}

/** Puts a command before those of PATH. */
export function addTool(folder: string, name: string, script: string): void {
  mkdirSync(join(folder, 'tools'), { recursive: true })
  const path = join(folder, 'tools', name)
  writeFileSync(path, `#!/usr/bin/env bash\n${script}`)
  chmodSync(path, 0o755)
}
