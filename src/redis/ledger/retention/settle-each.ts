import { isOutage } from '../../../domain/errors.ts'
import type { SetAside } from '../../../domain/set-aside.ts'

/**
 * Runs it for one item after another, even if one fails. An item that throws because of a defect is set aside while others
 * work; what all items throw is a defect of the whole, and thrown, as outages are.
 */
export async function settleEach<T>(
  items: Iterable<T>,
  {
    setAside,
    nameOf,
    run,
  }: {
    readonly setAside: SetAside
    nameOf(item: T): Record<string, string | number>
    run(item: T): Promise<void>
  },
): Promise<void> {
  const outages: unknown[] = []
  const defects: Array<{ readonly item: T; readonly error: unknown }> = []
  let count = 0
  for (const item of items) {
    count += 1
    try {
      await run(item)
    } catch (error) {
      if (isOutage(error)) outages.push(error)
      else defects.push({ item, error })
    }
  }
  const isAlone = defects.length < count || count === 1
  if (isAlone) for (const { item, error } of defects) setAside.note(nameOf(item), error)
  if (outages.length > 0) throw outages[0]
  if (!isAlone && defects[0] !== undefined) throw defects[0].error
}
