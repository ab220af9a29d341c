import type { CheckResult, HealthFinding } from '../../../ports/health.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { tokensOf, type AcceptedToken } from '../../control/compiled/stored-settings.ts'
import { readHash } from '../../base/engine/paged-reads.ts'
import { TOKENS_KEY } from '../../base/layout/keys.ts'
import { counted } from './counted.ts'

/** A SHA-256 in base64url. */
const HASH = /^[\w-]{43}$/

/** Reads every token, and looks whether two teams share one. */
export async function checkTokens(engine: Engine): Promise<CheckResult> {
  const fields = [...(await readHash(engine, TOKENS_KEY))].filter(([field]) => field.startsWith('['))
  const tokens = fields.flatMap((field) => readToken(field) ?? [])
  const findings = [
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
  return { summary: counted(fields.length, 'token'), findings }
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
        message: `It is the same as token ${first?.name} of team ${first?.team}, and only that one is valid.`,
        advice: 'Give one of the teams another token.',
      }))
  })
}
