import type { Engine } from '../../../base/engine/engine.ts'
import { searchHistory } from '../../history/search/search-history.ts'
import type { Spot } from './spot.ts'
import type { AskedSection, Room, SectionPage } from './section-page.ts'

/** One step of a search looks at at most this many summaries. */
const LOOKED_AT_ONCE_MAX = 2_500

/** Lists the newest first. */
export async function readFinished(
  engine: Engine,
  { queue, filter }: AskedSection,
  { from, room, budget }: Room & { readonly from: Spot & { readonly kind: 'left' } },
): Promise<SectionPage> {
  const bounds = { limit: room, examinedMax: Math.min(LOOKED_AT_ONCE_MAX, budget.left) }
  const { jobs, next, searched, bytes } = await searchHistory(engine, queue, filter, from.left, bounds)
  budget.spend(searched, bytes)
  return { jobs, next: next === null ? null : { kind: 'left', left: next } }
}
