/** Setup of every subject: one confidential client, one scope, a user per connection. */
export const connections = 32

export const client = {
  id: 'bench-client',
  secret: 'bench-secret-0123456789abcdef0123456789abcdef',
}
export const redirectUri = 'https://app.example.com/callback'
export const scope = 'read'
export const openidScope = 'openid email read'
export const issuer = 'https://auth.example.com'
export const audience = 'https://api.example.com'

export const paths = {
  token: '/token',
  authorize: '/authorize',
  introspect: '/introspect',
  resource: '/resource',
  /**
   * Routes without a guard in the same application: one bare, and one with a middleware that does
   * nothing.
   */
  bare: '/bare',
  passing: '/passing',
  /** Route whose guard and handler are combined. */
  joined: '/joined',
}

export const users = Array.from({ length: connections }, (_, index) => `user-${index}`)

/** The PKCE pair of RFC 7636, appendix B. */
export const pkce = {
  verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
}
