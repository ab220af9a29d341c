import { useRead } from '../api/reads.ts'
import { type Option, SelectField } from './field.tsx'

const OFFERED_MAX = 1_000

/** One of the queues and crons of the team by its name. Values are such as `queue/12`. */
export function SubjectField({
  label,
  value,
  others,
  mistakes = [],
  onChange,
}: {
  readonly label: string
  readonly value: string
  /** What else can be chosen. */
  readonly others: ReadonlyArray<Option<string>>
  readonly mistakes?: readonly string[]
  onChange(value: string): void
}) {
  const queues = useRead('listQueues', { limit: OFFERED_MAX }, { isLive: false })
  const crons = useRead('listCrons', { limit: OFFERED_MAX }, { isLive: false })
  const options = [
    ...others,
    ...(queues.data?.queues ?? []).map(({ queue_id: id, name }) => ({
      value: `queue/${id}`,
      label: `Queue ${name}`,
    })),
    ...(crons.data?.crons ?? []).map(({ id, name }) => ({ value: `cron/${id}`, label: `Cron ${name}` })),
  ]
  // It may be deleted, or be beyond those that are offered.
  if (!options.some((option) => option.value === value)) {
    const [kind = '', id = ''] = value.split('/')
    options.push({ value, label: id === '' ? `A ${kind} that is not there` : `${kind} with id ${id}` })
  }
  return <SelectField label={label} {...{ options, value, mistakes, onChange }} />
}
