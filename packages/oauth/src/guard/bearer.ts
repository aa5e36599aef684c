import { InvalidToken, type TokenScheme } from '../errors.ts'

/** A token as it stands in a header. */
export interface PresentedToken {
  readonly scheme: TokenScheme
  readonly text: string
}

/** Of tokens that cannot be bound to a key. */
export function parseBearer(header: string): string {
  const { scheme, text } = parsePresented(header)
  if (scheme === 'Bearer') return text
  throw new InvalidToken('The Authorization header must be: Bearer <token>')
}

/** RFC 6750 §2.1 and RFC 9449 §7.1: one token after a scheme in any letter case. */
export function parsePresented(header: string): PresentedToken {
  const [, scheme, text] = /^(bearer|dpop) ([\w.~+/=-]+)$/i.exec(header) ?? []
  if (scheme && text) return { scheme: scheme.length === 4 ? 'DPoP' : 'Bearer', text }
  throw new InvalidToken('The Authorization header must be: Bearer <token>')
}
