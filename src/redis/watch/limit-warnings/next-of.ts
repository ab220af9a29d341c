/**
 * Answers the next members of a list: those behind the last one, and after the end of the list those from its
 * beginning, so that each is reached however many there are.
 */
export function nextOf<T extends number | string>(inOrder: readonly T[], last: T, max: number): T[] {
  const behind = inOrder.findIndex((one) => one > last)
  const begin = behind === -1 ? 0 : behind
  return [...inOrder.slice(begin), ...inOrder.slice(0, begin)].slice(0, max)
}
