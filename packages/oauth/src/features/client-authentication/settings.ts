import { type ClientKeyAlgorithm, clientKeyAlgorithms } from '../../crypto.ts'
import { parseSeconds } from '../../lifetimes.ts'

/** Options of `jwtClientAuthentication()`. */
export interface JwtClientAuthenticationOptions {
  /**
   * Signature algorithms for `private_key_jwt`.
   * @default all supported algorithms
   */
  readonly algorithms?: readonly ClientKeyAlgorithm[]
  /**
   * Whether to offer `client_secret_jwt` too. The secrets of those clients are then stored
   * encrypted instead of hashed: anyone with the database and the server's secret can read them.
   * @default false
   */
  readonly sharedSecrets?: boolean
  /**
   * Whether this is the only way to authenticate. Client secrets in requests, and public clients,
   * are then rejected.
   * @default false
   */
  readonly required?: boolean
  /**
   * Accepted values of the `aud` claim. `issuer`: only the issuer of this server, as a string (FAPI
   * 2.0). `endpoints`: the issuer or the URL of an endpoint at which clients authenticate, or a
   * list of these.
   * @default 'endpoints'
   */
  readonly audience?: 'issuer' | 'endpoints'
  /**
   * Longest accepted lifetime of an assertion, at most one hour. One minute of clock skew is added.
   * The default is the lifetime that the library Authlib uses.
   * @default '1h'
   */
  readonly assertionsExpireIn?: string | number
}

export type JwtMethod = 'private_key_jwt' | 'client_secret_jwt'

export interface JwtAuthenticationSettings {
  readonly methods: readonly JwtMethod[]
  readonly algorithmsOf: Readonly<Record<JwtMethod, readonly string[]>>
  readonly exclusive: boolean
  readonly audience: 'issuer' | 'endpoints'
  /** Longest lifetime of an assertion, in seconds. */
  readonly maxLifetime: number
}

const MAX_LIFETIME = 3600

export function resolveJwtAuthentication(
  options: JwtClientAuthenticationOptions,
): JwtAuthenticationSettings {
  const {
    algorithms = clientKeyAlgorithms,
    sharedSecrets = false,
    audience = 'endpoints',
  } = options
  const unknown = algorithms.some((name) => !clientKeyAlgorithms.includes(name))
  if (unknown || algorithms.length === 0) {
    const names = clientKeyAlgorithms.join(', ')
    throw new TypeError(`jwtClientAuthentication: algorithms must be one or more of ${names}.`)
  }
  if (audience !== 'issuer' && audience !== 'endpoints') {
    throw new TypeError("jwtClientAuthentication: audience must be 'issuer' or 'endpoints'.")
  }
  const maxLifetime = parseSeconds(
    'jwtClientAuthentication: assertionsExpireIn',
    options.assertionsExpireIn ?? MAX_LIFETIME,
  )
  if (maxLifetime > MAX_LIFETIME) {
    throw new TypeError('jwtClientAuthentication: assertionsExpireIn may be an hour at most.')
  }
  return {
    methods: sharedSecrets ? ['private_key_jwt', 'client_secret_jwt'] : ['private_key_jwt'],
    algorithmsOf: { private_key_jwt: [...algorithms], client_secret_jwt: ['HS256'] },
    exclusive: options.required ?? false,
    audience,
    maxLifetime,
  }
}
