import { clientFailure } from './client-failure.ts'
import type { OutputFlags } from './verb-options.ts'

/** An answer as it came, or as a person reads it. */
export function shown({ output }: OutputFlags, text: string, write: () => string): string {
  return output === 'json' ? `${text}\n` : fromAnswer(write)
}

/** What is taken from an answer. One that lacks it comes from another program. */
export function fromAnswer<Taken>(take: () => Taken): Taken {
  try {
    return take()
  } catch {
    throw clientFailure('the answer is not one of Punctual')
  }
}
