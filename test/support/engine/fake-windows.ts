import type { Hold, WindowSource } from '../../../src/ports/windows.ts'
import type { WindowResource } from '../../../src/domain/windows/maintenance-window.ts'

/** Holds that a test sets; times are Unix ms. */
export interface FakeWindows extends WindowSource {
  hold(team: string, resource: WindowResource | null, fromMs?: number, untilMs?: number): void
  /** Deletes all windows. */
  clear(): void
}

export function createFakeWindows(): FakeWindows {
  let all: Array<Hold & { readonly fromMs: number }> = []
  let last: readonly Hold[] = []
  return {
    mutes: () => null,
    holds: (atMs) => {
      const now = all.filter(({ fromMs, untilMs }) => fromMs <= atMs && atMs < untilMs)
      const isSame = now.length === last.length && now.every((hold, i) => hold === last[i])
      if (!isSame) last = now
      return last
    },
    hold: (team, resource, fromMs = 0, untilMs = Number.MAX_SAFE_INTEGER) => {
      all = [...all, { team, resource, fromMs, untilMs }]
    },
    clear: () => {
      all = []
    },
  }
}
