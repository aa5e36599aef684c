import { sha256 } from '../crypto.ts'

/** By its kind as well, so a name given for one purpose opens nothing of another. */
export function ticketHash(kind: string, name: string): string {
  return sha256(`${kind}\n${name}`)
}
