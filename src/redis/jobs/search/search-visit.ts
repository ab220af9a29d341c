import type { CostGate } from '../../../domain/shares/cost-gate.ts'

/** Runs a step that looks through records when its turn has come. */
export type InTurn = <T>(step: () => Promise<T>) => Promise<T>

interface Searcher {
  readonly team: string
  /** null = each step runs at once. */
  readonly gate: CostGate | null
  /** Aborts when nobody waits for the answer any more. */
  readonly signal?: AbortSignal | undefined
}

class SearchAbandoned extends Error {}

/**
 * Lets a search take turns with the other costly requests of the process. It does not begin when the team, or all teams
 * together, have too many under way, and goes no further once it is abandoned.
 */
export async function searchInTurn<T>(
  { team, gate, signal }: Searcher,
  search: (inTurn: InTurn) => Promise<T>,
): Promise<T | 'too_many_searches'> {
  if (gate === null) return search((step) => step())
  const visit = signal?.aborted === true ? null : gate.enter(team)
  if (visit === null) return 'too_many_searches'
  const leave = (): void => visit.leave()
  signal?.addEventListener('abort', leave)
  try {
    return await search(async (step) => {
      const end = await visit.step(async () => ({ value: await step() }))
      if (end === null) throw new SearchAbandoned('nobody waits for this search any more')
      return end.value
    })
  } catch (fault) {
    if (fault instanceof SearchAbandoned) return 'too_many_searches'
    throw fault
  } finally {
    signal?.removeEventListener('abort', leave)
    visit.leave()
  }
}
