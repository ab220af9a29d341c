/** Between an instant and what `<input type="datetime-local">` shows of it. @param isUtc in UTC, not in the browser's zone */
export function toInput(iso: string, isUtc: boolean): string {
  const at = new Date(iso)
  if (Number.isNaN(at.getTime())) return ''
  const shifted = isUtc ? at : new Date(at.getTime() - at.getTimezoneOffset() * 60_000)
  return shifted.toISOString().slice(0, 16)
}

export function fromInput(value: string, isUtc: boolean): string {
  const at = new Date(isUtc ? `${value}Z` : value)
  return Number.isNaN(at.getTime()) ? '' : at.toISOString()
}
