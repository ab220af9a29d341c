/**
 * `metav1.MicroTime`: RFC 3339 in UTC with exactly six digits after the point. The API server refuses any other number
 * of them; our clock has three, zeros follow.
 */
export function microTime(wallMs: number): string {
  return new Date(wallMs).toISOString().replace('Z', '000Z')
}
