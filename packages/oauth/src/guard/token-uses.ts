import { mapAwaitable } from '../awaitable.ts'
import type { LastUseRecorder } from '../caches/last-use-recorder.ts'
import type { TokenVerifier, VerifiedToken } from './verify.ts'

/** Milliseconds after which the use of a token is written again if the store has failed. */
export const TOKEN_USE_RETRY_MS = 60_000

export interface RecordingVerifier extends TokenVerifier {
  /** Waits until the uses of tokens that were recorded so far are stored. */
  finishWrites(): Promise<void>
}

export interface TokenUseOptions {
  /** Id of the client whose tokens are recorded. */
  readonly clientId: string
  readonly uses: LastUseRecorder
  /** Calls the function after the commit of the transaction that the caller runs in, if any. */
  readonly afterCommit: ((run: () => void) => void) | undefined
}

/**
 * Wraps a verifier so that it records when the tokens of one client are used. Callers do not wait
 * for the write, because guards must work even if the store does not.
 */
export function recordTokenUses(
  verifier: TokenVerifier,
  { clientId, uses, afterCommit = (run) => run() }: TokenUseOptions,
): RecordingVerifier {
  const pending = new Set<Promise<void>>()

  function record(tokenId: string): void {
    const writing = uses.note(tokenId)
    if (!writing) return
    pending.add(writing)
    void writing.then(() => pending.delete(writing))
  }

  function note(token: VerifiedToken): VerifiedToken {
    if (token.clientId === clientId) afterCommit(() => record(token.tokenId))
    return token
  }

  return {
    ...verifier,
    verifyHeader: (header) => mapAwaitable(verifier.verifyHeader(header), note),
    verify: async (text) => note(await verifier.verify(text)),
    async finishWrites() {
      await Promise.all(pending)
    },
  }
}
