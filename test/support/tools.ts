/** Programs that tests need and scripts/*.sh find, or else download or build. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const SCRIPTS = new URL('../../scripts/', import.meta.url)

const found = new Map<string, { readonly path: string } | { readonly obstacle: string }>()

/** Why the script finds none; null when it does. The first call may build it, which takes minutes. */
export function toolObstacle(script: string): string | null {
  const tool = toolOf(script)
  return 'obstacle' in tool ? tool.obstacle : null
}

/** What the script finds: a program or its folder. Throws when there is none. */
export function toolPath(script: string): string {
  const tool = toolOf(script)
  if ('obstacle' in tool) throw new Error(tool.obstacle)
  return tool.path
}

/** Whether a program of this name is on PATH. */
export function isInstalled(program: string): boolean {
  return spawnSync('sh', ['-c', 'command -v "$1"', 'sh', program]).status === 0
}

function toolOf(script: string) {
  const known = found.get(script)
  if (known !== undefined) return known
  const { status, stdout, stderr } = spawnSync(fileURLToPath(new URL(script, SCRIPTS)), { encoding: 'utf8' })
  const lastLine = stderr?.trim().split('\n').at(-1) ?? ''
  const tool = status === 0 ? { path: stdout.trim() } : { obstacle: lastLine || `scripts/${script} failed` }
  found.set(script, tool)
  return tool
}
