import { asksForEnd, isBounded, singleFilters } from '../../../../domain/jobs/job-match.ts'
import type { JobFilter } from '../../../../domain/jobs/job-filter.ts'

/** The parts of a queue's list, in their order. */
const SECTIONS = ['open', 'dead', 'finished'] as const
export type Section = (typeof SECTIONS)[number]

const FINAL_SECTIONS: Readonly<Record<NonNullable<JobFilter['finalStatus']>, readonly Section[]>> = {
  retrying: ['open'],
  failed_with_retries: ['open', 'dead', 'finished'],
  dead_lettered: ['dead', 'finished'],
  success: ['finished'],
  failed_no_retries: ['finished'],
}

/** Lists the sections that may hold what the filter asks for. */
export function sectionsOf(filter: JobFilter): readonly Section[] {
  const of = singleFilters(filter).flatMap(sectionsOfOne)
  return SECTIONS.filter((section) => of.includes(section))
}

function sectionsOfOne(filter: JobFilter): readonly Section[] {
  const sections = sectionsOfStatus(filter)
  const { finalStatus } = filter
  return finalStatus === null
    ? sections
    : sections.filter((section) => FINAL_SECTIONS[finalStatus].includes(section))
}

function sectionsOfStatus(filter: JobFilter): readonly Section[] {
  switch (filter.status) {
    case 'pending':
    case 'processing':
      return asksForEnd(filter) ? [] : ['open']
    case 'completed':
      return ['finished']
    case 'dead_lettered':
      return ['dead']
    case 'failed':
    case null:
      return ['open', 'dead', 'finished']
  }
}

/** Tells whether records must be looked through, as only queue and status have an order of their own. */
export function isNarrow(filter: JobFilter): boolean {
  const { host, tag, cronId, text, created, scheduled, not } = filter
  return (
    asksForEnd(filter) ||
    not !== undefined ||
    isBounded(created) ||
    isBounded(scheduled) ||
    [host, tag, cronId, text].some((asked) => asked !== null)
  )
}
