import { type ClientKeyAlgorithm, clientKeyAlgorithms } from '../../crypto.ts'

/** What `dpop()` is made with. */
export interface DpopOptions {
  /** Every client has to prove a key to get a token. Default: those with `dpop_bound_access_tokens`. */
  readonly required?: boolean
  /**
   * Proofs have to carry a nonce of this server, so nobody can make them ahead of time, and clients whose clocks
   * are wrong get in. Costs each client one more request every few minutes. Default false.
   */
  readonly nonces?: boolean
  /** What proofs may be signed with. Default: all of them. */
  readonly algorithms?: readonly ClientKeyAlgorithm[]
  /**
   * Whether refresh tokens rotate that come with a key. `false`: each stays the same for as long as it lives. Whoever copies
   * it needs the key of a public client, or what a confidential one proves itself by, and a key (RFC 9449 §5). Default true.
   */
  readonly rotateRefreshTokens?: boolean
  /**
   * Where clients reach the APIs that you guard, if that is not at the host of the issuer or of the `resource`;
   * with the part of the path that a proxy cuts off.
   */
  readonly apiUrls?: readonly string[]
  /**
   * How often guards take a proof: once `everywhere`, by a row in the store for each request, or once in each
   * `process`, by its memory. At the server's own endpoints it is always once everywhere. Default `everywhere`.
   */
  readonly guardReplays?: 'everywhere' | 'process'
}

export interface DpopSettings {
  readonly required: boolean
  readonly nonces: boolean
  readonly algorithms: readonly ClientKeyAlgorithm[]
  readonly rotateRefreshTokens: boolean
  readonly apiUrls: readonly string[]
  readonly guardReplays: 'everywhere' | 'process'
}

export function resolveDpopOptions(options: DpopOptions): DpopSettings {
  const { algorithms = clientKeyAlgorithms, apiUrls = [], guardReplays = 'everywhere' } = options
  const unknown = algorithms.find((name) => !clientKeyAlgorithms.includes(name))
  if (unknown !== undefined || algorithms.length === 0) {
    throw new TypeError(
      `dpop: algorithms must be one or more of ${clientKeyAlgorithms.join(', ')}.`,
    )
  }
  const wrong = apiUrls.find((url) => !isApiUrl(url))
  if (wrong !== undefined) {
    throw new TypeError(`dpop: apiUrls has '${wrong}'; write it like 'https://api.example.com/v1'.`)
  }
  if (guardReplays !== 'everywhere' && guardReplays !== 'process') {
    throw new TypeError("dpop: guardReplays must be 'everywhere' or 'process'.")
  }
  return {
    required: options.required ?? false,
    nonces: options.nonces ?? false,
    algorithms: [...algorithms],
    rotateRefreshTokens: options.rotateRefreshTokens ?? true,
    apiUrls: apiUrls.map((url) => url.replace(/\/$/, '')),
    guardReplays,
  }
}

/** The path of a request is put behind it. */
function isApiUrl(url: string): boolean {
  return /^https?:\/\/[^?#\s]+$/.test(url) && URL.canParse(url)
}
