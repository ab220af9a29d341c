import { STORE_DEADLINE_MS } from '../../../domain/limits.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { step } from '../../base/engine/step.ts'
import { SECRETS_KEY } from '../../base/layout/keys.ts'

export const PUT_SECRETS = step('put_secrets', import.meta.url, {
  keys: ['hash'],
  args: ['epoch', 'field', 'text'],
})

/**
 * Throws StoreUnavailableError and StorageFullError.
 * @param setting.epoch null = there is no leader
 */
export async function putSecrets(
  engine: Engine,
  setting: { readonly epoch: number | null; readonly field: string; readonly text: string },
): Promise<'done' | 'superseded'> {
  const call = PUT_SECRETS.with({ ...setting, hash: SECRETS_KEY, epoch: setting.epoch ?? '' })
  const answer = await engine.runner.run(call, STORE_DEADLINE_MS)
  return answer === 'superseded' ? answer : 'done'
}
