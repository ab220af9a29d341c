import { mayGoTo } from '../../domain/secrets/header-secret.ts'
import { headerSecretIn, isFromSecret, secretValueIn } from '../../domain/secrets/secret-values.ts'
import type { JobRequest } from '../../domain/jobs/job.ts'
import type { OwnSecrets, OwnSecretsSource } from '../../ports/access/own-secrets.ts'
import type { ClaimedJob } from '../../ports/jobs.ts'
import type { TeamSettings, TeamSettingsSource } from '../../ports/settings.ts'

/** The parts of a job's call that come from Secrets, or why it cannot be made. */
export type SecretPart =
  | { readonly kind: 'found'; readonly settings: TeamSettings; readonly headers: JobRequest['headers'] }
  | { readonly kind: 'missing'; readonly message: string }

/**
 * Settings and headers of a job's call, with what lies in Secrets in place. The signing secrets of its cron come first,
 * then those of its queue, then the team's.
 */
export function secretPartOf(work: ClaimedJob, teams: TeamSettingsSource & OwnSecretsSource): SecretPart {
  const settings = teams.of(work.team)
  const signer = signerOf(work, teams)
  if (signer === 'unreadable') return missing('The signing secrets of this job cannot be read.')
  const headers = headersOf(work, teams)
  if (headers.kind === 'missing') return headers
  const signed = signer === null ? settings : signedBy(settings, signer)
  return { kind: 'found', settings: signed, headers: headers.headers }
}

const signedSettings = new WeakMap<TeamSettings, WeakMap<OwnSecrets, TeamSettings>>()

/** The team's settings with other signing secrets; the same object while neither changes, as keys are made once for each. */
function signedBy(settings: TeamSettings, own: OwnSecrets): TeamSettings {
  const known = signedSettings.get(settings) ?? new WeakMap<OwnSecrets, TeamSettings>()
  signedSettings.set(settings, known)
  const signed = known.get(own) ?? {
    ...settings,
    signingSecrets: own.signingSecrets,
    isSigningUnreadable: false,
  }
  known.set(own, signed)
  return signed
}

function signerOf(
  { team, queueName, request }: ClaimedJob,
  teams: OwnSecretsSource,
): OwnSecrets | 'unreadable' | null {
  const signer = request.cron?.signer
  if (signer !== undefined) {
    // Removed since the job was made, they do not make way for others: its target knows no others.
    return signing(teams.ownSecretsOf({ team, kind: 'cron', name: signer }) ?? 'unreadable')
  }
  const own = queueName === '' ? null : teams.ownSecretsOf({ team, kind: 'queue', name: queueName })
  return own === null ? null : signing(own)
}

/** The team's must not sign in their place: the receiver is not to know those, nor to get what they have signed. */
function signing(own: OwnSecrets | 'unreadable'): OwnSecrets | 'unreadable' {
  return own === 'unreadable' || own.signingSecrets.length === 0 ? 'unreadable' : own
}

function headersOf(
  work: ClaimedJob,
  teams: TeamSettingsSource & OwnSecretsSource,
):
  | { readonly kind: 'found'; readonly headers: JobRequest['headers'] }
  | Extract<SecretPart, { kind: 'missing' }> {
  const given = work.request.headers
  // Most jobs take none.
  if (!Object.values(given).some(isFromSecret)) return { kind: 'found', headers: given }
  const headers: Array<readonly [string, string]> = []
  for (const [name, text] of Object.entries(given)) {
    const value = isFromSecret(text) ? valueFrom([name, text], work, teams) : text
    if (typeof value !== 'string') return missing(`The value of header ${name} ${value.problem}`)
    headers.push([name, value])
  }
  // Defines own properties, also one called `__proto__`.
  return { kind: 'found', headers: Object.fromEntries(headers) }
}

/** The value of a header from a Secret, or why it is not sent, as the end of a sentence. */
function valueFrom(
  [header, text]: readonly [name: string, text: string],
  work: ClaimedJob,
  teams: TeamSettingsSource & OwnSecretsSource,
): string | { readonly problem: string } {
  const { team, request } = work
  const from = secretValueIn(text)
  if (from === null) return valueOfHeaderSecret(headerSecretIn(text) ?? '', work, teams)
  const own = teams.ownSecretsOf({ team, kind: 'cron', name: from.cron })
  const known = own === null || own === 'unreadable' ? null : own
  const value = known?.headerValues[header.toLowerCase()]
  if (value === undefined) return { problem: `is not there: key ${from.key} of Secret ${from.secret}.` }
  // Whoever may copy the run may have given it another URL.
  return known?.headerOrigin === URL.parse(request.url)?.origin
    ? value
    : { problem: `is not sent: cron ${from.cron} calls another origin.` }
}

function valueOfHeaderSecret(
  name: string,
  { team, request }: ClaimedJob,
  teams: TeamSettingsSource,
): string | { readonly problem: string } {
  const secret = teams.of(team).headerSecrets.find((one) => one.name === name)
  if (secret === undefined) return { problem: `is not there: the team has no header secret ${name}.` }
  const url = URL.parse(request.url)
  // Since it was pushed, the hosts may have changed; and whoever may replay a job may change its URL.
  if (url === null || !mayGoTo(secret.hosts, url)) {
    return { problem: `is not sent: header secret ${name} may not go to the host of this job.` }
  }
  return secret.value ?? { problem: `is not there: the Secret of header secret ${name} cannot be used.` }
}

function missing(message: string): Extract<SecretPart, { kind: 'missing' }> {
  return { kind: 'missing', message }
}
