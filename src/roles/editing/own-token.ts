import { createSettingsCompiler, putOwnToken } from '../../redis/control/compiler/settings-compiler.ts'
import type { Store } from '../parts/store.ts'

/** The team of PUNCTUAL_TOKEN, and of manifests without a namespace. */
export const DEFAULT_TEAM = 'default'

/** Has every process accept the token that this one was given. */
export async function acceptOwnToken({ engine }: Store, token: string): Promise<void> {
  await putOwnToken(createSettingsCompiler({ engine, box: null, epoch: null }), DEFAULT_TEAM, token)
}
