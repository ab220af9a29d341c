import { useState } from 'preact/hooks'
import { useRead } from '../api/reads.ts'
import { matching } from '../format/match.ts'
import { formatCount } from '../format/numbers.ts'
import { visible } from '../format/visible.ts'
import { type Option, SelectField, TextField } from '../ui/forms/field.tsx'
import { useSettled } from '../ui/forms/settled.ts'

const OFFERED_MAX = 1_000
/** Of fewer, a list is read faster than searched. */
const SEARCHED_MIN = 12

/** One of the queues and crons of the team by its name, which is searched among many. Values are such as `queue/12`. */
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
  const [typed, setTyped] = useState('')
  const { named, isPart } = useNamed(typed)
  const found = typed.trim() === '' ? named : matching(typed, named, ({ label: name }) => name)
  const options = [...others, ...found]
  // It may be deleted, not be among those found, or be beyond those that are offered.
  if (!options.some((option) => option.value === value)) {
    options.push(named.find((option) => option.value === value) ?? unknownOption(value))
  }
  const isSearched = typed !== '' || isPart || named.length >= SEARCHED_MIN
  const choose = (text: string): void => {
    setTyped(text)
    const [best] = text.trim() === '' ? [] : matching(text, named, ({ label: name }) => name)
    // Otherwise the list would show one thing, and mean what was chosen before.
    if (best !== undefined) onChange(best.value)
  }
  return (
    <div class="form">
      <SelectField label={label} options={options} value={value} mistakes={mistakes} onChange={onChange} />
      {isSearched && (
        <TextField
          label="Find a queue or cron"
          type="search"
          placeholder="Part of its name"
          value={typed}
          hint={found.length === 0 ? 'None has this in its name.' : hintOf(found.length, isPart)}
          onChange={choose}
        />
      )}
    </div>
  )
}

function hintOf(count: number, isPart: boolean): string {
  return isPart
    ? `The first ${formatCount(count)} are in the list.`
    : `${formatCount(count)} are in the list.`
}

/** Queues and crons as options; queues are searched by the server, since there may be more than are offered. */
function useNamed(typed: string) {
  const text = useSettled(typed.trim())
  const sought = text === '' ? {} : { text }
  const queues = useRead('listQueues', { limit: OFFERED_MAX, ...sought }, { isLive: false })
  const crons = useRead('listCrons', { limit: OFFERED_MAX }, { isLive: false })
  const named: ReadonlyArray<Option<string>> = [
    ...(queues.data?.queues ?? []).map(({ queue_id: id, name }) => ({
      value: `queue/${id}`,
      label: `Queue ${visible(name)}`,
    })),
    ...(crons.data?.crons ?? []).map(({ id, name }) => ({
      value: `cron/${id}`,
      label: `Cron ${visible(name)}`,
    })),
  ]
  const isPart = [queues.data?.next_cursor, crons.data?.next_cursor].some(
    (cursor) => typeof cursor === 'string',
  )
  return { named, isPart }
}

function unknownOption(value: string): Option<string> {
  const [kind = '', id = ''] = value.split('/')
  return { value, label: id === '' ? `A ${kind} that is not there` : `${kind} with id ${id}` }
}
