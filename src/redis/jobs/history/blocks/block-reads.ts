import type { Engine } from '../../../base/engine/engine.ts'
import { step } from '../../../base/engine/step.ts'
import type { ShardKeys } from '../../../base/layout/keys.ts'
import type { BlockQuery } from './block-match.ts'

export const MATCH_BLOCKS = step('match_blocks', import.meta.url, {
  queueKeys: ['meta', 'history', 'blocks'],
  args: ['below'],
  rows: { ranges: { args: ['after', 'before'] }, probes: { args: ['first', 'next'] } },
  rest: 'codes',
})

const ALL_BLOCKS = { ranges: [], probes: [], codes: [] } as const

export interface FoundBlocks {
  /** The number of the last block that was read, the oldest of them. */
  readonly last: number
  /** The blocks, newest first. */
  readonly blocks: ReadonlyArray<{ readonly number: number; readonly text: string }>
}

/**
 * Seeks blocks that may hold a match, from the one before number `below` on, as far as one step may. null = there is no
 * such block, or the blocks are those of other chains.
 *
 * @param query null = all blocks
 */
export async function matchBlocks(
  engine: Engine,
  { keys, localId }: { readonly keys: ShardKeys; readonly localId: string },
  { below, query }: { readonly below: number; readonly query: BlockQuery | null },
): Promise<FoundBlocks | null> {
  const { ranges, probes, codes } = query ?? ALL_BLOCKS
  const call = MATCH_BLOCKS.with({
    keys,
    localId,
    below,
    probes,
    codes,
    ranges: ranges.map(({ afterMs, beforeMs }) => ({ after: afterMs ?? '', before: beforeMs ?? '' })),
  })
  const [last, ...flat] = (await engine.runner.run(call)) as string[]
  if (last === undefined) return null
  const blocks: Array<{ number: number; text: string }> = []
  for (let i = 0; i < flat.length; i += 2) blocks.push({ number: Number(flat[i]), text: flat[i + 1] ?? '' })
  return { last: Number(last), blocks }
}
