import type { EgressPolicy } from '../../ports/http-caller.ts'
import type { Informer, ObjectKey } from '../../ports/kubernetes.ts'
import { NO_TEAM_SETTINGS, type TeamSettings as TeamPolicy } from '../../ports/settings.ts'
import { blockedUrlOf } from '../../resources/cron-spec.ts'
import { BY_NAMESPACE, keyOf, TEAM_SETTINGS_NAME, type HttpCron, type TeamSettings } from '../kinds.ts'
import { problemText } from '../reconcile/spec-check.ts'
import type { CronProblem } from './cron-check.ts'

export interface CronTargetsOptions {
  readonly crons: Pick<Informer<HttpCron>, 'byIndex'>
  readonly teams: Pick<Informer<TeamSettings>, 'get' | 'onChange'>
  readonly egress: EgressPolicy
  /** Called for each cron whose target may have been opened or closed. */
  readonly enqueue: (key: ObjectKey) => void
}

/**
 * Decides, as the API does for its requests, whether a cron may name its URLs. It asks no DNS, because each call is
 * decided again.
 */
export class CronTargets {
  readonly #options: CronTargetsOptions
  /** The egress policy caches by the identity of the settings it is asked with, so they are kept. */
  readonly #policies = new WeakMap<TeamSettings, TeamPolicy>()

  constructor(options: CronTargetsOptions) {
    this.#options = options
    options.teams.onChange((_key, before, after) => {
      const settings = after ?? before
      if (settings === undefined || allowText(before) === allowText(after)) return
      for (const cron of options.crons.byIndex(BY_NAMESPACE, settings.metadata.namespace)) {
        options.enqueue(keyOf(cron))
      }
    })
  }

  /** null = the cron may. */
  obstacle({ metadata, spec }: HttpCron): CronProblem | null {
    const { egress, teams } = this.#options
    const policy = this.#policyOf(teams.get(`${metadata.namespace}/${TEAM_SETTINGS_NAME}`))
    const urls = { url: spec.url, callbackUrl: spec.callbackUrl ?? null }
    const problem = blockedUrlOf(urls, (url) => egress.refusalOf(url, policy) !== null)
    return problem === null ? null : { reason: 'TargetBlocked', problem: problemText(problem) }
  }

  #policyOf(settings: TeamSettings | undefined): TeamPolicy {
    if (settings === undefined) return NO_TEAM_SETTINGS
    const known = this.#policies.get(settings)
    if (known !== undefined) return known
    const policy = { ...NO_TEAM_SETTINGS, egressAllow: settings.spec.egress.allow }
    this.#policies.set(settings, policy)
    return policy
  }
}

function allowText(settings: TeamSettings | undefined): string {
  return JSON.stringify(settings?.spec.egress.allow ?? [])
}
