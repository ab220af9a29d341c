/** What the shells themselves offer once they have read the scripts. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { isInstalled } from '../../support/tools.ts'
import { programCommand } from '../../support/servers/processes.ts'

const [node = '', main = ''] = programCommand()
let folder = ''

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'punctual-completion-'))
  for (const shell of ['bash', 'zsh', 'fish']) {
    writeFileSync(join(folder, shell), execFileSync(node, [main, 'completion', shell]))
  }
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Each answers what the shell offers at the end of a line. */
const SHELLS: Readonly<Record<string, (line: string) => string[]>> = {
  bash: (line) => {
    const script = `source "$1"; COMP_WORDS=($2); [[ "$2" == *' ' ]] && COMP_WORDS+=('')
      COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _punctual; printf '%s\\n' "\${COMPREPLY[@]}"`
    return linesOf('bash', ['-c', script, 'bash', join(folder, 'bash'), line])
  },
  zsh: (line) => {
    // Compinit's own functions, told to print what they would offer.
    const script = `autoload -Uz compinit; compinit -u -D; source "$1"
      compadd() { local -a all; all=(); while (( $# )); do case $1 in -a) all+=(\${(P)2}); shift ;; esac; shift; done; print -l -- $all }
      _describe() { local -a all; all=(\${(P)4}); print -l -- \${all%%:*} }
      _files() { print -- files }
      words=(\${(z)2}); [[ "$2" == *' ' ]] && words+=(''); CURRENT=\${#words}
      _punctual`
    const word = line.split(' ').at(-1) ?? ''
    return linesOf('zsh', ['-f', '-c', script, 'zsh', join(folder, 'zsh'), line]).filter((one) =>
      one.startsWith(word),
    )
  },
  fish: (line) => {
    const script = `source $argv[1]; complete -C $argv[2]`
    return linesOf('fish', ['--no-config', '-c', script, join(folder, 'fish'), line]).map(
      (one) => one.split('\t')[0] ?? '',
    )
  },
}

function linesOf(program: string, args: readonly string[]): string[] {
  const text = execFileSync(program, [...args], {
    encoding: 'utf8',
    cwd: folder,
    env: { ...process.env, HOME: folder },
  })
  return text.split('\n').filter((line) => line !== '')
}

describe.each(Object.keys(SHELLS))('%s', (shell) => {
  const offered = (line: string) => SHELLS[shell]?.(line) ?? []
  beforeEach(({ skip }) => skip(!isInstalled(shell), `no ${shell} on this machine`))

  test('offers the commands', () => {
    expect(offered('punctual ')).toEqual(
      expect.arrayContaining(['push', 'jobs', 'crons', 'listen', 'doctor']),
    )
    expect(offered('punctual pu')).toEqual(['push'])
    expect(offered('punctual crons ru').toSorted()).toEqual(['run', 'runs'])
  })

  test('offers options of the command, and of no other', () => {
    expect(offered('punctual push q u --idem').toSorted()).toEqual([
      '--idempotency-key',
      '--idempotency-prefix',
    ])
    expect(offered('punctual jobs --idem')).toEqual([])
    expect(offered('punctual crons runs 7 --wa')).toEqual(['--watch'])
    expect(offered('punctual queues --wa')).toEqual(['--watch'])
  })

  test('offers the values of an option', () => {
    expect(offered('punctual jobs -o ').toSorted()).toEqual(['json', 'name', 'table', 'wide', 'yaml'])
    expect(offered('punctual jobs --status dead')).toEqual(['dead_lettered'])
  })
})
