import { useLocation } from 'preact-iso'
import { useMay } from '../../api/me.ts'
import { matching } from '../../format/match.ts'
import { formatCount } from '../../format/numbers.ts'
import { type Choice, Picker } from '../../ui/picker.tsx'
import { at } from '../paths.ts'
import { isJobId } from './job-id.ts'
import type { Overlay } from './overlay.ts'
import { useScreenCommands, useViewCommands } from './page-commands.ts'
import { NAMED_MAX, useResourceCommands } from './resource-commands.ts'

/** Everything that can be done from anywhere, found by its name. Before something is typed, what is of use here. */
export function Palette({ open, onClose }: { open(overlay: Overlay): void; onClose(): void }) {
  const screens = useScreenCommands()
  const views = useViewCommands(open)
  const resources = useResourceCommands()
  const jobsFor = useJobCommands()
  const always = [...resources.here, ...screens, ...views]
  const all = [...screens, ...resources.choices, ...views]
  const choicesFor = (typed: string): readonly Choice[] => {
    const text = typed.trim()
    if (text === '') return always
    const { first, last } = jobsFor(text)
    return [...first, ...matching(text, all, ({ label }) => label), ...last]
  }
  return (
    <Picker
      label="Find a screen, queue, cron, job or action"
      choicesFor={choicesFor}
      foot={resources.isPart && `Knows the first ${formatCount(NAMED_MAX)} queues and crons by name.`}
      onClose={onClose}
    />
  )
}

/** A job by its id, and jobs by a text in them. */
function useJobCommands(): (text: string) => Readonly<Record<'first' | 'last', readonly Choice[]>> {
  const { route } = useLocation()
  const maySearch = useMay('payloads')
  return (text) => {
    const job: Choice = {
      key: 'job',
      label: `Job ${text}`,
      icon: 'jobs',
      run: () => route(at(`/jobs/${text}`)),
    }
    const search: Choice = {
      key: 'search',
      label: `Jobs with “${text}” in URL or payload`,
      icon: 'search',
      run: () => route(at('/jobs', { text })),
    }
    return { first: isJobId(text) ? [job] : [], last: maySearch ? [search] : [] }
  }
}
