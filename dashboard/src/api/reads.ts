import {
  keepPreviousData,
  QueryClient,
  type UseQueryResult,
  useInfiniteQuery,
  useQuery,
} from '@tanstack/preact-query'
import { ApiError, type Answers, type Inputs } from '../../../clients/typescript/src/client.ts'
import { api } from '../session/client.ts'
import { isHinted } from './hints.ts'
import { liveState, useLiveState } from './live.ts'
import { useMayRead } from '../session/me.ts'

/** Operations that only read. */
export type ReadName = Extract<keyof Answers, `${'list' | 'read' | 'count'}${string}`>
/** Reading operations that answer a page. */
export type ListName = Extract<keyof Answers, `list${string}`>

/** How often the screen is read again without hints from the server. */
const POLL_MS = 5_000
/** How often it is read again with hints: one may be lost, and what depends on the time changes without one. */
const HINTED_POLL_MS = 60_000
const STALE_MS = 1_000
const RETRIES_MAX = 2

export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: STALE_MS,
        networkMode: 'always',
        refetchOnWindowFocus: () => liveState() !== 'paused',
        retry: (failures, fault) => failures < RETRIES_MAX && isPassing(fault),
      },
    },
  })
}

/** What the server refused stays refused; a lost answer, a 429 and a 503 may pass. */
function isPassing(fault: Error): boolean {
  return !(fault instanceof ApiError) || fault.status === 429 || fault.status >= 500
}

export interface ReadOptions {
  /** false = not yet. */
  readonly isWanted?: boolean
  /** Whether it is read again when something changes; a hint of the server, or POLL_MS without hints. */
  readonly isLive?: boolean
  /** For what changes by itself and of which no hint tells: while it is live, it is read again so often. */
  readonly everyMs?: number
}

export interface PageOptions extends ReadOptions {
  /** The cursor that the first page begins at; absent = the beginning of the list. */
  readonly from?: string | null
}

type InputOf<Name extends ReadName> = Omit<Inputs[Name], 'body'>

/** Reads by an operation; shared by all that read the same. What was read for another input is shown meanwhile. */
export function useRead<Name extends ReadName>(
  name: Name,
  input: InputOf<Name>,
  { isWanted = true, isLive = true, everyMs }: ReadOptions = {},
): UseQueryResult<Answers[Name]> {
  return useQuery({
    queryKey: [name, input],
    queryFn: ({ signal }) => call(name, input, signal),
    enabled: useMayRead(name) && isWanted,
    ...useWhileLive(isLive, everyMs),
    placeholderData: keepPreviousData,
  }) as UseQueryResult<Answers[Name]>
}

const QUEUES_OFFERED_MAX = 1_000
const CRONS_OFFERED_MAX = 1_000

/** The names that a field for a queue offers. */
export function useQueueNames(): readonly string[] {
  const { data } = useRead('listQueues', { limit: QUEUES_OFFERED_MAX }, { isLive: false })
  return (data?.queues ?? []).map(({ name }) => name)
}

/** The crons that a field offers, by name. */
export function useCrons(): ReadonlyArray<{ readonly id: number; readonly name: string }> {
  const { data } = useRead('listCrons', { limit: CRONS_OFFERED_MAX }, { isLive: false })
  return data?.crons ?? []
}

/** Pages of a list, each read when it is asked for. Only the pages that were asked for are kept up to date. */
export function usePages<Name extends ListName>(
  name: Name,
  input: Omit<InputOf<Name>, 'cursor'>,
  { isWanted = true, isLive = true, everyMs, from = null }: PageOptions = {},
) {
  return useInfiniteQuery({
    queryKey: [name, input, 'pages', from],
    queryFn: ({ pageParam, signal }) =>
      call(name, { ...input, ...(pageParam !== null && { cursor: pageParam }) } as InputOf<Name>, signal),
    initialPageParam: from,
    getNextPageParam: (page: Answers[Name]) => (page as { next_cursor: string | null }).next_cursor,
    enabled: useMayRead(name) && isWanted,
    ...useWhileLive(isLive, everyMs),
    // A long search is made again by a click alone.
    ...(!isLive && { refetchOnWindowFocus: false }),
    placeholderData: keepPreviousData,
  })
}

/** Hints reach what has this mark. Another state of the page is another interval, from then on. */
function useWhileLive(isLive: boolean, everyMs: number | undefined) {
  useLiveState()
  if (!isLive) return {}
  return { refetchInterval: (query: Asked) => pollMs(query, everyMs), meta: { isLive } }
}

interface Asked {
  readonly queryKey: readonly unknown[]
}

function pollMs({ queryKey: [name] }: Asked, everyMs: number | undefined): number | false {
  const state = liveState()
  if (document.hidden || state === 'paused') return false
  if (everyMs !== undefined) return everyMs
  return state === 'live' && isHinted(name) ? HINTED_POLL_MS : POLL_MS
}

function call<Name extends ReadName>(
  name: Name,
  input: InputOf<Name>,
  signal: AbortSignal,
): Promise<Answers[Name]> {
  const operation = api[name] as (
    given: InputOf<Name>,
    call: { signal: AbortSignal },
  ) => Promise<Answers[Name]>
  return operation(input, { signal })
}
