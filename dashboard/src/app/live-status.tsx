import { useQueryClient } from '@tanstack/preact-query'
import { useEffect } from 'preact/hooks'
import { UnreachableError } from '../../../clients/typescript/src/client.ts'
import { useMe } from '../session/me.ts'
import { useRead } from '../api/reads.ts'
import {
  followEvents,
  type LiveFigures,
  type LiveState,
  setPaused,
  useLiveFigures,
  useLiveState,
} from '../api/live.ts'
import { formatCompact } from '../format/numbers.ts'
import { formatDuration } from '../format/times.ts'
import { Button } from '../ui/button.tsx'
import type { IconName } from '../ui/icon.tsx'
import './live-status.css'

/** What the team has to do right now, and the switch that keeps the page as it is. */
export function LiveStatus() {
  const { may, queues } = useMe()
  const client = useQueryClient()
  // What a token for some queues may see, it reads every few seconds.
  const mayFollow = may.read && queues === null
  useEffect(() => (mayFollow ? followEvents(client) : undefined), [client, mayFollow])
  const known = useLiveState()
  const state = known === 'opening' && !mayFollow ? 'polling' : known
  const figures = useLiveFigures()
  const { error } = useRead('countAlerts', {}, { isWanted: may.read })
  const isPaused = state === 'paused'
  const look = mayFollow || state !== 'polling' ? LOOKS[state] : LIMITED
  const { icon, word, explanation } = error instanceof UnreachableError && !isPaused ? SILENT : look
  return (
    <>
      {figures !== null && <Figures figures={figures} />}
      <span class="live" data-state={mayFollow ? state : undefined}>
        <Button
          icon={icon}
          label={`${explanation} Click to ${isPaused ? 'follow changes again' : 'keep it as it is'}.`}
          onClick={() => setPaused(!isPaused, client)}
        >
          <span class="top-word">{word}</span>
        </Button>
        <span class="visually-hidden" role="status">
          {word === LIVE.word ? '' : explanation}
        </span>
      </span>
    </>
  )
}

interface Look {
  readonly icon: IconName
  readonly word: string
  readonly explanation: string
}

const LIVE: Look = { icon: 'pause', word: 'Live', explanation: 'The page shows changes within seconds.' }

/** On narrow screens the icon stands alone, so each state has its own. */
const LOOKS: Readonly<Record<LiveState, Look>> = {
  opening: LIVE,
  live: LIVE,
  polling: {
    icon: 'retry',
    word: 'Every 5 s',
    explanation: 'Live updates are not available now, so the page polls every few seconds.',
  },
  away: {
    icon: 'warning',
    word: 'No store',
    explanation: 'The job store does not answer, and what you see is getting old.',
  },
  paused: { icon: 'play', word: 'Paused', explanation: 'The page stays as it is.' },
}

/** The server answers no request at all. */
const SILENT: Look = {
  icon: 'warning',
  word: 'No answer',
  explanation: 'Punctual does not answer, and what you see is getting old.',
}

/** A token that is limited to some queues gets no stream, so the page always polls. */
const LIMITED: Look = { ...LOOKS.polling, explanation: 'The page polls for changes every few seconds.' }

function Figures({ figures }: { readonly figures: LiveFigures }) {
  const { pending, in_flight: inFlight, oldest_startable_seconds: oldest, oldest_queue: queue } = figures
  return (
    <span class="live-figures number">
      <span>{formatCompact(pending)} pending</span>
      <span>{formatCompact(inFlight)} in flight</span>
      {oldest !== null && (
        <span
          title={`How long the oldest job that could start now has waited${queue === null ? '' : `, in queue “${queue.name}”`}. Jobs do not count whose queue is paused, held, throttled or at its limit.`}
        >
          oldest {oldest === 0 ? '< 1 s' : formatDuration(oldest * 1_000)}
        </span>
      )}
    </span>
  )
}
