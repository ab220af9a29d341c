import { DEFAULT_CRON_SETTINGS, type CronSettings } from '../../domain/crons/cron.ts'
import { cronProblemsOf, settingsOfCronSpec, specOfCronSettings } from '../../resources/cron-spec.ts'
import type { HttpCronSpec } from '../../resources/generated/kinds.ts'
import type { HttpCron } from '../kinds.ts'
import { createSpecCheck, orRefused, problemText } from '../reconcile/spec-check.ts'

export interface CronProblem {
  /** The reason of the condition `Scheduled`. */
  readonly reason: 'InvalidSpec' | 'ImpossibleSchedule' | 'UnknownTimeZone' | 'TargetBlocked'
  /** The problem as a sentence. */
  readonly problem: string
}

/** Answers the settings that a resource asks for, or what is wrong with it. */
export type CronCheck = (cron: HttpCron) => { readonly settings: CronSettings } | CronProblem

const REQUIRED = ['displayName', 'url', 'cronExpression']

/** Also finds what no rule of a CRD can: dates that never come, and time zones that do not exist. */
export function createCronCheck(): CronCheck {
  const fields = [...REQUIRED, 'signing', ...Object.keys(specOfCronSettings(DEFAULT_CRON_SETTINGS))]
  const check = createSpecCheck<HttpCronSpec>('httpcrons.punctual.dev.yaml', fields)
  const judge = orRefused((cron: HttpCron) => {
    const checked = check(cron)
    if ('problem' in checked) return checked
    const [problem] = cronProblemsOf(checked.spec)
    if (problem === undefined) return { settings: settingsOfCronSpec(cron.metadata.name, checked.spec) }
    const isZone = problem.path.at(-1) === 'timeZone'
    const reason = isZone ? ('UnknownTimeZone' as const) : ('ImpossibleSchedule' as const)
    return { reason, problem: problemText(problem) }
  })
  return (cron) => {
    const judged = judge(cron)
    return 'problem' in judged ? { reason: 'InvalidSpec', ...judged } : judged
  }
}
