import { type ClientKeyAlgorithm, clientKeyAlgorithms } from '../../crypto.ts'

/** Options of `dpop()`. */
export interface DpopOptions {
  /**
   * Whether every client has to prove that it holds a key to get a token. If `false`, only clients
   * with the setting `dpop_bound_access_tokens` have to.
   * @default false
   */
  readonly required?: boolean
  /**
   * Whether proofs must contain a nonce of this server. Proofs then cannot be made in advance, and
   * clients with wrong clocks work. Costs each client one additional request every few minutes.
   * @default false
   */
  readonly nonces?: boolean
  /**
   * Signature algorithms for proofs.
   * @default all supported algorithms
   */
  readonly algorithms?: readonly ClientKeyAlgorithm[]
  /**
   * Whether key-bound refresh tokens rotate. If `false`, a refresh returns the same refresh token.
   * A stolen copy of it is useless, because using it requires the key of a public client, or the
   * credentials of a confidential client and any key (RFC 9449 §5).
   * @default true
   */
  readonly rotateRefreshTokens?: boolean
  /**
   * Base URLs at which clients reach your guarded APIs, if different from the host of the issuer or
   * of the `resource`. Include the part of the path that a proxy removes.
   * @default []
   */
  readonly apiUrls?: readonly string[]
  /**
   * How guards detect replayed proofs. `everywhere`: across all processes, which costs one row in
   * the store per request. `process`: per process, in memory. The server's own endpoints always
   * check across all processes.
   * @default 'everywhere'
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

/** Whether a request path can be appended to the URL. */
function isApiUrl(url: string): boolean {
  return /^https?:\/\/[^?#\s]+$/.test(url) && URL.canParse(url)
}
