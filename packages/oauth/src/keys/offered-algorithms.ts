import { type SigningAlgorithm, signingAlgorithms } from '../crypto.ts'

/**
 * The algorithms that clients may choose from: those that are listed, which have to hold the usual one; else the usual
 * one and RS256, which the standards want to be there for whoever asks.
 * @throws TypeError that names the option
 */
export function parseOfferedAlgorithms(
  option: string,
  listed: readonly SigningAlgorithm[] | undefined,
  usual: SigningAlgorithm,
): readonly SigningAlgorithm[] {
  if (listed === undefined) return [...new Set<SigningAlgorithm>([usual, 'RS256'])]
  const isKnown = listed.every((name) => signingAlgorithms.includes(name))
  if (isKnown && listed.includes(usual)) return [...listed]
  throw new TypeError(
    `${option} must be of ${signingAlgorithms.join(', ')}, and hold the usual one, '${usual}'.`,
  )
}
