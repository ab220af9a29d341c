/** Programs that suites need and scripts/*.sh find, or else download or build. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/**
 * By where they come from. Those of one source are made one after the other: packages lock their database, and one
 * build by Go keeps all cores busy.
 */
const SOURCES = [
  ['redis', 'chromium', 'languages'],
  ['helm', 'control-plane', 'prometheus', 'prometheus-operator', 'checkov'],
] as const

export type Tool = (typeof SOURCES)[number][number]

/** Resolves to null when the tool is there, or to the reason why it cannot be had. */
export type BroughtTools = ReadonlyMap<Tool, Promise<string | null>>

/** Begins to bring the tools and says how far it is; finding one that is there takes some milliseconds. */
export function bringTools(wanted: ReadonlySet<Tool>, say: (line: string) => void): BroughtTools {
  const brought = new Map<Tool, Promise<string | null>>()
  for (const source of SOURCES) {
    let before: Promise<unknown> = Promise.resolve()
    for (const tool of source.filter((name) => wanted.has(name))) {
      const obstacle = before.then(() => bring(tool, (line) => say(`${tool}: ${line}`)))
      brought.set(tool, obstacle)
      before = obstacle
    }
  }
  return brought
}

/** What the script tells on standard error is progress; when it fails, its last line there says why. */
async function bring(tool: Tool, say: (line: string) => void): Promise<string | null> {
  const startedAt = performance.now()
  const script = fileURLToPath(new URL(`../${tool}.sh`, import.meta.url))
  const child = spawn(script, { stdio: ['ignore', 'ignore', 'pipe'] })
  let lastLine = ''
  createInterface(child.stderr).on('line', (line) => {
    lastLine = line
    say(line)
  })
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  const seconds = Math.round((performance.now() - startedAt) / 1000)
  if (code === 0 && lastLine !== '') say(`is ready after ${seconds} s`)
  return code === 0 ? null : lastLine || `scripts/${tool}.sh failed`
}
