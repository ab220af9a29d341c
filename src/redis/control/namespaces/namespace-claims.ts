import { StoreUnavailableError } from '../../../domain/errors.ts'
import type { NamespaceClaims } from '../../../ports/access/namespaces.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { COMPILED } from '../../base/layout/fields.ts'
import { NAMESPACES_KEY } from '../../base/layout/keys.ts'

/** A claim that was read may be gone when it is taken. */
const TRIES_MAX = 3
const OWN_FIELDS: ReadonlySet<string> = new Set([COMPILED.epoch, COMPILED.version])

export function createNamespaceClaims({ runner }: Pick<Engine, 'runner'>): NamespaceClaims {
  return {
    claim: async (team, uid) => {
      for (let tries = 0; tries < TRIES_MAX; tries += 1) {
        const held = await runner.read((redis) => redis.hget(NAMESPACES_KEY, team))
        if (held !== null) return uidIn(held)
        await runner.read((redis) => redis.hsetnx(NAMESPACES_KEY, team, `0 ${uid}`))
      }
      throw new StoreUnavailableError(`The namespace of ${team} keeps changing`)
    },
  }
}

export async function readNamespaces({ runner }: Pick<Engine, 'runner'>): Promise<Map<string, string>> {
  const stored = Object.entries(await runner.read((redis) => redis.hgetall(NAMESPACES_KEY)))
  return new Map(stored.flatMap(([team, value]) => (OWN_FIELDS.has(team) ? [] : [[team, uidIn(value)]])))
}

/** A value is the version of its change, a blank and the uid. */
function uidIn(value: string): string {
  return value.slice(value.indexOf(' ') + 1)
}
