import type { LimitReason } from '../../../domain/alerts/alert.ts'
import type { StandingWarning } from '../../../domain/alerts/limit-rules.ts'

/**
 * The warnings of one reason and resource that stand, by what each is about: the name of a quota, or ''. In Redis it is
 * a value of `limitWarnings`: `name=level[m]`, joined by commas, with `m` where a window muted it.
 */
export type Standing = ReadonlyMap<string, StandingWarning>

export const NOTHING_STANDS: Standing = new Map()

export function encodeStanding(standing: Standing): string {
  return Array.from(standing, ([name, { level, isMuted }]) => `${name}=${level}${isMuted ? 'm' : ''}`).join()
}

/** Leaves out what is damaged; it is raised again if it still holds. */
export function decodeStanding(text: string): Standing {
  const standing = new Map<string, StandingWarning>()
  for (const part of text.split(',')) {
    const [, name, level, muted] = /^(\w*)=([12])(m?)$/.exec(part) ?? []
    if (name !== undefined) standing.set(name, { level: Number(level), isMuted: muted === 'm' })
  }
  return standing
}

/** This field, beside the warnings, has the last scan: its minute, and where the next one goes on. */
export const SCAN_FIELD = '#look'

export type WarnedResource =
  | { readonly kind: 'queue'; readonly localId: string }
  | { readonly kind: 'team'; readonly team: string }

export function warningField(reason: LimitReason, resource: WarnedResource): string {
  return `${reason}|${resource.kind === 'queue' ? `q${resource.localId}` : `t${resource.team}`}`
}

/** null = the field is of no warning. */
export function warnedResource(field: string): WarnedResource | null {
  const [, kind, id] = /^\w+\|([qt])(.+)$/.exec(field) ?? []
  if (id === undefined) return null
  return kind === 'q' ? { kind: 'queue', localId: id } : { kind: 'team', team: id }
}
