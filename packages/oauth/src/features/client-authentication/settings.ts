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
   * The longest time until an assertion expires, up to an hour; a minute more is let pass for clocks that differ. Default
   * 1 hour, which is how long those of Authlib live.
   */
  readonly assertionsExpireIn?: string | number
}

export type JwtMethod = 'private_key_jwt' | 'client_secret_jwt'

export interface JwtAuthenticationSettings {
  readonly methods: readonly JwtMethod[]
  readonly algorithmsOf: Readonly<Record<JwtMethod, readonly string[]>>
  /** In seconds. */
  readonly longestLife: number
}

const LONGEST_LIFE = 3600

export function resolveJwtAuthentication(
  options: JwtClientAuthenticationOptions,
): JwtAuthenticationSettings {
  const { algorithms = clientKeyAlgorithms, sharedSecrets = false } = options
  const unknown = algorithms.some((name) => !clientKeyAlgorithms.includes(name))
  if (unknown || algorithms.length === 0) {
    const names = clientKeyAlgorithms.join(', ')
    throw new TypeError(`jwtClientAuthentication: algorithms must be one or more of ${names}.`)
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
    longestLife,
  }
}
