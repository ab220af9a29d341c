/** The order of a list by time. */
export type TimeOrder = 'newest' | 'oldest'

/** Is positive when the first of two times or places comes later in the list of the newest, negative in the other. */
export function signOf(order: TimeOrder): 1 | -1 {
  return order === 'newest' ? 1 : -1
}
