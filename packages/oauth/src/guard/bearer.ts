import { InvalidToken, type TokenScheme } from '../errors.ts'

/** An access token as sent in an Authorization header. */
export interface PresentedToken {
  readonly scheme: TokenScheme
  readonly text: string
}

/**
 * Parses an Authorization header that must use the Bearer scheme.
 * @throws InvalidToken otherwise
 */
export function parseBearer(header: string): string {
  const { scheme, text } = parsePresentedToken(header)
  if (scheme === 'Bearer') return text
  throw new InvalidToken('The Authorization header must be: Bearer <token>')
}

/**
 * Parses an Authorization header: the scheme in any letter case, a space and one token (RFC 6750
 * §2.1, RFC 9449 §7.1).
 * @throws InvalidToken if the header has another form
 */
export function parsePresentedToken(header: string): PresentedToken {
  const [, scheme, text] = /^(bearer|dpop) ([\w.~+/=-]+)$/i.exec(header) ?? []
  if (scheme && text) return { scheme: scheme.length === 4 ? 'DPoP' : 'Bearer', text }
  throw new InvalidToken('The Authorization header must be: Bearer <token>')
}
