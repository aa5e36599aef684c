import { InvalidToken } from '../errors.ts'

/** RFC 6750 §2.1: one token after a scheme in any letter case. */
export function parseBearer(header: string): string {
  const [, token] = /^bearer ([\w.~+/=-]+)$/i.exec(header) ?? []
  if (token) return token
  throw new InvalidToken('The Authorization header must be: Bearer <token>')
}
