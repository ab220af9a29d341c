import type { BulkPreview } from '../../../../../clients/typescript/src/client.ts'
import { at } from '../../../routing/paths.ts'
import { formatCount, plural } from '../../../format/numbers.ts'

/** What a dry run has found, with a few of the jobs to look at. */
export function Found({
  preview,
  isPending,
}: {
  readonly preview: BulkPreview | undefined
  readonly isPending: boolean
}) {
  if (preview === undefined) {
    return (
      <p class="bulk-found soft">{isPending ? 'Counting the jobs …' : 'The jobs could not be counted.'}</p>
    )
  }
  const { matched, is_at_least: isAtLeast, sample } = preview
  return (
    <div class="bulk-found" role="status" data-pending={isPending}>
      <strong>{heading(matched, isAtLeast)}</strong>
      {isAtLeast && (
        <p class="soft">The count ended after 20,000 records. The action goes through all of them.</p>
      )}
      {sample.length > 0 && (
        <p class="soft">
          {sample.length === matched ? 'All of them: ' : 'Such as '}
          {sample.map((id, i) => (
            <span key={id}>
              {i > 0 && ', '}
              <a class="number" href={at(`/jobs/${id}`)} target="_blank" rel="noreferrer">
                {id}
              </a>
            </span>
          ))}
        </p>
      )}
    </div>
  )
}

function heading(matched: number, isAtLeast: boolean): string {
  if (isAtLeast) return matched === 0 ? 'None found so far' : `${formatCount(matched)} jobs match, at least`
  if (matched === 0) return 'No job matches: there is nothing to do'
  return `${plural(matched, 'job')} ${matched === 1 ? 'matches' : 'match'}`
}
