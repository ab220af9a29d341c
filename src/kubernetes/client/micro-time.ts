/**
 * Writes a `metav1.MicroTime`: RFC 3339 in UTC with exactly six decimals, on which the API server insists. Our clock
 * has three.
 */
export function microTime(wallMs: number): string {
  return new Date(wallMs).toISOString().replace('Z', '000Z')
}
