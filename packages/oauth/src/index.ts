export type { ResolvedAddress } from '@tollgate/http/outgoing'
export type { Awaitable } from './awaitable.ts'
export { type ClientJson, toClientJson } from './clients/client.ts'
export type { ClientPage, ClientPageOptions } from './clients/client-pages.ts'
export type { Clients, NewClient } from './clients/manage.ts'
export { findNewRedirectProblem } from './clients/redirect-uris.ts'
export { type CreatedClient, describeClientSecret, type SecretInfo } from './clients/secret.ts'
export type { SecretRotation } from './clients/secret-rotation.ts'
export { isVerifiedClient } from './clients/self-registered.ts'
export { pickOwnSettings } from './clients/settings/server-settings.ts'
export type { ClientUpdate, SettingsChange } from './clients/update.ts'
export { type Clock, type StoreClock, systemClock } from './clock.ts'
export {
  type ClientKeyAlgorithm,
  clientKeyAlgorithms,
  type SigningAlgorithm,
  signingAlgorithms,
} from './crypto.ts'
export {
  AccessDenied,
  AuthorizationPending,
  Conflict,
  ConsentRequired,
  CsrfMismatch,
  ExpiredToken,
  InsufficientScope,
  InsufficientUserAuthentication,
  InvalidClient,
  InvalidClientMetadata,
  InvalidDpopProof,
  InvalidGrant,
  InvalidRedirectUri,
  InvalidRequest,
  InvalidRequestObject,
  InvalidRequestUri,
  InvalidScope,
  InvalidTarget,
  InvalidToken,
  isOAuthError,
  LoginRequired,
  type ManagementError,
  MethodNotAllowed,
  NotFound,
  OAuthError,
  type OAuthErrorCode,
  type OAuthErrorOf,
  type OAuthErrorOptions,
  PayloadTooLarge,
  type ProofError,
  type ProofErrorOptions,
  RegistrationNotSupported,
  RequestNotSupported,
  RequestUriNotSupported,
  ServerError,
  type SignInDemands,
  SlowDown,
  TemporarilyUnavailable,
  type TokenScheme,
  TooManyRequests,
  Unauthenticated,
  UnauthorizedClient,
  UnsupportedGrantType,
  UnsupportedMediaType,
  UnsupportedResponseType,
  UseDpopNonce,
  ValidationFailed,
} from './errors.ts'
export type { AuditEntry, Emitter, EventName, Events, Listener, OAuthEvents } from './events.ts'
export { jwtClientAuthentication } from './features/client-authentication/jwt-client-authentication.ts'
export type { JwtClientAuthenticationOptions } from './features/client-authentication/settings.ts'
export { type CorsOptions, cors } from './features/cors.ts'
export type {
  CrossOriginDecision,
  CrossOriginRequest,
  CrossOriginRules,
} from './features/cross-origin.ts'
export { type DeviceCodeOptions, deviceCode } from './features/device/device-code.ts'
export { dpop } from './features/dpop/dpop.ts'
export type { DpopOptions } from './features/dpop/settings.ts'
export { type Fapi2Options, fapi2 } from './features/fapi/fapi2.ts'
export type {
  ClientAuthentication,
  ClientAuthenticationResult,
  CrossOriginPolicy,
  CrossOriginTarget as CalledPlace,
  ExpandedRequest,
  Feature,
  IssuedToken,
  KeyProofSupport,
  ProvenKey,
  RequestedAuthorization,
  SelfRegisteredOptions,
  TokenIssuer,
} from './features/feature.ts'
export { jwtBearer } from './features/jwt-bearer/jwt-bearer.ts'
export type {
  AssertedIdentity,
  IdentityMapping,
  JwtBearerOptions,
  TrustedIssuer,
} from './features/jwt-bearer/settings.ts'
export { clientLogos } from './features/logos/client-logos.ts'
export { type McpOptions, type McpServerOptions, mcp } from './features/mcp/mcp.ts'
export { scopesOfToolCalls } from './features/mcp/tool-calls.ts'
export type { IdentityScope } from './features/openid/claims.ts'
export type { IdentityAssertionOptions } from './features/openid/identity-assertion-settings.ts'
export { openid } from './features/openid/openid.ts'
export type {
  FrontChannelResponseType,
  LogoutOptions,
  OpenIdOptions,
} from './features/openid/settings.ts'
export {
  type ClientMetadataDocumentsOptions,
  clientMetadataDocuments,
} from './features/registration/client-metadata-documents.ts'
export { clientRegistration } from './features/registration/client-registration.ts'
export type {
  ClientRegistrationOptions,
  RegistrationPolicy,
} from './features/registration/settings.ts'
export {
  type PushedRequestsOptions,
  pushedRequests,
} from './features/requests/pushed-requests.ts'
export {
  type RequestObjectsOptions,
  requestObjects,
} from './features/requests/request-objects.ts'
export { requirePkce } from './features/require-pkce.ts'
export {
  type SignedIntrospectionOptions,
  signedIntrospection,
} from './features/signed-introspection.ts'
export { type StepUpOptions, stepUp } from './features/step-up.ts'
export { authorizationCode } from './grants/authorization-code.ts'
export { clientCredentials } from './grants/client-credentials.ts'
export type {
  AllowedOrigins,
  ApprovedRequest,
  AuthorizationResponse,
  AuthorizationResult,
  FeatureRoute,
  Grant,
  GrantContext,
  GrantType,
  TokenEndpointRequest,
  TokenIssueRequest,
  TokenResponse,
} from './grants/grant.ts'
export { implicit } from './grants/implicit.ts'
export { password } from './grants/password.ts'
export type { RefreshTokenOptions } from './grants/refresh-token.ts'
export { refreshToken } from './grants/refresh-token.ts'
export {
  type TokenExchangeOptions,
  type TokenExchangePolicyInput,
  tokenExchange,
} from './grants/token-exchange.ts'
export type { FreshToken } from './guard/fresh-token.ts'
export type {
  AuthenticatedClient,
  AuthenticatedUser,
  Caller,
  Guard,
  GuardCredentials,
  GuardName,
  GuardResults,
} from './guard/guard.ts'
export type { KeyProof } from './guard/key-proof.ts'
export type {
  LimitedSubject,
  ScopeLimiter,
  ScopeLimits,
  ScopeStatus,
} from './guard/scope-limits.ts'
export type { CallerSignIn, StepUpDemand } from './guard/step-up.ts'
export type { VerifiedToken } from './guard/verify.ts'
export { type Form, requireParam } from './http/form.ts'
export type { KeyRotation } from './keys/signing-keys.ts'
export type { Lifetime } from './lifetimes.ts'
export {
  createGuessingLimits,
  type GuessingAttempt,
  type GuessingLimit,
  type GuessingLimits,
  type GuessingPolicy,
  type GuessingWaitLimits,
  type GuessVerdict,
} from './limits/guessing.ts'
export { getNetwork } from './limits/network.ts'
export {
  createResourceLimits,
  type RatePolicy,
  type ResourceLimits,
  type TicketQuota,
} from './limits/resources.ts'
export type { Logger } from './logger.ts'
export type { EndedCounts } from './maintenance/end-everything.ts'
export type { AuthorizationServerOptions } from './options.ts'
export type { OutgoingOptions } from './outgoing/outgoing.ts'
export { defaultPages, escapeHtml } from './pages/default-pages.ts'
export type { DefaultMessages } from './pages/messages/en.ts'
export type { PageMessages } from './pages/messages/messages.ts'
export type {
  ConsentView,
  DeviceAnswered,
  DeviceQuestion,
  DeviceView,
  ErrorView,
  Pages,
  PageView,
  RequestingApplication,
  ShownResource,
  ShownScope,
  SignedOutView,
  SignOutView,
  UserCodeForm,
} from './pages/pages.ts'
export {
  type AccessTokenType,
  accessTokenTypes,
  type ResourceOptions,
  readByAll,
} from './resources/resources.ts'
export type { ScopeDefinitions } from './scopes.ts'
export {
  type AuthorizationServer,
  createAuthorizationServer,
  type GuardTarget,
  type NewPersonalAccessToken,
  type SigningKeyInfo,
} from './server.ts'
export type {
  ClientAuthMethod,
  ClientRequirement,
  ClientSettings,
  ConfigurableClientSettings,
  PreviousSecret,
  SelfRegistration,
  ServerSetting,
} from './storage/client-settings.ts'
export type {
  Actor,
  AddedByApplication,
  ClaimsRequest,
  GrantDetails,
  ParentToken,
  RequestedClaim,
  SignInDetails,
} from './storage/details.ts'
export { oauthMigrations } from './storage/kysely/migrations.ts'
export { kyselyStorage } from './storage/kysely/storage.ts'
export { memoryStorage } from './storage/memory.ts'
export { mergeConsents } from './storage/merge-consents.ts'
export { buildLogout } from './storage/pending-logout.ts'
export {
  type Approval,
  type AuthorizationCode,
  buildEndedEntry,
  type Client,
  type ClientSession,
  type Consent,
  FEED_RETENTION_MS,
  type HolderTicketCount,
  type Interaction,
  type LimitCount,
  type LimitPlaceRequest,
  type LimitPlaceResult,
  type NewRevocation,
  type PendingLogout,
  type Revocation,
  type RevocationFeedPage,
  type RevocationKind,
  type SessionSelector,
  type StoredKey,
  type Ticket,
  type Token,
  type TokenRotation,
  type TokenSelector,
} from './storage/records.ts'
export type {
  ActiveCounts,
  AuthorizationCodeRepository,
  ClientChange,
  ClientPosition,
  ClientQuery,
  ClientRepository,
  ClientSlice,
  ConsentRepository,
  InteractionRepository,
  KeyRepository,
  LimitRepository,
  LogoutRepository,
  LogoutTimes,
  RevocationRepository,
  SessionRepository,
  Storage,
  TicketChange,
  TicketRepository,
  TokenQuery,
  TokenRepository,
  TokenWithClient,
} from './storage/repositories.ts'
export {
  createRotatedToken,
  type FieldsKeptByRotation,
  listRevocationsByRotation,
} from './storage/rotated-token.ts'
export { parseUnusedClient, UNUSED_CLIENT, type UnusedClient } from './storage/tickets.ts'
export type { AccessTokenClaims, Subject } from './tokens/formats/claims.ts'
export type {
  AccessTokenClaimsContext,
  AccessTokenClaimsOption,
  AddedClaims,
} from './tokens/formats/claims-hook.ts'
export type {
  AccessTokenFormat,
  AccessTokenFormatName,
  FormatContext,
} from './tokens/formats/format.ts'
export type { PersonalAccessToken } from './tokens/personal-access.ts'
export { type TokenJson, toTokenJson } from './tokens/token-json.ts'
export type { TokenPage, TokenPageOptions } from './tokens/token-pages.ts'
export type { UserAddress, UserClaims } from './users/claims.ts'
export type { Person, SignedInPerson } from './users/signed-in.ts'
export type {
  ApplicationUser,
  CurrentUser,
  SignedIn,
  SignedOut,
  Users,
} from './users/users.ts'
