import type { ServerContext } from '../../context.ts'
import { equalSecrets, sha256 } from '../../crypto.ts'
import {
  InvalidDpopProof,
  InvalidToken,
  type ProofErrorOptions,
  UseDpopNonce,
} from '../../errors.ts'
import type { Nonces } from './nonces.ts'
import { type Proof, readProof } from './proof.ts'
import type { ProofKeys } from './proof-key.ts'
import type { Replays } from './replays.ts'
import type { DpopSettings } from './settings.ts'
import { namesAddress } from './target.ts'

/** Without nonces: clocks of clients are wrong, and a proof cannot come again anyway. In milliseconds. */
const OLDEST = 5 * 60_000
const FROM_THE_FUTURE = 60_000

/** The request that a proof has to be about. */
export interface Wanted {
  readonly method: string
  readonly path: string
  readonly origins: readonly string[]
  /** Null where no token goes with it. */
  readonly token: { readonly text: string; readonly key: string } | null
}

export interface ProofChecker {
  readonly settings: DpopSettings
  readonly keys: ProofKeys
  readonly nonces: Nonces
  readonly replays: Replays
}

/** RFC 9449 §4.3, all of it; the thumbprint of the key. At a guard the errors are challenges. */
export async function checkProof(
  text: string,
  wanted: Wanted,
  checker: ProofChecker,
  context: ServerContext,
): Promise<string> {
  const { settings, keys, replays } = checker
  const asChallenge: ProofErrorOptions = wanted.token ? { algorithms: settings.algorithms } : {}
  const refuse = (why: string) => new InvalidDpopProof(`The DPoP proof ${why}`, asChallenge)

  const proof = readProof(text, keys)
  if (!proof) throw refuse('is not one, or is not signed with what is taken here')
  if (proof.method !== wanted.method) throw refuse('is for another method')
  if (!namesAddress(proof.url, wanted.origins, wanted.path)) throw refuse('is for another address')
  if (wanted.token && !isAbout(proof, wanted.token.text)) throw refuse('is for another token')
  const until = settings.nonces
    ? requireNonce(proof, checker, context, asChallenge)
    : endByClock(proof, context)
  if (until === null) throw refuse('was not made just now')
  if (!proof.isGenuine()) throw refuse('is not signed by the key that it names')
  if (wanted.token && !equalSecrets(proof.thumbprint, wanted.token.key)) {
    throw new InvalidToken('The access token is bound to another key', { scheme: 'DPoP' })
  }
  const where = wanted.token ? settings.guardReplays : 'everywhere'
  const isFirst = await replays.claim({ ...usedOf(proof), until }, where, context)
  if (!isFirst) throw refuse('was used before')
  return proof.thumbprint
}

const usedOf = ({ jti, thumbprint }: Proof) => ({ jti, thumbprint })

function isAbout({ tokenHash }: Proof, accessToken: string): boolean {
  return tokenHash !== null && equalSecrets(tokenHash, sha256(accessToken))
}

/** RFC 9449 §8: the nonce alone says when it was made, whatever the clock of the client says. */
function requireNonce(
  { nonce }: Proof,
  { nonces }: ProofChecker,
  context: ServerContext,
  options: ProofErrorOptions,
): number {
  const end = nonce === null ? null : nonces.endOf(nonce, context)
  if (end !== null) return end
  const message = 'The DPoP proof needs the nonce that comes with this answer'
  throw new UseDpopNonce(message, nonces.current(context), options)
}

/** Null for a proof that was made too long ago, or is not made yet. */
function endByClock({ madeAt }: Proof, { clock }: ServerContext): number | null {
  const age = clock.now().getTime() - madeAt
  return age > OLDEST || age < -FROM_THE_FUTURE ? null : madeAt + OLDEST
}
