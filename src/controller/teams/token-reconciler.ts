import type { Informer, ObjectKey, Reconciler } from '../../ports/kubernetes.ts'
import type { WantedCondition } from '../../resources/conditions.ts'
import { isDeleted } from '../../resources/finalizers.ts'
import { parseKey } from '../../resources/queue-owner.ts'
import { tokenOfSpec } from '../../resources/token-spec.ts'
import { BY_HASH, keyOf, type ApiToken } from '../kinds.ts'
import { RECONCILED, reconciledStatus, unavailable, type Unavailable } from '../reconcile/ready-conditions.ts'
import type { ReconcilerParts } from '../reconcile/reconciler-parts.ts'
import { StatusWriter } from '../reconcile/status-writer.ts'
import { isDeletionConfirmed } from './confirmed-deletion.ts'

type Outcome = { readonly kind: 'accepted' | 'hash_taken' }

/** Keys are `namespace/name`. */
export function createTokenReconciler(parts: ReconcilerParts<ApiToken>): Reconciler {
  const { informer, engine, clock } = parts
  const status = new StatusWriter<ApiToken, Outcome>({
    ...parts,
    kind: 'ApiToken',
    action: 'AcceptToken',
    pending: () => 'this resource is applied',
    statusOf: (token, outcome) => reconciledStatus<'ApiToken'>(token, conditionsOf(outcome), clock.wallMs()),
  })
  return {
    reconcile: async (key) => {
      const { team, name } = parseKey(key)
      const token = informer.get(key)
      if (token !== undefined && !isDeleted(token)) await status.report(token, () => accept(parts, token))
      else if (await isDeletionConfirmed(parts.writer, key)) {
        await engine.write((compiler) => compiler.removeToken(team, name))
      }
      return { requeueAfterMs: null }
    },
  }
}

/**
 * Answers the keys that a change of one token concerns: those of every token with its hash, because one of them counts.
 * A deleted token is no longer in the index, and is included all the same.
 */
export function tokenKeysOf(
  informer: Pick<Informer<ApiToken>, 'byIndex'>,
  token: ApiToken,
): readonly ObjectKey[] {
  return [...new Set([token, ...informer.byIndex(BY_HASH, token.spec.sha256)].map(keyOf))]
}

/**
 * A hash belongs to the team that had it first, which Redis knows: otherwise anyone who learns the hash could divert
 * another team's pushes to their own. If Redis knows of no team, and among tokens of one team, the oldest resource
 * counts.
 */
async function accept(
  { informer, engine }: ReconcilerParts<ApiToken>,
  { metadata: { namespace, name, uid }, spec }: ApiToken,
): Promise<Outcome> {
  const rivals = informer.byIndex(BY_HASH, spec.sha256).toSorted(byAge)
  const [oldestOfTeam] = rivals.filter(({ metadata }) => metadata.namespace === namespace)
  if (oldestOfTeam !== undefined && oldestOfTeam.metadata.uid !== uid) {
    await engine.write((compiler) => compiler.removeToken(namespace, name))
    return { kind: 'hash_taken' }
  }
  const claim = (rivals[0]?.metadata.uid ?? uid) === uid ? 'free' : 'none'
  const token = tokenOfSpec(namespace, name, spec)
  const { status } = await engine.write((compiler) => compiler.putToken(token, claim))
  return { kind: status === 'taken' ? 'hash_taken' : 'accepted' }
}

function conditionsOf(outcome: Outcome | Unavailable): ReadonlyArray<WantedCondition<'ApiToken'>> {
  switch (outcome.kind) {
    case 'accepted':
      return [{ ...RECONCILED, message: 'The token is accepted.' }]
    case 'hash_taken': {
      // The message does not name the other resource, which may be in a namespace that the reader must not see.
      const message =
        'Another ApiToken has the same hash, or had it until it was revoked: the token is not valid for this team.'
      return [{ type: 'Ready', status: 'False', reason: 'HashTaken', message }]
    }
    case 'unavailable':
      return unavailable(outcome)
  }
}

function byAge(left: ApiToken, right: ApiToken): number {
  const ages = Date.parse(left.metadata.creationTimestamp) - Date.parse(right.metadata.creationTimestamp)
  return ages !== 0 ? ages : left.metadata.uid < right.metadata.uid ? -1 : 1
}
