/** A request with a token that is bound to a key (RFC 9449 §7.1). */
export interface KeyProof {
  /** The `DPoP` header. `null` if the request had none. */
  readonly proof: string | null
  /** The method of the request in upper case. */
  readonly method: string
  /** The path of the request as sent, without the query. */
  readonly path: string
  /**
   * Accepted origins of the URL in the proof. Always the server's own, never taken from the
   * request.
   */
  readonly origins: readonly string[]
  /** The access token of the request. */
  readonly accessToken: string
  /** Thumbprint of the key that the token is bound to. */
  readonly key: string
}

/** Checks the proofs with which callers show that they hold the key of their token. */
export interface GuardProofChecker {
  /** Signature algorithms accepted for proofs. */
  readonly algorithms: readonly string[]
  /** Origins of the guarded API. */
  readonly origins: readonly string[]
  check(proof: KeyProof): Promise<void>
}
