/**
 * The sources that decide about trust or money, with the tests that must notice a mistake in each,
 * fastest first.
 */
export const FILES = {
  'packages/oauth/src/clients/authenticate.ts': [
    'packages/oauth/src/clients/authenticate.test.ts',
    'packages/oauth/test/threats/token-endpoint.test.ts',
    'packages/oauth/test/registration/jwt-authentication.test.ts',
  ],
  'packages/oauth/src/clients/redirect-uris.ts': [
    'packages/oauth/src/clients/redirect-uris.test.ts',
  ],
  'packages/oauth/src/clients/secret.ts': [
    'packages/oauth/src/clients/secret.test.ts',
    'packages/oauth/test/threats/token-endpoint.test.ts',
    'packages/oauth/test/registration/jwt-authentication.test.ts',
    'packages/oauth/test/registration/client-secret-jwt.test.ts',
  ],
  'packages/oauth/src/features/jwt-bearer/assertion.ts': [
    'packages/oauth/test/jwt-bearer/threats.test.ts',
    'packages/oauth/test/jwt-bearer/jwt-bearer.test.ts',
  ],
  'packages/oauth/src/features/jwt-bearer/jwt-bearer.ts': [
    'packages/oauth/test/jwt-bearer/threats.test.ts',
    'packages/oauth/test/jwt-bearer/jwt-bearer.test.ts',
  ],
  'packages/oauth/src/features/jwt-bearer/share.ts': [
    'packages/oauth/test/jwt-bearer/threats.test.ts',
    'packages/oauth/test/jwt-bearer/jwt-bearer.test.ts',
  ],
  'packages/oauth/src/features/jwt-bearer/subject.ts': [
    'packages/oauth/test/jwt-bearer/threats.test.ts',
    'packages/oauth/test/jwt-bearer/jwt-bearer.test.ts',
  ],
  'packages/oauth/src/grants/pkce.ts': ['packages/oauth/src/grants/pkce.test.ts'],
  'packages/oauth/src/grants/refresh-decision.ts': [
    'packages/oauth/src/grants/refresh-decision.test.ts',
  ],
  'packages/oauth/src/guard/verify.ts': [
    'packages/oauth/src/guard/verify.test.ts',
    'packages/oauth/test/threats/guard.test.ts',
  ],
  'packages/oauth/src/tokens/revoke.ts': [
    'packages/oauth/test/threats/immediate-revocation.test.ts',
    'packages/oauth/test/specification/consent.test.ts',
    'packages/oauth/test/specification/events.test.ts',
    'packages/oauth/test/specification/cookie-mode.test.ts',
    'packages/oauth/test/logout/back-channel.test.ts',
    'packages/oauth/test/threats/account-ends.test.ts',
    'packages/oauth/test/threats/feed-history.test.ts',
  ],
  'packages/oauth/src/users/providers.ts': [
    'packages/oauth/src/users/providers.test.ts',
    'packages/oauth/test/threats/user-providers.test.ts',
  ],
  'packages/billing/src/features/subscribe/settle-first-payment.ts': [
    'packages/billing/src/features/subscribe/test/creating.test.ts',
    'packages/billing/src/features/subscribe/test/past-due.test.ts',
  ],
  'packages/billing/src/features/outgoing-webhooks/signature.ts': [
    'packages/billing/src/features/outgoing-webhooks/signature.test.ts',
  ],
  'packages/billing/src/features/webhooks/stripe-signature-time.ts': [
    'packages/billing/src/features/webhooks/stripe-signature-time.test.ts',
  ],
  'packages/billing/src/core/values/money.ts': [
    'packages/billing/src/core/values/money.test.ts',
    'packages/billing/src/features/payments/test/amounts.test.ts',
  ],
  'packages/billing/src/core/values/subscription-state.ts': [
    'packages/billing/src/core/values/subscription-state.test.ts',
  ],
}
