import type { LimitReason } from '../../domain/alerts/alert.ts'
import type { StandingWarning } from '../../domain/alerts/limit-rules.ts'

/**
 * A value of `limitWarnings` says what stands of one reason and resource, by what it is about: the name of a quota, or
 * ''. As text: `name=level[m]`, joined by commas, `m` where a window muted it.
 */
export type Standing = ReadonlyMap<string, StandingWarning>

export const NOTHING_STANDS: Standing = new Map()

export function encodeStanding(standing: Standing): string {
  return Array.from(standing, ([name, { level, isMuted }]) => `${name}=${level}${isMuted ? 'm' : ''}`).join()
}

/** Whatever is damaged is left out: it is raised again, if it still holds. */
export function decodeStanding(text: string): Standing {
  const standing = new Map<string, StandingWarning>()
  for (const part of text.split(',')) {
    const [, name, level, muted] = /^(\w*)=([12])(m?)$/.exec(part) ?? []
    if (name !== undefined) standing.set(name, { level: Number(level), isMuted: muted === 'm' })
  }
  return standing
}

/** Beside the warnings, the last look: its minute, and where the next one goes on. */
export const LOOK_FIELD = '#look'

export type WarnedResource =
  | { readonly kind: 'queue'; readonly localId: string }
  | { readonly kind: 'team'; readonly team: string }

export function warningField(reason: LimitReason, resource: WarnedResource): string {
  return `${reason}|${resource.kind === 'queue' ? `q${resource.localId}` : `t${resource.team}`}`
}

/** null = of no warning. */
export function warnedResource(field: string): WarnedResource | null {
  const [, kind, id] = /^\w+\|([qt])(.+)$/.exec(field) ?? []
  if (id === undefined) return null
  return kind === 'q' ? { kind: 'queue', localId: id } : { kind: 'team', team: id }
}
