import type { Me, TokenCreate } from '../../../../clients/typescript/src/client.ts'

export type Scope = NonNullable<TokenCreate['scopes']>[number]

/** A token while its form is filled in. */
export interface TokenDraft {
  readonly name: string
  readonly description: string
  readonly scopes: readonly Scope[]
  /** One name a line. */
  readonly queues: string
  /** Days, `never`, or `own` for the end of the maker's own token. */
  readonly ends: string
  readonly rate: string
  readonly burst: string
}

/** In the order of what they allow. */
export const SCOPES: ReadonlyArray<{ readonly scope: Scope; readonly allows: string }> = [
  { scope: 'push', allows: 'Push jobs.' },
  { scope: 'read', allows: 'See everything but payloads.' },
  { scope: 'operate', allows: 'See payloads; retry, purge, pause, run, maintain.' },
  { scope: 'admin', allows: 'Everything, also settings and access.' },
]

const DAY_MS = 86_400_000

/** A user has to give an end, and a token ends with its maker at the latest. */
export function endsFor({
  kind,
  expires_at: expiresAt,
}: Me): ReadonlyArray<{ value: string; label: string }> {
  const days = [30, 90, 365].map((count) => ({ value: String(count), label: `In ${count} days` }))
  if (expiresAt !== null) return [{ value: 'own', label: 'When your own access ends' }, ...days]
  return kind === 'user' ? days : [...days, { value: 'never', label: 'Never' }]
}

export function newDraft(me: Me): TokenDraft {
  return {
    name: '',
    description: '',
    scopes: ['push'],
    rate: '',
    burst: '',
    queues: (me.queues ?? []).join('\n'),
    ends: me.expires_at === null ? '90' : 'own',
  }
}

/** The body that the API takes; it judges the values. */
export function tokenOf(draft: TokenDraft, { expires_at: ownEnd }: Me, nowMs: number): TokenCreate {
  const queues = draft.queues.split('\n').flatMap((line) => line.trim() || [])
  const { ends, rate, burst } = draft
  const days = Number(ends)
  return {
    name: draft.name.trim(),
    ...(draft.description.trim() !== '' && { description: draft.description.trim() }),
    scopes: [...draft.scopes],
    ...(queues.length > 0 && { queues }),
    ...(ends === 'own' && { expires_at: ownEnd }),
    // A minute less: a day more than the limit would be too much.
    ...(days > 0 && { expires_at: new Date(nowMs + days * DAY_MS - 60_000).toISOString() }),
    ...(rate !== '' && {
      rate_limit: { requests_per_second: Number(rate), ...(burst !== '' && { burst: Number(burst) }) },
    }),
  }
}
