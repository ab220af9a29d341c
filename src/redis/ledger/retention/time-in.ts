/** 0 for a record that is missing or damaged. */
export function timeIn(record: string | null, read: (text: string) => number | undefined): number {
  try {
    return record === null ? 0 : (read(record) ?? 0)
  } catch {
    return 0
  }
}
