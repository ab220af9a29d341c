import type { TestTime as WireTestTime } from '../../../clients/typescript/src/generated/wire.ts'
import { formatTimestamp } from '../../domain/timestamp.ts'

/** @param time of the test clock, as `TestTime` of the ports */
export function toWireTestTime(time: { readonly nowMs: number; readonly aheadMs: number }): WireTestTime {
  return { now: formatTimestamp(time.nowMs), ahead_seconds: time.aheadMs / 1000 }
}
