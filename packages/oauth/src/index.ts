export type { ResolvedAddress } from '@tollgate/http/outgoing'
export type { Awaitable } from './awaitable.ts'
export { type ClientJson, clientJson } from './clients/client.ts'
export type { ClientPage, ClientPageOptions } from './clients/client-pages.ts'
export type { Clients, NewClient } from './clients/manage.ts'
export { newRedirectProblem } from './clients/redirect-uris.ts'
export { type CreatedClient, type SecretInfo, secretInfo } from './clients/secret.ts'
export type { SecretRotation } from './clients/secret-rotation.ts'
export { isVerified } from './clients/self-registered.ts'
export { ownSettings } from './clients/settings/server-settings.ts'
export type { ClientUpdate, SettingsChange } from './clients/update.ts'
export { type Clock, type StoreClock, systemClock } from './clock.ts'
export { type ClientKeyAlgorithm, type SigningAlgorithm, signingAlgorithms } from './crypto.ts'
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
export type { Emitter, EventName, Events, Listener, OAuthEvents } from './events.ts'
export { jwtClientAuthentication } from './features/client-authentication/jwt-client-authentication.ts'
export type { JwtClientAuthenticationOptions } from './features/client-authentication/settings.ts'
export { type CorsOptions, cors } from './features/cors.ts'
export type {
  CrossOrigin,
  CrossOriginRequest,
  CrossOriginVerdict,
} from './features/cross-origin.ts'
export { type DeviceCodeOptions, deviceCode } from './features/device/device-code.ts'
export { dpop } from './features/dpop/dpop.ts'
export type { DpopOptions } from './features/dpop/settings.ts'
export { type Fapi2Options, fapi2 } from './features/fapi/fapi2.ts'
export type {
  AuthenticatedBy,
  ClientAuthentication,
  CrossOriginPolicy,
  CrossOriginTarget as CalledPlace,
  ExpandedRequest,
  Feature,
  IssuedToken,
  KeyProofs,
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
export type { FrontChannelType, LogoutOptions, OpenIdOptions } from './features/openid/settings.ts'
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
  ApprovedRequest,
  AuthorizationResponse,
  AuthorizationResult,
  ExchangeRequest,
  FeatureRoute,
  Grant,
  GrantContext,
  GrantType,
  IssueRequest,
  OpenTo,
  TokenResponse,
} from './grants/grant.ts'
export { implicit } from './grants/implicit.ts'
export { password } from './grants/password.ts'
export type { RefreshTokenOptions } from './grants/refresh-token.ts'
export { refreshToken } from './grants/refresh-token.ts'
export {
  type ExchangeQuestion,
  type TokenExchangeOptions,
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
  type GuessingTimes,
  type Verdict,
} from './limits/guessing.ts'
export { networkOf } from './limits/network.ts'
export {
  createResourceLimits,
  type RatePolicy,
  type ResourceLimits,
  type SharePolicy,
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
export { type AccessTokenType, type ResourceOptions, readByAll } from './resources/resources.ts'
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
  ClientDemand,
  ClientSettings,
  OwnSettings,
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
  type Client,
  type ClientSession,
  type Consent,
  endedMark,
  FEED_RETENTION,
  type FeedPage,
  type HeldTickets,
  type Interaction,
  type LimitCount,
  type NewRevocation,
  type PendingLogout,
  type PlaceRequest,
  type Revocation,
  type RevocationKind,
  type Rotation,
  type SessionSelector,
  type StoredKey,
  type TakenPlace,
  type Ticket,
  type Token,
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
export { endedByRotation, rotatedToken, type UnchangedFields } from './storage/rotated-token.ts'
export { parseUnused, UNUSED_CLIENT, type UnusedClient } from './storage/tickets.ts'
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
export { type TokenJson, tokenJson } from './tokens/token-json.ts'
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
