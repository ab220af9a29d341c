import { randomBytes } from 'node:crypto'

/** 8 random hex digits: what tells resources apart whose own names need not be unique. */
export function newNameSuffix(): string {
  return randomBytes(4).toString('hex')
}
