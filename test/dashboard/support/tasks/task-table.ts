/** The tasks of somebody on call, as docs/dashboard.md has them: their clicks, fields and commands. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface TaskRow {
  /** What somebody wants to know or to do. */
  readonly name: string
  /** Clicks and keys, from the overview on. */
  readonly clicks: number
  /** Fields that are typed into or chosen from. */
  readonly fields: number
  /** The same on the command line. */
  readonly commands: readonly string[]
}

const PAGE = join(import.meta.dirname, '../../../../docs/dashboard.md')
const HEAD = '| Task '

export function readTaskTable(): readonly TaskRow[] {
  const lines = readFileSync(PAGE, 'utf8').split('\n')
  const head = lines.findIndex((line) => line.startsWith(HEAD))
  const rest = lines.slice(head + 2)
  return rest.slice(0, rest.indexOf('')).map((line) => {
    const [, name = '', , clicks = '', fields = '', commands = ''] = line
      .split('|')
      .map((cell) => cell.trim())
    return {
      name,
      clicks: Number(clicks),
      fields: Number(fields),
      commands: Array.from(commands.matchAll(/`([^`]+)`/g), ([, command = '']) => command),
    }
  })
}
