import { useLocation } from 'preact-iso'
import { useState } from 'preact/hooks'
import { Icon } from '../ui/icon.tsx'
import { isJobId } from './palette/job-id.ts'
import { at } from '../routing/paths.ts'

/** Finds a job by its id, or leads to the list of jobs with this text. */
export function Search() {
  const { route } = useLocation()
  const [text, setText] = useState('')
  return (
    <form
      class="bar top-search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        const sought = text.trim()
        if (sought === '') return
        route(isJobId(sought) ? at(`/jobs/${sought}`) : at('/jobs', { text: sought }))
        setText('')
      }}
    >
      <Icon name="search" />
      <input
        id="search"
        type="search"
        aria-label="Search jobs by id or by a text in them"
        placeholder="Job id, or a text in jobs"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <kbd>/</kbd>
    </form>
  )
}
