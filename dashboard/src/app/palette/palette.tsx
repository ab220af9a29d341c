import { useLocation } from 'preact-iso'
import { useMay } from '../../session/me.ts'
import { matching } from '../../format/match.ts'
import { formatCount } from '../../format/numbers.ts'
import { type Choice, Picker } from '../../ui/overlays/picker.tsx'
import { at } from '../../routing/paths.ts'
import { isJobId } from './job-id.ts'
import type { Overlay } from './overlay.ts'
import { useScreenCommands, useViewCommands } from './page-commands.ts'
import { NAMED_MAX, useResourceCommands } from './resource-commands.ts'
import { useDeedCommands } from './deed-commands.ts'

/** Everything that can be done from anywhere, found by its name. Before something is typed, what is of use here. */
export function Palette({ open, onClose }: { open(overlay: Overlay): void; onClose(): void }) {
  const screens = useScreenCommands()
  const views = useViewCommands(open)
  const resources = useResourceCommands()
  const jobsFor = useJobCommands()
  const deeds = useDeedCommands()
  const always = [...resources.here, ...screens, ...deeds, ...views]
  const all = [...screens, ...deeds, ...resources.choices, ...views]
  const choicesFor = (typed: string): readonly Choice[] => {
    const text = typed.trim()
    if (text === '') return always
    const { first, last } = jobsFor(text)
    return [...first, ...found(text, all), ...last]
  }
  return (
    <Picker
      label="Find a screen, queue, cron, job or action"
      choicesFor={choicesFor}
      foot={resources.isPart && `Finds the first ${formatCount(NAMED_MAX)} queues and crons by name.`}
      onClose={onClose}
    />
  )
}

/** By their names first, then by other words for the same. */
function found(text: string, choices: readonly Choice[]): readonly Choice[] {
  const named = matching(text, choices, ({ label }) => label)
  const known = new Set(named)
  const others = choices.filter((choice) => choice.words !== undefined && !known.has(choice))
  return [...named, ...matching(text, others, ({ label, words = '' }) => `${label} ${words}`)]
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
      label: `Jobs with “${text}” in them`,
      icon: 'search',
      run: () => route(at('/jobs', { text })),
    }
    return { first: isJobId(text) ? [job] : [], last: maySearch ? [search] : [] }
  }
}
