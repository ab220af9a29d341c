import type { CheckResult, HealthFinding } from '../../ports/health.ts'
import { readHash } from '../inspection/inspect-reads.ts'
import type { Engine } from '../client/engine.ts'
import type { SecretBox } from '../control/secret-box.ts'
import { decodeTeam, teamsOf, tokensOf, type AcceptedToken } from '../control/stored-settings.ts'
import { TEAMS_KEY, TOKENS_KEY } from '../layout/keys.ts'
import { counted } from './counted.ts'

/** A SHA-256 in base64url. */
const HASH = /^[\w-]{43}$/

/** Opens the secrets of every team with the master key, and checks every token. */
export async function checkSecrets(engine: Engine, box: SecretBox): Promise<CheckResult> {
  const teams = teamsOf(Object.fromEntries(await readHash(engine, TEAMS_KEY)))
  const fields = [...(await readHash(engine, TOKENS_KEY))].filter(([field]) => field.startsWith('['))
  const tokens = fields.flatMap((field) => readToken(field) ?? [])
  const findings = [
    ...teams.flatMap(([team, value]) => teamProblem(box, team, value)),
    ...fields.filter((field) => readToken(field) === null).map(([field]) => damagedToken(field)),
    ...sharedTokens(tokens),
  ]
  if (fields.length === 0) {
    findings.push({
      severity: 'warning',
      subject: TOKENS_KEY,
      message: 'No token is applied, so the API refuses every request.',
      advice: 'Apply an ApiToken, or set PUNCTUAL_TOKEN.',
    })
  }
  return { summary: `${counted(teams.length, 'team')}, ${counted(fields.length, 'token')}`, findings }
}

function teamProblem(box: SecretBox, team: string, value: string): HealthFinding[] {
  const subject = `team ${team}`
  try {
    decodeTeam(box, value)
    return []
  } catch (error) {
    const isDamaged = error instanceof SyntaxError
    return [
      {
        severity: 'failed',
        subject,
        message: isDamaged
          ? 'Its settings cannot be read.'
          : 'Its secrets cannot be opened: they were stored under another key, or damaged.',
        advice: isDamaged
          ? `Apply the TeamSettings of ${team} again.`
          : `Set PUNCTUAL_SECRETS_KEY to the key that the roles had when they were stored, or apply the TeamSettings of ${team} again under this key.`,
      },
    ]
  }
}

function readToken([field, value]: readonly [string, string]): AcceptedToken | null {
  try {
    const [token] = tokensOf({ [field]: value })
    return token !== undefined && HASH.test(token.hash) ? token : null
  } catch {
    return null
  }
}

function damagedToken(field: string): HealthFinding {
  return {
    severity: 'failed',
    subject: `token ${field}`,
    message: 'It cannot be read, so nobody can use it.',
    advice: 'Apply its ApiToken again.',
  }
}

/** The first one applied counts. */
function sharedTokens(tokens: readonly AcceptedToken[]): HealthFinding[] {
  const byHash = Map.groupBy(tokens, ({ hash }) => hash)
  return [...byHash.values()].flatMap((same) => {
    const [first, ...others] = same.toSorted((a, b) => a.version - b.version)
    return others
      .filter(({ team }) => team !== first?.team)
      .map(({ team, name }) => ({
        severity: 'warning' as const,
        subject: `token ${name} of team ${team}`,
        message: `It is the same as token ${first?.name} of team ${first?.team}, which alone counts.`,
        advice: 'Give one of the teams another token.',
      }))
  })
}
