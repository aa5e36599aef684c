export { type ClientJson, clientJson } from './clients/client.ts'
export type { Clients, CreatedClient, NewClient } from './clients/manage.ts'
export { newRedirectProblem } from './clients/redirect-uris.ts'
export { type Clock, systemClock } from './clock.ts'
export type { SigningAlgorithm } from './crypto.ts'
export {
  AccessDenied,
  ConsentRequired,
  CsrfMismatch,
  InsufficientScope,
  InvalidClient,
  InvalidGrant,
  InvalidRequest,
  InvalidScope,
  InvalidToken,
  LoginRequired,
  MethodNotAllowed,
  NotFound,
  OAuthError,
  type OAuthErrorCode,
  PayloadTooLarge,
  ServerError,
  TemporarilyUnavailable,
  Unauthenticated,
  UnauthorizedClient,
  UnsupportedGrantType,
  UnsupportedMediaType,
  UnsupportedResponseType,
  ValidationFailed,
} from './errors.ts'
export type { EventName, Events, Listener, OAuthEvents } from './events.ts'
export { authorizationCode } from './grants/authorization-code.ts'
export { clientCredentials } from './grants/client-credentials.ts'
export type { Grant, GrantType, TokenResponse } from './grants/grant.ts'
export { implicit } from './grants/implicit.ts'
export { password } from './grants/password.ts'
export { refreshToken } from './grants/refresh-token.ts'
export type { RefreshTokenOptions } from './grants/refresh-token-options.ts'
export type { FreshToken } from './guard/fresh-token.ts'
export type {
  AuthenticatedClient,
  AuthenticatedUser,
  Caller,
  Credentials,
  Guard,
  GuardName,
  GuardResults,
} from './guard/guard.ts'
export type { Lifetime } from './lifetimes.ts'
export type { Logger } from './logger.ts'
export type { Ended } from './maintenance/end-everything.ts'
export type { AuthorizationServerOptions } from './options.ts'
export type { ConsentView, ErrorView, Pages } from './pages/pages.ts'
export { defaultPages, escapeHtml } from './pages/pages.ts'
export type { ScopeDefinitions } from './scopes.ts'
export {
  type AuthorizationServer,
  createAuthorizationServer,
  type NewPersonalAccessToken,
} from './server.ts'
export { oauthMigrations } from './storage/kysely/migrations.ts'
export { kyselyStorage } from './storage/kysely/storage.ts'
export { memoryStorage } from './storage/memory.ts'
export type { Client, Consent, Storage, Token } from './storage/repositories.ts'
export type { PersonalAccessToken } from './tokens/personal-access.ts'
export { type TokenJson, tokenJson } from './tokens/token-json.ts'
export type { Session, SignedIn, UserRecord, Users } from './users/users.ts'
