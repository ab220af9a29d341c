import { singleProblem, type ValidationProblem } from '../../contract/fields/field-errors.ts'
import { headerSecretsProblem, redirectedProblem } from '../../contract/fields/header-fields.ts'
import { keepsNothing } from '../../contract/fields/validation-texts.ts'
import type { JobChange } from '../../contract/requests/pushes/push-request.ts'
import { keptHeaders, missingHeader, redirectedHeaders } from '../../domain/access/masking.ts'
import type { RequestChange } from '../../domain/jobs/job-copy.ts'
import type { JobChain } from '../../domain/jobs/job.ts'
import { changedHeaders } from '../../domain/secrets/secret-values.ts'
import { maskedHeadersOf, type TeamSettings } from '../../ports/settings.ts'

/** The fields in which a copy differs, with its headers complete. */
export type CopyChange =
  | { readonly kind: 'change'; readonly change: RequestChange }
  | { readonly kind: 'invalid'; readonly problem: ValidationProblem }
  /** The headers of the job are needed and no longer kept. */
  | { readonly kind: 'not_kept' }

export function copyChangeOf(
  { request: { url, headers }, lost = [] }: JobChain,
  change: JobChange,
  settings: TeamSettings,
): CopyChange {
  const { values, secrets: named, contentType } = change.headers
  const current = headers ?? {}
  const isLost = lost.includes('headers')
  const missing = missingHeader(values ?? {}, current)
  if (missing !== null && !isLost) {
    return { kind: 'invalid', problem: singleProblem(missing, keepsNothing(missing)) }
  }
  const addsToCurrent = values === undefined && (named !== undefined || contentType !== null)
  if (isLost && (missing !== null || addsToCurrent)) {
    return { kind: 'not_kept' }
  }
  const kept = values === undefined ? undefined : keptHeaders(values, current)
  const sent = changedHeaders(current, { values: kept, secrets: named, contentType })
  const target = change.request.url ?? url
  const redirected = redirectedHeaders(
    { url, headers: current },
    { url: target, headers: values },
    maskedHeadersOf(settings),
  )
  if (redirected.length > 0) return { kind: 'invalid', problem: redirectedProblem(redirected) }
  const problem = headerSecretsProblem({ url: target, headers: sent }, settings.headerSecrets)
  if (problem !== null) return { kind: 'invalid', problem }
  const isSame = values === undefined && named === undefined && contentType === null
  return { kind: 'change', change: isSame ? change.request : { ...change.request, headers: sent } }
}
