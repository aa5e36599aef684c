/** How somebody presents a token that is bound to a key (RFC 9449 §7.1). */
export interface KeyProof {
  /** The `DPoP` header; null when there was none. */
  readonly proof: string | null
  /** Of the request, in capital letters. */
  readonly method: string
  /** Of the request, as it was sent and without the query. */
  readonly path: string
  /** What may stand before the path: our own addresses, never what the caller says they are. */
  readonly origins: readonly string[]
  /** The token. */
  readonly accessToken: string
  /** The thumbprint of the key that it is bound to. */
  readonly key: string
}

/** What a guard does about tokens that are bound to a key; null where nobody can check a proof. */
export interface GuardProofs {
  /** What proofs may be signed with. */
  readonly algorithms: readonly string[]
  /** The addresses of the API that is guarded. */
  readonly origins: readonly string[]
  check(proof: KeyProof): Promise<void>
}
