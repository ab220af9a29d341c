import { EditRefusedError } from '../../domain/errors.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { KubeObject, ResourceWriter } from '../../ports/kubernetes.ts'
import type { TokenKeeper } from '../../ports/access/tokens.ts'
import type { ApiTokenSpec } from '../../resources/generated/kinds.ts'
import { API_ORIGIN, ORIGIN_LABEL } from '../../resources/queue-owner.ts'
import { specOfToken, tokenOfSpec } from '../../resources/token-spec.ts'
import { notWatched, pollUntil, refOf, withinTimeout } from './resource-edit.ts'

/** An API server leaves out what its definition does not have. */
const CANNOT_SHARE =
  'The CustomResourceDefinition of ApiTokens in this cluster is of an earlier version, in which tokens cannot share a rate limit: apply the one of this version.'

interface TokenObject extends KubeObject {
  readonly spec: ApiTokenSpec
}

export interface ResourceTokensOptions {
  readonly writer: Pick<ResourceWriter<TokenObject>, 'create' | 'read' | 'readAll' | 'remove'>
  /** Whether this process accepts the token by now. */
  readonly isAccepted: (team: string, name: string) => boolean
  /** Whether we may write resources in this namespace. */
  readonly isWatched: (namespace: string) => boolean
  readonly clock: Clock
}

/** Tokens as ApiTokens of a cluster. Throws EditRefusedError with the API server's own words, ResourceApiError. */
export function createResourceTokens(options: ResourceTokensOptions): TokenKeeper {
  const { writer, isAccepted, isWatched, clock } = options
  return {
    all: async (team) => {
      if (!isWatched(team)) return []
      const found = await withinTimeout(clock, () => writer.readAll(team))
      return found
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .map(({ metadata, spec }) => tokenOfSpec(team, metadata.name, spec))
    },
    create: async (token) => {
      const { team, name } = token
      if (!isWatched(team)) throw notWatched('Tokens', team)
      const metadata = { name, namespace: team, labels: { [ORIGIN_LABEL]: API_ORIGIN } }
      const spec = specOfToken(token)
      const made = await withinTimeout(clock, () => writer.create({ metadata, spec }))
      const { sharedWith } = spec.rateLimit ?? {}
      if (sharedWith !== undefined && made.spec.rateLimit?.sharedWith === undefined) {
        // Nobody has seen its text yet.
        await withinTimeout(clock, () => writer.remove(refOf(made)))
        throw new EditRefusedError(CANNOT_SHARE)
      }
      await pollUntil(clock, () => Promise.resolve(isAccepted(team, name)))
    },
    remove: async (team, name) => {
      if (!isWatched(team)) throw notWatched('Tokens', team)
      const found = await withinTimeout(clock, () => writer.read(team, name))
      if (found === null) return 'not_found'
      await withinTimeout(clock, () => writer.remove(refOf(found)))
      await pollUntil(clock, () => Promise.resolve(!isAccepted(team, name)))
      return 'removed'
    },
  }
}
