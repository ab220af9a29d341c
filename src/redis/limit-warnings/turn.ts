/**
 * The next of a list: those behind the last one, and after the end of the list from its beginning, so that each has its
 * turn however many there are.
 */
export function turnOf<T extends number | string>(inOrder: readonly T[], last: T, max: number): T[] {
  const behind = inOrder.findIndex((one) => one > last)
  const begin = behind === -1 ? 0 : behind
  return [...inOrder.slice(begin), ...inOrder.slice(0, begin)].slice(0, max)
}
