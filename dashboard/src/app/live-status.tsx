import { useQueryClient } from '@tanstack/preact-query'
import { useEffect } from 'preact/hooks'
import { useMe } from '../api/me.ts'
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
import './live-status.css'

/** What the team has to do right now, and the switch that keeps the page as it is. */
export function LiveStatus() {
  const { may, queues } = useMe()
  const client = useQueryClient()
  // What a token for some queues may see, it reads every few seconds.
  const mayFollow = may.read && queues === null
  useEffect(() => (mayFollow ? followEvents(client) : undefined), [client, mayFollow])
  const state = useLiveState()
  const figures = useLiveFigures()
  const isPaused = state === 'paused'
  return (
    <>
      {figures !== null && <Figures figures={figures} />}
      <span class="live" data-state={state}>
        <Button
          icon={isPaused ? 'play' : 'pause'}
          label={EXPLANATIONS[state]}
          onClick={() => setPaused(!isPaused, client)}
        >
          <span class="top-word">{WORDS[state]}</span>
        </Button>
      </span>
    </>
  )
}

const WORDS: Readonly<Record<LiveState, string>> = {
  live: 'Live',
  polling: 'Live',
  away: 'No store',
  paused: 'Paused',
}

const EXPLANATIONS: Readonly<Record<LiveState, string>> = {
  live: 'The page shows changes within seconds. Click to keep it as it is.',
  polling: 'The page asks for changes every few seconds. Click to keep it as it is.',
  away: 'The job store does not answer, and what you see is getting old. Click to keep it as it is.',
  paused: 'The page stays as it is. Click to follow changes again.',
}

function Figures({ figures }: { readonly figures: LiveFigures }) {
  const { pending, in_flight: inFlight, oldest_ready_seconds: oldest } = figures
  return (
    <span class="live-figures number">
      <span>{formatCompact(pending)} pending</span>
      <span>{formatCompact(inFlight)} in flight</span>
      {oldest !== null && (
        <span title="So long has the oldest job waited that could start now. Jobs that wait for a slot of their queue do not count.">
          oldest ready {oldest === 0 ? '< 1 s' : formatDuration(oldest * 1_000)}
        </span>
      )}
    </span>
  )
}
