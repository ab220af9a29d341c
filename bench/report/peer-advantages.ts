import type { Figure, FigureName } from './figures.ts'
import { numberText } from './markdown.ts'

/** Why a peer may be better, where that has been looked into. */
const CAUSES: Partial<Record<FigureName, string>> = {
  lateness_p50_ms:
    'Each contender is at half of its own rate; those that do less send fewer calls meanwhile.',
  lateness_p99_ms:
    'Each contender is at half of its own rate; those that do less send fewer calls meanwhile.',
  accepted_jobs_per_second:
    "The API of asynq is ours in Go, without a token, validation or egress check; Punctual's does these in one Node process, whose CPU is the limit: a third of it goes into writes to sockets, more than a tenth into node:http and streams.",
  lateness_equal_p50_ms:
    "Celery's worker waits in memory for jobs that it has taken in advance; Punctual's executor learns in Redis that a job is due.",
  idle_bytes_per_queue:
    "Punctual keeps each team's queue names in order for its lists, about 110 bytes a queue; a peer's connection per queue and worker process is not counted.",
}
const UNKNOWN = 'The cause has not been looked into.'

/** A sentence for every figure in which a peer is better, with all the peers that are. */
export function peerAdvantages(figures: readonly Figure[]): string[] {
  return figures.flatMap((figure) => {
    const { name, unit, better, punctual, ratio_to_best_peer: ratio } = figure
    if (ratio === null || ratio >= 1) return []
    const peers = Object.entries(figure.peers)
      .map(([peer, { median }]) => ({ peer, median }))
      .filter(({ median }) => (better === 'higher' ? median > punctual.median : median < punctual.median))
      .toSorted((a, b) => (better === 'higher' ? b.median - a.median : a.median - b.median))
      .map(({ peer, median }) => `${peer} ${numberText(median)}`)
    const against = `${peers.join(', ')} against ${numberText(punctual.median)} ${unit} of Punctual`
    return [`\`${name}\`: ${against} (${ratio.toFixed(2)}× of the best). ${CAUSES[name] ?? UNKNOWN}`]
  })
}
