import type { Engine } from '../../client/engine.ts'
import { searchHistory } from '../../history/search/search-history.ts'
import type { Spot } from './spot.ts'
import type { AskedSection, Room, SectionPage } from './section-page.ts'

/** Summaries that one step of a search looks at. */
const LOOKED_AT_ONCE_MAX = 2_500

/** Newest first. */
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
