/** A number or a UUID, as the API takes both. */
export function isJobId(text: string): boolean {
  return /^\d{1,16}$/.test(text) || /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text)
}
