import { cliError, MISUSED } from './cli-error.ts'
import type { DestroyFlags } from './command-options.ts'
import { printable } from './output/text-table.ts'

/** Answers the line that was typed; null when none was. */
export type Ask = (question: string) => Promise<string | null>

interface Confirming {
  /** null = nobody can be asked. */
  readonly ask: Ask | null
  readonly question: () => string | Promise<string>
}

/** Returns when it is wanted; otherwise the command ends, and nothing is changed. */
export async function confirm({ dryRun, yes }: DestroyFlags, { ask, question }: Confirming): Promise<void> {
  if (dryRun === true || yes === true) return
  if (ask === null) {
    throw cliError('this cannot be undone and there is no terminal to ask: add --yes to confirm', MISUSED)
  }
  const answer = await ask(printable(`${await question()} This cannot be undone. [y/N] `))
  if (!/^\s*y(?:es)?\s*$/i.test(answer ?? '')) throw cliError('not confirmed, so nothing was changed')
}
