import { QUOTA_NAMES, type QuotaName, type TeamQuotas } from '../../domain/quotas.ts'
import type { HeaderSecret } from '../../domain/secrets/header-secret.ts'
import type { Team as WireTeam } from '../../../clients/typescript/src/generated/wire.ts'

const WIRE_NAMES = {
  queues: 'queues',
  crons: 'crons',
  pendingJobs: 'pending_jobs',
  storedBytes: 'stored_bytes',
  jobsPerMonth: 'jobs_per_month',
  callsInFlight: 'calls_in_flight',
} as const satisfies Readonly<Record<QuotaName, string>>

export function toWireTeam(
  team: string,
  facts: {
    readonly quotas: TeamQuotas
    readonly usage: Readonly<Record<QuotaName, number>>
    readonly notifications: WireTeam['notifications']
    readonly headerSecrets: readonly HeaderSecret[]
    readonly maskedHeaders: readonly string[]
  },
): WireTeam {
  return {
    team,
    quotas: toWireQuotas(facts.quotas),
    usage: toWireUsage(facts.usage),
    notifications: facts.notifications,
    header_secrets: facts.headerSecrets.map(({ name, hosts }) => ({ name, hosts: [...hosts] })),
    masked_headers: [...facts.maskedHeaders],
  }
}

export function toWireQuotas(quotas: TeamQuotas): WireTeam['quotas'] {
  return toWire(quotas) as unknown as WireTeam['quotas']
}

export function toWireUsage(usage: Readonly<Record<QuotaName, number>>): WireTeam['usage'] {
  return toWire(usage) as unknown as WireTeam['usage']
}

function toWire<T>(values: Readonly<Record<QuotaName, T>>): Record<string, T> {
  return Object.fromEntries(QUOTA_NAMES.map((name) => [WIRE_NAMES[name], values[name]]))
}
