import { DEFAULT_CRON_SETTINGS } from '../../domain/crons/cron.ts'
import type { CronSettings } from '../../domain/crons/cron.ts'
import { cronProblemsOf, settingsOfCronSpec, specOfCronSettings } from '../../resources/cron-spec.ts'
import { readerOfCrd } from '../../resources/schema/crd-schema.ts'
import { fieldName } from '../../resources/schema/field-path.ts'
import type { FieldProblem } from '../../resources/schema/field-path.ts'
import type { HttpCronSpec } from '../../resources/generated/kinds.ts'
import type { HttpCron } from '../kinds.ts'

export interface CronProblem {
  /** Of the condition `Scheduled`. */
  readonly reason: 'InvalidSpec' | 'ImpossibleSchedule' | 'UnknownTimeZone'
  /** A sentence. */
  readonly problem: string
}

/** The settings a resource asks for, or what is wrong with it. */
export type CronCheck = (cron: HttpCron) => { readonly settings: CronSettings } | CronProblem

const REQUIRED = ['displayName', 'url', 'cronExpression']

/**
 * Checks what the API server has let through: by rules of an older CRD, and because its rules cannot tell which dates
 * never come and which zones there are. Fields of a newer CRD are passed over.
 */
export function createCronCheck(): CronCheck {
  const read = readerOfCrd('httpcrons.punctual.dev.yaml')
  const known = [...REQUIRED, ...Object.keys(specOfCronSettings(DEFAULT_CRON_SETTINGS))]
  return ({ metadata, spec }) => {
    const given: Readonly<Record<string, unknown>> = { ...spec }
    const kept = Object.fromEntries(known.filter((name) => name in given).map((name) => [name, given[name]]))
    const end = read({ metadata: { name: metadata.name }, spec: kept })
    if (!('checked' in end)) return { reason: 'InvalidSpec', problem: textOf(end.problems[0]) }
    const checked = end.checked.spec as HttpCronSpec
    const [problem] = cronProblemsOf(checked)
    if (problem === undefined) return { settings: settingsOfCronSpec(metadata.name, checked) }
    const isZone = problem.path.at(-1) === 'timeZone'
    return { reason: isZone ? 'UnknownTimeZone' : 'ImpossibleSchedule', problem: textOf(problem) }
  }
}

function textOf(problem: FieldProblem | undefined): string {
  return problem === undefined ? 'spec is not valid.' : `${fieldName(problem.path)}: ${problem.reason}`
}
