import type { CheckResult, HealthFinding, Severity } from '../../ports/health.ts'

export interface CheckReport extends CheckResult {
  /** One word, such as `clock`. */
  readonly name: string
  /** The worst of its findings. */
  readonly status: 'ok' | Severity
}

/** The output of `punctual doctor --json`, which docs/reference/doctor.md describes. */
export interface HealthReport {
  readonly version: string
  /** ISO 8601, UTC. */
  readonly checked_at: string
  readonly is_healthy: boolean
  readonly checks: readonly CheckReport[]
}

/** Findings of one check that the text shows; the JSON has all of them. */
const SHOWN_MAX = 20

export function reportOf(name: string, { summary, findings }: CheckResult): CheckReport {
  const severities = new Set(findings.map(({ severity }) => severity))
  const status = severities.has('failed') ? 'failed' : severities.has('warning') ? 'warning' : 'ok'
  return { name, status, summary, findings }
}

/** `failed   data  12 queues in 4 shards`, and each finding below with what to do. */
export function textOf({ name, status, summary, findings }: CheckReport): string {
  const lines = [`${status.padEnd(8)} ${name.padEnd(13)} ${summary}`]
  for (const finding of findings.slice(0, SHOWN_MAX)) lines.push(...findingLines(finding))
  const left = findings.length - SHOWN_MAX
  if (left > 0) lines.push(`         and ${left} more (--json shows up to a thousand)`)
  return `${lines.join('\n')}\n`
}

function findingLines({ severity, subject, message, advice }: HealthFinding): string[] {
  return [`         ${severity}: ${subject}`, `           ${message}`, `           To do: ${advice}`]
}
