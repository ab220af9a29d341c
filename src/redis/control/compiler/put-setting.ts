import { STORE_DEADLINE_MS } from '../../../domain/limits.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { step } from '../../base/engine/step.ts'

export const PUT_SETTING = step('put_setting', import.meta.url, {
  keys: ['hash'],
  args: ['epoch', 'field', 'text'],
})

/**
 * Throws StoreUnavailableError.
 * @param setting.epoch null = there is no leader
 * @param setting.field '' only writes the epoch
 * @param setting.text '' removes the field
 */
export async function putSetting(
  engine: Engine,
  setting: { hash: string; epoch: number | null; field: string; text: string },
): Promise<'done' | 'superseded'> {
  const call = PUT_SETTING.with({ ...setting, epoch: setting.epoch ?? '' })
  const answer = await engine.runner.run(call, STORE_DEADLINE_MS)
  return answer === 'superseded' ? answer : 'done'
}
