import { type ClientKeyAlgorithm, clientKeyAlgorithms } from '../../crypto.ts'
import { parseSeconds } from '../../lifetimes.ts'

/** What `jwtClientAuthentication()` is made with. */
export interface JwtClientAuthenticationOptions {
  /** What `private_key_jwt` may be signed with. Default: all of them. */
  readonly algorithms?: readonly ClientKeyAlgorithm[]
  /**
   * Offers `client_secret_jwt` as well. The secrets of those clients are then stored sealed, not only hashed: whoever
   * has the database and the server's secret can read them. Default false.
   */
  readonly sharedSecrets?: boolean
  /**
   * Clients may prove themselves in no other way: a secret that is sent is refused, and so are public clients. Default
   * false.
   */
  readonly required?: boolean
  /**
   * What `aud` of an assertion may say. `issuer`: the issuer, as a text, and nothing else (FAPI 2.0). `endpoints`: the
   * issuer or the addresses of this server where clients prove themselves, one or several. Default `endpoints`.
   */
  readonly audience?: 'issuer' | 'endpoints'
  /**
   * The longest time until an assertion expires, up to an hour; a minute more is let pass for clocks that differ. Default
   * 1 hour, which is how long those of Authlib live.
   */
  readonly assertionsExpireIn?: string | number
}

export type JwtMethod = 'private_key_jwt' | 'client_secret_jwt'

export interface JwtAuthenticationSettings {
  readonly methods: readonly JwtMethod[]
  readonly algorithmsOf: Readonly<Record<JwtMethod, readonly string[]>>
  readonly exclusive: boolean
  readonly audience: 'issuer' | 'endpoints'
  /** In seconds. */
  readonly longestLife: number
}

const LONGEST_LIFE = 3600

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
  const longestLife = parseSeconds(
    'jwtClientAuthentication: assertionsExpireIn',
    options.assertionsExpireIn ?? LONGEST_LIFE,
  )
  if (longestLife > LONGEST_LIFE) {
    throw new TypeError('jwtClientAuthentication: assertionsExpireIn may be an hour at most.')
  }
  return {
    methods: sharedSecrets ? ['private_key_jwt', 'client_secret_jwt'] : ['private_key_jwt'],
    algorithmsOf: { private_key_jwt: [...algorithms], client_secret_jwt: ['HS256'] },
    exclusive: options.required ?? false,
    audience,
    longestLife,
  }
}
