/** `metav1.MicroTime`: RFC 3339 in UTC with exactly six decimals, of which our clock has three. The API server insists. */
export function microTime(wallMs: number): string {
  return new Date(wallMs).toISOString().replace('Z', '000Z')
}
