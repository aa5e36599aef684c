import type { Maybe } from '../awaitable.ts'
import type { ServerContext } from '../context.ts'
import type { Form } from '../http/form.ts'
import type { AuthorizationCode, Client, Token } from '../storage/repositories.ts'

export type GrantType =
  | 'authorization_code'
  | 'refresh_token'
  | 'password'
  | 'client_credentials'
  | 'implicit'

/** RFC 6749 §5.1. */
export interface TokenResponse {
  readonly token_type: 'Bearer'
  readonly expires_in: number
  readonly access_token: string
  readonly refresh_token?: string
  readonly scope: string
}

export interface ExchangeRequest {
  readonly client: Client
  readonly params: Form
}

/** What a person has approved, or had approved before. */
export interface ApprovedRequest {
  readonly client: Client
  readonly userId: string
  readonly redirectUri: string | null
  readonly scopes: readonly string[]
  readonly codeChallenge: string | null
}

/** What an approval stores, and what it tells the client once that is stored. */
export interface AuthorizationResult {
  readonly code?: AuthorizationCode
  readonly token?: Token
  readonly params: Readonly<Record<string, string>>
}

export interface AuthorizationResponse {
  readonly type: 'code' | 'token'
  /** RFC 6749 §4.1.2 answers in the query, §4.2.2 in the fragment. */
  readonly mode: 'query' | 'fragment'
  prepare(request: ApprovedRequest, context: ServerContext): Maybe<AuthorizationResult>
}

/** A grant is switched on by being listed in the options, and does one thing or both. */
export interface Grant {
  readonly type: GrantType
  /** At the token endpoint. */
  exchange?(request: ExchangeRequest, context: ServerContext): Maybe<TokenResponse>
  /** At the authorization endpoint. */
  readonly response?: AuthorizationResponse
}
