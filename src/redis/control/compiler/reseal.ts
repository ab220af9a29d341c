import { STORE_DEADLINE_MS } from '../../../domain/limits.ts'
import type { CompileEnd, SealedAnew } from '../../../ports/settings.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { step } from '../../base/engine/step.ts'
import { ownerOf, ownSecretsSealedAnew } from '../compiled/stored-own-secrets.ts'
import { isDescription, teamSealedAnew } from '../compiled/stored-settings.ts'
import { readFieldNames } from '../../base/engine/paged-reads.ts'
import { SECRETS_KEY, TEAMS_KEY } from '../../base/layout/keys.ts'
import type { SecretBox } from '../../base/secret-box.ts'

export const RESEAL = step('reseal', import.meta.url, {
  keys: ['hash'],
  args: ['epoch', 'field', 'former', 'text'],
})

export interface SealedHash {
  readonly hash: string
  /** The text with all secrets under the first key; null = it is so already. Throws when it cannot be opened. */
  sealedAnew(box: SecretBox, field: string, value: string): string | null
  /** Owner of the secrets, for messages, even if the field cannot be read. */
  nameOf(field: string): string
  counted(count: number): string
}

/** Hashes that contain secrets. */
export const SEALED_HASHES: readonly SealedHash[] = [
  {
    hash: TEAMS_KEY,
    sealedAnew: teamSealedAnew,
    nameOf: (team) => `team ${team}`,
    counted: (count) => (count === 1 ? '1 team' : `${count} teams`),
  },
  {
    hash: SECRETS_KEY,
    sealedAnew: ownSecretsSealedAnew,
    nameOf: ownerText,
    counted: (count) => (count === 1 ? '1 queue or cron' : `${count} queues or crons`),
  },
]

function ownerText(field: string): string {
  try {
    const { team, kind, name } = ownerOf(field)
    return `${kind} ${name} of team ${team}`
  } catch {
    return field
  }
}

/**
 * Seals under the first key all that lies there under another, one value after the other. What changes meanwhile is left
 * alone: who changes it seals it under the first key. Throws StoreUnavailableError.
 */
export async function sealAllAnew(
  engine: Engine,
  box: SecretBox,
  epoch: number | null,
): Promise<CompileEnd<SealedAnew>> {
  const unopened: string[] = []
  for (const sealed of SEALED_HASHES) {
    const { hash } = sealed
    const fields = await readFieldNames(engine, hash)
    for (const field of fields.filter((one) => !isDescription(one))) {
      const former = await engine.runner.read((redis) => redis.hget(hash, field))
      if (former === null) continue
      const text = textAnew(sealed, box, { field, value: former })
      if (text === 'unopened') unopened.push(sealed.nameOf(field))
      if (text === null || text === 'unopened') continue
      const call = RESEAL.with({ hash, epoch: epoch ?? '', field, former, text })
      if ((await engine.runner.run(call, STORE_DEADLINE_MS)) === 'superseded') return { status: 'superseded' }
    }
  }
  return { status: 'sealed', unopened }
}

function textAnew(
  { sealedAnew }: SealedHash,
  box: SecretBox,
  { field, value }: { readonly field: string; readonly value: string },
): string | null {
  try {
    return sealedAnew(box, field, value)
  } catch {
    return 'unopened'
  }
}
