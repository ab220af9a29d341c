/** Reads Secrets one by one; nothing is kept or watched. */
export interface SecretReader {
  /** The decoded values by key; null when there is no such Secret. Throws ResourceApiError. */
  read(namespace: string, name: string): Promise<Readonly<Record<string, Uint8Array>> | null>
}
